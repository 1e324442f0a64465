import * as z from 'zod';
import { Fault } from '../../errors.js';
import { divide, fromNumber, multiply, type Rational, rational, toNumber, toText } from '../../exact/rational.js';
import { roundUp } from '../../mechanism/law.js';
import { everyRecord, type Profile, pureProfile, zcdpProfile } from '../../mechanism/profile.js';
import { gaussianSampler } from '../../noise/discrete-gaussian.js';
import { laplaceSampler } from '../../noise/discrete-laplace.js';
import type { Plan, PlannedMeasure } from '../../release/plan.js';
import type { Receipt } from '../../release/receipt.js';
import type { Allowance, AskOptions, Session } from '../../release/session.js';
import { publicRecords, rowsPerRecord } from '../public-size.js';
import { readRequest } from '../request.js';
import { clusterCells, countTree, levelShares, reconcile, type Tree, treeSides } from './grid.js';
import { noisyLloyd } from './lloyd.js';
import { type Box, boxOf, fromCentred, readPoints } from './points.js';
import { iterationsFor, lloydSplit } from './split.js';

const request = z.strictObject({
  columns: z.array(z.string().min(1)).min(1).max(100),
  clusters: z.number().int().min(1).max(1000),
  iterations: z.number().int().min(1).max(50).optional(),
  variant: z.enum(['auto', 'grid', 'lloyd']).optional(),
});
export type KmeansRequest = z.infer<typeof request>;

export interface KmeansResult {
  readonly variant: 'grid' | 'lloyd';
  readonly columns: readonly string[];
  /** In the columns' own units. */
  readonly centres: readonly (readonly number[])[];
  /** Noisy sizes (Lloyd only). */
  readonly counts?: readonly number[];
}

export const parseKmeans = (input: unknown): KmeansRequest =>
  readRequest(request, input, '{"columns": ["x", "y"], "clusters": 8}');

/** Everything that is decided before the data is read: variant, noise, cost (kmeans.proof.md). */
interface Prepared {
  readonly ask: KmeansRequest;
  readonly box: Box;
  readonly plan: Plan;
  readonly allowance: Allowance;
  readonly run: Variant;
}
export interface Variant {
  readonly name: 'grid' | 'lloyd';
  readonly why: string;
  readonly mechanism: 'laplace' | 'gaussian';
  readonly profile: Profile;
  readonly measures: readonly PlannedMeasure[];
  readonly cluster: (points: import('./points.js').Points, last: readonly number[]) => { centres: number[][]; counts?: number[] };
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
    profile: run.profile,
    execute: async (engine) => {
      const points = (await readPoints(engine, session.policy, box)).open();
      const last = box.grids.map((g) => g.last);
      const { centres, counts } = run.cluster(points, last);
      return {
        variant: run.name,
        columns: box.names,
        centres: centres.map((centre) => centre.map((v, c) => fromCentred(box.grids[c]!, v * last[c]!))),
        ...(counts && { counts }),
      };
    },
  });
}

async function prepare(session: Session, input: unknown, options: AskOptions): Promise<Prepared> {
  const ask = parseKmeans(input);
  const box = boxOf(session.policy, ask.columns);
  // Counts and coordinate sums, given centres that are already published: every row adds its own part, but not every answer of it.
  const allowance = await session.allowance(options, everyRecord, { sums: session.policy.protect.secret !== 'answer' });
  const rows = await publicRecords(session);
  if (ask.clusters > rows)
    throw new Fault('QUERY_INVALID', 'There are fewer records than clusters.', 'Ask for fewer clusters.', {
      details: { clusters: ask.clusters },
    });
  const run = chooseVariant(ask, box, allowance, rows, rowsPerRecord(session.policy));
  const label = options.label ?? `k-means: ${ask.clusters} clusters of ${ask.columns.length} columns (${run.name})`;
  const plan = session.frame({
    label,
    share: allowance.share,
    spent: allowance.spent,
    route: allowance.route,
    profile: run.profile,
    reading: allowance.reading,
    mechanism: `${run.mechanism}, ${run.name}`,
    why: run.why,
    measures: run.measures,
    errors: [],
    candidates: [],
  });
  return { ask, box, plan, allowance, run };
}

/** Decided from the request, the policy and the public number of records; `cluster` is then the only thing that sees data. */
export function chooseVariant(ask: KmeansRequest, box: Box, allowance: Allowance, rows: number, each: number): Variant {
  const d = box.names.length;
  const wanted = ask.variant ?? 'auto';
  const useGrid = wanted === 'grid' || (wanted === 'auto' && d <= 3);
  if (wanted === 'grid' && d > 6)
    throw new Fault('QUERY_INVALID', 'A grid over more than six columns has too many cells.', 'Use the variant "lloyd".');
  const made = useGrid ? grid(ask, d, allowance, rows, each) : lloyd(ask, box, allowance, rows, each);
  if (!made)
    throw new Fault('BUDGET_EXCEEDED', 'Nothing is left of the budget for this.', '"fugu ledger POLICY" lists what was spent.');
  return made;
}

/** Noisy counts over halving cells: in every level, replacing a record moves `each` rows from one cell to another. */
function grid(ask: KmeansRequest, d: number, { pure, rho }: Allowance, rows: number, each: number): Variant | undefined {
  const laplace = (tree: Tree) =>
    pure && levelShares(tree.sides.length).map((s) => roundUp(divide(rational(2 * each), multiply(pure, s))));
  const gaussian = (tree: Tree) =>
    rho && levelShares(tree.sides.length).map((s) => roundUp(divide(rational(each * each), multiply(rho, s))));
  const reach = Math.max(pure ? toNumber(pure) : 0, rho ? Math.sqrt(2 * toNumber(rho)) : 0);
  const tree: Tree = { dimensions: d, sides: treeSides(rows, reach / each, d) };
  const scales = laplace(tree);
  const variances = gaussian(tree);
  const finest = (list: readonly Rational[]) => toNumber(list.at(-1)!);
  const useGaussian = variances !== undefined && (scales === undefined || finest(variances) < 2 * finest(scales) ** 2);
  if (!useGaussian && scales === undefined) return undefined;
  const noise = useGaussian ? variances : scales!;
  const spread = noise.map((x) => (useGaussian ? toNumber(x) : 2 * toNumber(x) ** 2));
  return {
    name: 'grid',
    why: `Noisy counts over grids of ${tree.sides.join(', ')} cells a side, reconciled and clustered as often as wanted for free: best in up to three dimensions.`,
    mechanism: useGaussian ? 'gaussian' : 'laplace',
    profile: useGaussian ? zcdpProfile([[everyRecord, rho!]]) : pureProfile([[everyRecord, pure!]]),
    measures: noise.map((x, l) => ({
      name: `rows per cell, level ${l + 1}`,
      cells: tree.sides[l]! ** d,
      noise: useGaussian ? { kind: 'gaussian', variance: toText(x) } : { kind: 'laplace', scale: toText(x) },
      error95: useGaussian ? 1.96 * Math.sqrt(toNumber(x)) : Math.log(20) * toNumber(x),
    })),
    cluster: (points, last) => {
      const noisy = countTree(points, last, tree).map((level, l) => {
        const draw = useGaussian ? gaussianSampler(noise[l]!) : laplaceSampler(noise[l]!);
        return level.map((n) => Number(BigInt(n) + draw()));
      });
      return { centres: clusterCells(reconcile(noisy, spread, tree, each === 1 ? rows : undefined), tree, ask.clusters) };
    },
  };
}

/** Lloyd with noisy counts and sums in every round; a replaced row moves two counts by `each` and every coordinate sum by 2 x last x each. */
function lloyd(ask: KmeansRequest, box: Box, { pure, rho }: Allowance, rows: number, each: number): Variant | undefined {
  const d = box.names.length;
  const last = box.grids.map((g) => g.last);
  const plans = [
    pure && lloydLaplace(ask, d, last, pure, rows, each),
    rho && lloydGaussian(ask, d, last, rho, rows, each),
  ].filter((p) => p !== undefined);
  const best = plans.sort((a, b) => a.error - b.error)[0];
  if (!best) return undefined;
  return {
    name: 'lloyd',
    why: `${best.iterations} rounds of Lloyd's algorithm, each with noisy counts and noisy sums of every cluster.`,
    mechanism: best.mechanism,
    profile: best.profile,
    measures: [
      { name: 'rows per cluster and round', cells: ask.clusters * best.iterations, noise: best.stored(best.count) },
      ...box.names.map((name, c) => ({
        name: `sum of ${name} per cluster and round`,
        cells: ask.clusters * best.iterations,
        noise: best.stored(best.sums[c]!),
      })),
    ],
    cluster: (points) =>
      noisyLloyd(points, last, ask.clusters, best.iterations, {
        count: best.draw(best.count),
        sum: best.sums.map(best.draw),
        least: 4 * best.spread(best.count),
      }),
  };
}

function lloydLaplace(ask: KmeansRequest, d: number, last: readonly number[], base: Rational, rows: number, each: number) {
  const iterations = ask.iterations ?? iterationsFor(ask.clusters, d, rows, toNumber(base));
  const split = lloydSplit(d, iterations);
  const count = roundUp(divide(rational(2 * each), multiply(base, split.count)));
  const sums = last.map((l) => roundUp(divide(rational(2 * l * each), multiply(base, split.dimension))));
  return {
    mechanism: 'laplace' as const,
    iterations,
    count,
    sums,
    draw: (scale: Rational) => laplaceSampler(scale),
    spread: toNumber,
    stored: (scale: Rational) => ({ kind: 'laplace' as const, scale: toText(scale) }),
    profile: pureProfile([[everyRecord, base]]),
    error: 2 * (toNumber(sums[0]!) / last[0]!) ** 2,
  };
}

/**
 * Gaussian: with coordinates in units of `last`, a replaced row moves the sums of one cluster by at most 2 in each dimension (4d squared) or those of two
 * clusters by at most 1 each (2d squared), and counts by 2 squared. Shares minimise d x var(sum) + 0.05 d x var(count).
 */
function lloydGaussian(ask: KmeansRequest, d: number, last: readonly number[], rho: Rational, rows: number, each: number) {
  const iterations = ask.iterations ?? Math.min(7, iterationsFor(ask.clusters, d, rows, Math.sqrt(2 * toNumber(rho)) * 2));
  const countShare = fromNumber(Math.floor((1e6 * Math.sqrt(0.05)) / (Math.sqrt(0.05) + Math.sqrt(2 * d))) / 1e6);
  const perRound = divide(rho, rational(iterations));
  const countRho = multiply(perRound, countShare);
  const sumRho = multiply(perRound, { num: countShare.den - countShare.num, den: countShare.den });
  const square = (x: number) => rational(BigInt(x) * BigInt(x));
  const count = roundUp(divide(multiply(rational(2), square(each)), multiply(rational(2), countRho)));
  const unit = divide(multiply(rational(4 * d), square(each)), multiply(rational(2), sumRho));
  const sums = last.map((l) => roundUp(multiply(unit, square(l))));
  return {
    mechanism: 'gaussian' as const,
    iterations,
    count,
    sums,
    draw: (variance: Rational) => gaussianSampler(variance),
    spread: (variance: Rational) => Math.sqrt(toNumber(variance)),
    stored: (variance: Rational) => ({ kind: 'gaussian' as const, variance: toText(variance) }),
    profile: zcdpProfile([[everyRecord, rho]]),
    error: toNumber(sums[0]!) / last[0]! ** 2,
  };
}
