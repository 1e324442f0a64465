import { countCells } from '../count/count.js';
import type { Measure } from '../count/measure.js';
import type { Engine } from '../engine/engine.js';
import { parseRational } from '../exact/rational.js';
import { lawOf, type Noise, varianceOf } from '../mechanism/law.js';
import { gaussianSampler } from '../noise/discrete-gaussian.js';
import { laplaceSampler } from '../noise/discrete-laplace.js';
import { chooseExponential } from '../noise/exponential.js';
import type { Policy } from '../policy/policy.js';
import type { AnswerRow, AnswerTable, BoundBatch, NoisyMeasure } from '../query/bound.js';
import { type StoredNoise, storeNoise } from './plan.js';
import { tidy } from './tidy.js';

/** A batch's noisy integers as plain data: what the ledger keeps for replay. */
export interface NoisyAnswer {
  readonly measures: readonly NoisyVector[];
}
export interface NoisyVector {
  readonly noise: StoredNoise;
  /** Integers as text (additive), or the chosen candidate of each group. */
  readonly values?: readonly string[];
  readonly chosen?: readonly number[];
}

/** Draws the noise, then counts, then adds: in this order, so that the time the noise takes cannot depend on the data. */
export async function answerBatch(
  engine: Engine,
  policy: Policy,
  bound: BoundBatch,
  noise: readonly Noise[],
): Promise<NoisyAnswer> {
  const drawn = bound.measures.map((m, k) => (m.mechanism === 'additive' ? drawNoise(noise[k]!, m.cells.length) : []));
  const exact = (await countCells(engine, policy, bound.measures)).map((cells) => cells.open());
  return {
    measures: bound.measures.map((m, k): NoisyVector => {
      const stored = storeNoise(noise[k]!);
      if (m.mechanism === 'additive') return { noise: stored, values: exact[k]!.map((x, c) => `${x + drawn[k]![c]!}`) };
      return { noise: stored, chosen: choose(m, exact[k]!, noise[k]!) };
    }),
  };
}

/**
 * An answer as long as any can be: what is recorded is filled up to its length, so that neither the room it takes nor a failure for want of room tells
 * about the noise. Counts have fewer digits than this, sums are kept in 128 bits, and noise a thousand scales wide is drawn with probability e^-1000.
 */
export const widestAnswer = ({ measures }: BoundBatch, noise: readonly Noise[]): NoisyAnswer => ({
  measures: measures.map((m, k): NoisyVector => {
    const stored = storeNoise(noise[k]!);
    if (m.mechanism === 'exponential') return { noise: stored, chosen: m.cells.map(() => m.candidates.length - 1) };
    const exact = m.counting.value.kind === 'one' ? 16 : 39;
    const drawn = Math.ceil(Math.log10(1 + Math.sqrt(varianceOf(noise[k]!)))) + 3;
    return { noise: stored, values: m.cells.map(() => `-${'9'.repeat(Math.max(exact, drawn))}`) };
  }),
});

function drawNoise(noise: Noise, cells: number): bigint[] {
  if (noise.kind === 'none') return new Array<bigint>(cells).fill(0n);
  if (noise.kind === 'selection') throw new RangeError('selection noise is not additive');
  const draw = noise.kind === 'laplace' ? laplaceSampler(noise.scale) : gaussianSampler(noise.variance);
  return Array.from({ length: cells }, draw);
}

function choose(measure: Extract<Measure, { mechanism: 'exponential' }>, counts: readonly bigint[], noise: Noise): number[] {
  const width = measure.candidates.length;
  return measure.cells.map((_, group) => {
    const penalties = measure.penalties(counts.slice(group * width, (group + 1) * width));
    if (noise.kind === 'selection') return chooseExponential({ scores: penalties.map((p) => -p) }, noise.sharpness);
    return penalties.reduce((best, p, k) => (p < penalties[best]! ? k : best), 0);
  });
}

/**
 * Turns stored noisy integers into tables; public arithmetic only. Tidying pulls large cells of sparse tables down by more than their noise, so
 * error bars stay those of the numbers as they were noised, widened to hold the tidied one: no less than the stated coverage.
 */
export function finishBatch(bound: BoundBatch, answer: NoisyAnswer, tidied: boolean): readonly AnswerTable[] {
  const laws = answer.measures.map((m) => fromStoredNoise(m.noise));
  const raw = answer.measures.map((m) => (m.values ?? []).map(BigInt));
  const finish = (values: readonly (readonly bigint[])[]): readonly AnswerTable[] =>
    bound.finish(
      answer.measures.map((m, k) => {
        const law = lawOf(laws[k]!);
        return (m.chosen ? { noise: law, chosen: m.chosen } : { noise: law, values: values[k]! }) as NoisyMeasure;
      }),
    );
  const tables = finish(raw);
  if (!tidied) return tables;
  const numbers = raw.map((v) => v.map(Number));
  return finish(tidy(bound.measures, numbers, laws.map(varianceOf))).map((table, t) => ({
    ...table,
    rows: table.rows.map((row, r) => withErrorOf(row, tables[t]!.rows[r]!)),
  }));
}

function withErrorOf(row: AnswerRow, { standardError, low, high }: AnswerRow): AnswerRow {
  if (row.value === null || low === null || high === null) return { ...row, standardError, low, high };
  return { ...row, standardError, low: Math.min(low, row.value), high: Math.max(high, row.value) };
}

function fromStoredNoise(stored: StoredNoise): Noise {
  if (stored.kind === 'laplace') return { kind: 'laplace', scale: parseRational(stored.scale) };
  if (stored.kind === 'gaussian') return { kind: 'gaussian', variance: parseRational(stored.variance) };
  return stored.kind === 'selection' ? { kind: 'selection', sharpness: parseRational(stored.sharpness) } : { kind: 'none' };
}
