import type { Cell } from '../../src/data/engine/engine.js';
import type { Policy } from '../../src/policy/policy.js';
import type { AdditiveDistribution, NoiseDistribution } from '../../src/privacy/mechanism/distribution.js';
import { everyRecord } from '../../src/privacy/mechanism/record-class.js';
import { bindBatch } from '../../src/query/bind.js';
import type { AnswerTable, BoundBatch, NoisyMeasure } from '../../src/query/bound.js';
import { columnsRead, type Measure, type SelectionMeasure } from '../../src/query/count/measure.js';
import { numbersToNoise } from '../../src/query/count/noisy-cells.js';
import { rowCounter } from '../../src/query/count/row-counter.js';
import { parseBatch } from '../../src/query/parse.js';

/** Numbers that are the same in every run. */
export function seeded(seed: number): () => number {
  let a = (seed * 2654435761) >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
export const normalFrom = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Rows column by column. */
export type Data = Readonly<Record<string, readonly Cell[]>>;
export interface Budget {
  readonly noise: 'laplace' | 'gaussian';
  /** Pure epsilon, or rho. */
  readonly amount: number;
}

export const budgets: readonly (readonly [string, Budget])[] = [
  ['Laplace, epsilon 1', { noise: 'laplace', amount: 1 }],
  ['Gaussian, rho 0.05', { noise: 'gaussian', amount: 0.05 }],
];

/** Negligible noise, so that only sampling is left. */
export const littleNoise: typeof budgets = [
  ['Laplace, epsilon 10', { noise: 'laplace', amount: 10 }],
  ['Gaussian, rho 5', { noise: 'gaussian', amount: 5 }],
];

/** A batch, bound. */
export interface BoundWithNoise {
  readonly bound: BoundBatch;
  readonly laws: readonly NoiseDistribution<number>[];
}
/** Noise under a budget that is divided evenly among the measures. */
export function boundWithNoise(policy: Policy, queries: unknown, { noise, amount }: Budget): BoundWithNoise {
  const bound = bindBatch(parseBatch(queries), policy);
  // Evenly, except for measures to which the product gives less.
  const part = (measure: Measure): number =>
    'worth' in measure && measure.worth !== undefined ? measure.worth ** (noise === 'laplace' ? 1 / 3 : 1 / 2) : 1;
  const all = bound.measures.filter(({ sensitivity }) => sensitivity.size > 0).reduce((sum, measure) => sum + part(measure), 0);
  const laws = bound.measures.map((measure): NoiseDistribution<number> => {
    const effect = measure.sensitivity.get(everyRecord);
    if (!effect) return { kind: 'none' };
    const each = (amount * part(measure)) / all;
    const [l1, l2squared] = [Number(effect.l1), Number(effect.l2squared)];
    if (measure.mechanism === 'exponential')
      return { kind: 'selection', sharpness: noise === 'laplace' ? each / (2 * l1) : Math.sqrt((2 * each) / l2squared) };
    return noise === 'laplace' ? { kind: 'laplace', scale: l1 / each } : { kind: 'gaussian', variance: l2squared / (2 * each) };
  });
  return { bound, laws };
}

/** The columns that are read for it. */
export const columnsOf = ({ bound }: Pick<BoundWithNoise, 'bound'>): readonly string[] => columnsRead(bound.measures);

export type Exact = readonly (readonly bigint[])[];

export function counted(policy: Policy, { bound }: Pick<BoundWithNoise, 'bound'>, data: Data): Exact {
  const names = columnsOf({ bound });
  const counter = rowCounter(bound.measures, names, declared(policy, { bound }));
  counter.add({ columns: names.map((name) => data[name]!), rows: data[names[0]!]!.length });
  return toNoise(bound, counter.totals());
}
/** Policy of the counted rows: that of the data, or of the one view over the tables. */
const declared = (policy: Policy, { bound }: Pick<BoundWithNoise, 'bound'>): Policy =>
  bound.measures[0]!.countedView?.policy ?? policy;
export const toNoise = ({ measures }: BoundBatch, totals: Exact): Exact =>
  totals.map((cells, k) => {
    const measure = measures[k]!;
    return measure.mechanism === 'ordered' ? numbersToNoise(measure, cells) : cells;
  });

/**
 * Function from the number of copies of each row to the exact counts. Counts and sums add up over rows,
 * so the product's own counter counts each row once.
 */
export function countedTimes(policy: Policy, { bound }: Pick<BoundWithNoise, 'bound'>, data: Data): (times: Int32Array) => Exact {
  const names = columnsOf({ bound });
  const rows = data[names[0]!]!.length;
  if (bound.measures.some(({ counting }) => counting.value.kind === 'distinct'))
    return (times) => {
      const drawn = Array.from({ length: rows }, (_, i) => i).filter((i) => times[i]! > 0);
      return counted(policy, { bound }, Object.fromEntries(names.map((name) => [name, drawn.map((i) => data[name]![i]!)])));
    };
  const counter = rowCounter(bound.measures, names, declared(policy, { bound }));
  let before: readonly (readonly number[])[] = [];
  const adds = bound.measures.map(() => ({ row: [] as number[], cell: [] as number[], value: [] as number[] }));
  let sizes: readonly number[] = [];
  for (let i = 0; i < rows; i++) {
    counter.add({ columns: names.map((name) => [data[name]![i]!]), rows: 1 });
    const now = counter.totals().map((cells) => cells.map(Number));
    sizes = now.map(({ length }) => length);
    now.forEach((cells, m) => {
      cells.forEach((x, cell) => {
        const value = x - (before[m]?.[cell] ?? 0);
        if (value === 0) return;
        adds[m]!.row.push(i);
        adds[m]!.cell.push(cell);
        adds[m]!.value.push(value);
      });
    });
    before = now;
  }
  const packed = adds.map(({ row, cell, value }) => ({
    row: Int32Array.from(row),
    cell: Int32Array.from(cell),
    value: Float64Array.from(value),
  }));
  return (times) =>
    toNoise(
      bound,
      packed.map(({ row, cell, value }, m) => {
        const sums = new Float64Array(sizes[m]!);
        for (let k = 0; k < row.length; k++) sums[cell[k]!]! += value[k]! * times[row[k]!]!;
        return Array.from(sums, BigInt);
      }),
    );
}

const geometric = (scale: number, random: () => number): number => Math.floor(-scale * Math.log(1 - random()));
/**
 * The distributions of the product's samplers: the difference of two geometric variables,
 * and rejection from it to a discrete Gaussian.
 */
function drawnFrom(law: AdditiveDistribution<number>, random: () => number): number {
  if (law.kind === 'none') return 0;
  if (law.kind === 'laplace') return geometric(law.scale, random) - geometric(law.scale, random);
  const scale = Math.floor(Math.sqrt(law.variance)) + 1;
  for (;;) {
    const x = geometric(scale, random) - geometric(scale, random);
    if (random() < Math.exp(-((Math.abs(x) - law.variance / scale) ** 2) / (2 * law.variance))) return x;
  }
}

/** The exponential mechanism: the minimum of penalties times sharpness minus Gumbel variables. */
function chosenFrom(measure: SelectionMeasure, counts: readonly bigint[], sharpness: number, random: () => number): number[] {
  const width = measure.candidates.length;
  return measure.cells.map((_, group) => {
    let [best, least] = [0, Number.POSITIVE_INFINITY];
    measure.penalties(counts.slice(group * width, (group + 1) * width)).forEach((penalty, k) => {
      const at = sharpness * Number(penalty) + Math.log(-Math.log(1 - random()));
      if (at < least) [best, least] = [k, at];
    });
    return best;
  });
}

/** Tables of one release: integers with integer noise. */
export const released = ({ bound, laws }: BoundWithNoise, exact: Exact, random: () => number): readonly AnswerTable[] =>
  bound.withSampling(
    bound.finish(
      exact.map((cells, k): NoisyMeasure => {
        const [noise, measure] = [laws[k]!, bound.measures[k]!];
        if (noise.kind === 'selection')
          return { noise, chosen: chosenFrom(measure as SelectionMeasure, cells, noise.sharpness, random) };
        const law = noise as AdditiveDistribution<number>;
        return { noise: law, values: cells.map((x) => x + BigInt(drawnFrom(law, random))) };
      }),
    ),
  );

/** Answers without noise. */
export const truthOf = ({ bound }: Pick<BoundWithNoise, 'bound'>, exact: Exact): readonly AnswerTable[] =>
  bound.finish(
    exact.map((values, k): NoisyMeasure => {
      const measure = bound.measures[k]!;
      return measure.mechanism === 'exponential'
        ? { noise: { kind: 'none' }, chosen: chosenFrom(measure, values, Number.MAX_VALUE, () => 0.5) }
        : { noise: { kind: 'none' }, values };
    }),
  );
