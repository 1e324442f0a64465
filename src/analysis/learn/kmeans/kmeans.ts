import * as z from 'zod';
import { Fault } from '../../../base/errors.js';
import { everyRecord } from '../../../privacy/mechanism/record-class.js';
import { dropsWholePersons } from '../../../query/count/contribution-bound.js';
import { nothingLeft } from '../../../release/accountant/share.js';
import { type Allowance, planFieldsOf } from '../../../release/session/allowance.js';
import type { Plan } from '../../../release/session/plan.js';
import type { Receipt } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import { recordsInMemory, rowsPerRecord } from '../public-size.js';
import { readRequest } from '../request.js';
import { gridVariant } from './grid.js';
import { halvingVariant, prefersGrid } from './halve-and-refine.js';
import { lloydVariant } from './lloyd.js';
import { fromCentred, pointBox, readPoints } from './points.js';
import { maxBlur, pairDistancesIn, softVariant } from './soft-grid.js';
import type { KmeansSetting, KmeansVariant } from './variant.js';

export const kmeansSchema = z.strictObject({
  columns: z.array(z.string().min(1)).min(1).max(100),
  clusters: z.number().int().min(1).max(1000),
  iterations: z.number().int().min(1).max(50).optional(),
  variant: z.enum(['auto', 'grid', 'soft', 'halving', 'lloyd']).optional(),
});
export type KmeansRequest = z.infer<typeof kmeansSchema>;

export interface KmeansResult {
  readonly variant: KmeansVariant['name'];
  readonly columns: readonly string[];
  /** In the columns' own units. */
  readonly centres: readonly (readonly number[])[];
  /** Noisy sizes (of all variants but the grid). */
  readonly counts?: readonly number[];
}

export async function planKmeans(session: PrivacySession, input: unknown, options: ReleaseOptions = {}): Promise<Plan> {
  return (await prepareKmeans(session, input, options)).plan;
}

export async function releaseKmeans(
  session: PrivacySession,
  input: unknown,
  options: ReleaseOptions = {},
): Promise<{ result: KmeansResult; receipt: Receipt }> {
  const { ask, box, plan, allowance, run } = await prepareKmeans(session, input, options);
  return session.analyse<KmeansResult>({
    kind: 'kmeans',
    allowance,
    canonical: JSON.stringify([ask.columns, ask.clusters, ask.iterations ?? null, ask.variant ?? 'auto']),
    plan,
    mechanisms: run.mechanisms,
    execute: async (engine, payment) => {
      const cluster = run.prepare(payment);
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

/** Public decisions before the data is read: variant, noise, cost (kmeans.proof.md). */
async function prepareKmeans(session: PrivacySession, input: unknown, options: ReleaseOptions) {
  const ask = readRequest(kmeansSchema, input, '{"columns": ["x", "y"], "clusters": 8}');
  const box = pointBox(session.policy, ask.columns);
  // Counts and coordinate sums around published centroids: sums over rows, but not over single answers of a row.
  const allowance = await session.allowance(options, everyRecord, { sums: session.policy.protect.secret !== 'answer' });
  const { records, counting } = await recordsInMemory(session, ask.columns, bytesPerPoint * ask.columns.length);
  if (ask.clusters > records)
    throw new Fault('QUERY_INVALID', 'There are fewer records than clusters.', 'Ask for fewer clusters.', {
      details: { clusters: ask.clusters },
    });
  const setting: KmeansSetting = {
    box,
    clusters: ask.clusters,
    records,
    rowsPerRecord: rowsPerRecord(session.policy),
    leftOut: dropsWholePersons(session.policy),
    pairs: pairDistancesIn(session.policy, box, allowance),
  };
  const run = chooseVariant(ask, setting, allowance);
  const label = options.label ?? `k-means: ${ask.clusters} clusters of ${ask.columns.length} columns (${run.name})`;
  const plan = session.completePlan({
    label,
    ...planFieldsOf(allowance),
    mechanisms: run.mechanisms,
    mechanism: `${run.mechanisms[0]!.distribution.kind}, ${run.name}`,
    why: run.why,
    counting,
    errors: [],
    candidates: [],
  });
  return { ask, box, plan, allowance, run };
}

/** Depends on the request, the policy and the public number of records. */
export function chooseVariant(
  { variant: wanted = 'auto', iterations }: Pick<KmeansRequest, 'variant' | 'iterations'>,
  setting: KmeansSetting,
  { pure, rho, closes }: Pick<Allowance, 'pure' | 'rho' | 'closes'>,
): KmeansVariant {
  if (wanted === 'grid' && setting.box.names.length > 6)
    throw new Fault('QUERY_INVALID', 'A grid over more than six columns has too many cells.', 'Use the variant "halving".');
  // Many sums suit Gaussian noise: pure noise is not taken if it would rule out Gaussian noise for later questions.
  const within = [closes && rho ? undefined : pure, rho].filter((budgetShare) => budgetShare !== undefined);
  if (within.length === 0) throw nothingLeft();
  if (wanted === 'soft' || wanted === 'auto') {
    const soft = softVariant(setting, within, wanted === 'soft' ? Number.POSITIVE_INFINITY : maxBlur);
    if (soft) return soft;
  }
  if (wanted === 'soft')
    throw new Fault(
      'QUERY_INVALID',
      'A soft grid gains nothing under this policy.',
      'It takes pairs of near values (protect.pairs) of up to three columns among strangers; use the variant "auto".',
    );
  if (wanted === 'lloyd') return lloydVariant(setting, within, iterations);
  if (wanted === 'grid' || (wanted === 'auto' && prefersGrid(setting, within))) return gridVariant(setting, within);
  return halvingVariant(setting, within);
}
