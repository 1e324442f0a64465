import * as z from 'zod';
import { Fault } from '../../../base/errors.js';
import { everyRecord } from '../../../privacy/mechanism/record-class.js';
import { leavesOut } from '../../../query/count/kept-rows.js';
import { nothingLeft } from '../../../release/accountant/share.js';
import { type Allowance, toldOf } from '../../../release/session/allowance.js';
import type { Plan } from '../../../release/session/plan.js';
import type { Receipt } from '../../../release/session/receipt.js';
import type { AskOptions, Session } from '../../../release/session/session.js';
import { recordsHeld, rowsPerRecord } from '../public-size.js';
import { readRequest } from '../request.js';
import { halvingVariant } from './halving-variant.js';
import { lloydVariant } from './lloyd-variant.js';
import { nearIn } from './near.js';
import { type Box, boxOf, fromCentred, readPoints } from './points.js';
import { gridIsBetter } from './shape.js';
import { isFine, softVariant } from './soft-variant.js';
import { treeVariant } from './tree-variant.js';
import type { Near, Variant } from './variant.js';

export const request = z.strictObject({
  columns: z.array(z.string().min(1)).min(1).max(100),
  clusters: z.number().int().min(1).max(1000),
  iterations: z.number().int().min(1).max(50).optional(),
  variant: z.enum(['auto', 'grid', 'soft', 'halving', 'lloyd']).optional(),
});
export type KmeansRequest = z.infer<typeof request>;

export interface KmeansResult {
  readonly variant: Variant['name'];
  readonly columns: readonly string[];
  /** In the columns' own units. */
  readonly centres: readonly (readonly number[])[];
  /** Noisy sizes (of all variants but the grid). */
  readonly counts?: readonly number[];
}

const parseKmeans = (input: unknown): KmeansRequest => readRequest(request, input, '{"columns": ["x", "y"], "clusters": 8}');

/** Public decisions before the data is read: variant, noise, cost (kmeans.proof.md). */
interface Prepared {
  readonly ask: KmeansRequest;
  readonly box: Box;
  readonly plan: Plan;
  readonly allowance: Allowance;
  readonly run: Variant;
}

export async function planKmeans(session: Session, input: unknown, options: AskOptions = {}): Promise<Plan> {
  return (await prepare(session, input, options)).plan;
}

export async function releaseKmeans(
  session: Session,
  input: unknown,
  options: AskOptions = {},
): Promise<{ result: KmeansResult; receipt: Receipt }> {
  const { ask, box, plan, allowance, run } = await prepare(session, input, options);
  return session.analyse<KmeansResult>({
    kind: 'kmeans',
    allowance,
    canonical: JSON.stringify([ask.columns, ask.clusters, ask.iterations ?? null, ask.variant ?? 'auto']),
    plan,
    mechanisms: run.mechanisms,
    execute: async (engine, paid) => {
      const cluster = run.ready(paid);
      const { centres, counts } = cluster((await readPoints(engine, session.policy, box)).open());
      return {
        variant: run.name,
        columns: box.names,
        centres: centres.map((centre) => centre.map((v, c) => fromCentred(box.grids[c]!, v * box.grids[c]!.last))),
        ...(counts && { counts }),
      };
    },
  });
}

/** A coordinate of a row, and its copy when parts are joined. */
const bytesPerPoint = 8;

async function prepare(session: Session, input: unknown, options: AskOptions): Promise<Prepared> {
  const ask = parseKmeans(input);
  const box = boxOf(session.policy, ask.columns);
  // Counts and coordinate sums around published centroids: sums over rows, but not over single answers of a row.
  const allowance = await session.allowance(options, everyRecord, { sums: session.policy.protect.secret !== 'answer' });
  const { records: rows, counting } = await recordsHeld(session, ask.columns, bytesPerPoint * ask.columns.length);
  if (ask.clusters > rows)
    throw new Fault('QUERY_INVALID', 'There are fewer records than clusters.', 'Ask for fewer clusters.', {
      details: { clusters: ask.clusters },
    });
  const run = chooseVariant(
    ask,
    box,
    allowance,
    rows,
    rowsPerRecord(session.policy),
    nearIn(session.policy, box, allowance),
    leavesOut(session.policy),
  );
  const label = options.label ?? `k-means: ${ask.clusters} clusters of ${ask.columns.length} columns (${run.name})`;
  const plan = session.frame({
    label,
    ...toldOf(allowance),
    mechanisms: run.mechanisms,
    mechanism: `${run.mechanisms[0]!.law.kind}, ${run.name}`,
    why: run.why,
    counting,
    errors: [],
    candidates: [],
  });
  return { ask, box, plan, allowance, run };
}

/** Depends on the request, the policy and the public number of records. */
export function chooseVariant(
  ask: KmeansRequest,
  box: Box,
  { pure, rho, closes }: Pick<Allowance, 'pure' | 'rho' | 'closes'>,
  rows: number,
  each: number,
  near?: Near,
  leftOut = false,
): Variant {
  const d = box.names.length;
  const wanted = ask.variant ?? 'auto';
  if (wanted === 'grid' && d > 6)
    throw new Fault('QUERY_INVALID', 'A grid over more than six columns has too many cells.', 'Use the variant "halving".');
  // Many sums suit Gaussian noise: pure noise is not taken if it would rule out Gaussian noise for later questions.
  const within = [closes && rho ? undefined : pure, rho].filter((allotment) => allotment !== undefined);
  if (within.length === 0) throw nothingLeft();
  const setting = { box, clusters: ask.clusters, rows, each, leftOut, ...(near && { near }) };
  const soft = wanted === 'soft' || (wanted === 'auto' && isFine(setting, within)) ? softVariant(setting, within) : undefined;
  if (soft) return soft;
  if (wanted === 'soft')
    throw new Fault(
      'QUERY_INVALID',
      'A soft grid gains nothing under this policy.',
      'It takes pairs of near values (protect.pairs) of up to three columns among strangers; use the variant "auto".',
    );
  if (wanted === 'lloyd') return lloydVariant(setting, within, ask.iterations);
  if (wanted === 'grid' || (wanted === 'auto' && gridIsBetter(setting, within))) return treeVariant(setting, within);
  return halvingVariant(setting, within);
}
