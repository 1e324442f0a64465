import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { within, withinMagnitude } from '../../base/input/limits.js';
import { type ModelPosterior, modelPosterior as onModel, posteriorTable } from '../../evaluate/attack/posterior.js';
import type { AdditiveDistribution } from '../../privacy/mechanism/distribution.js';
import { type FileName, fileNamed, parseInput, parseOptions, withFaults } from './input.js';
import { readModelFile } from './model-file.js';
import { defineRequest, field } from './request.js';

const numbers = z.array(z.number()).min(1);
const size = z.union([z.number(), z.nan()]);
const noise = {
  answer: field(z.union([z.number().transform((x) => [x]), numbers]), 'The released answer.'),
  scale: field(size.optional(), 'Scale of Laplace noise.'),
  sigma: field(size.optional(), 'Standard deviation of Gaussian noise.'),
};
const suspicion = defineRequest('Suspicion', {
  universe: field(numbers, 'All possible values of the unknown record.'),
  prior: field(numbers.optional(), 'Prior probabilities of these values; uniform when absent.'),
  known: field(z.array(z.number()).default([]), 'Values that the attacker knows.'),
  query: z.enum(['sum', 'mean', 'min', 'max']).default('sum'),
  ...noise,
});
export type Suspicion = z.input<typeof suspicion>;

/** One possible value with its prior and posterior. */
export interface BelievedValue {
  readonly value: number;
  readonly prior: number;
  /** Exact answer if this were the value, and the noise that the answer would then contain. */
  readonly expected: number;
  readonly noise: number;
  readonly density: number;
  readonly posterior: number;
}

/**
 * Posterior of an attacker about one unknown value after a noisy answer.
 *
 * @example
 * const rows = await posterior({ universe: [1, 2, 3, 5, 10], known: [1, 2, 3], query: 'mean', answer: 5.041, scale: 1.125 });
 * console.log(rows[0].posterior);
 */
export async function posterior(given: Suspicion): Promise<readonly BelievedValue[]> {
  return withFaults(() => {
    const { universe, prior, known, query, answer, ...noisy } = parseInput(suspicion, given, 'The suspicion');
    const of = queries[query];
    return posteriorTable({
      universe: sized(universe, 'values'),
      ...(prior && { prior: sized(prior, 'prior probabilities') }),
      answerIf: (value) => [of([...sized(known, 'known values'), Number(value)])],
      answer: sized(answer, 'answer'),
      noise: noiseOf(noisy),
    }).map((row) => ({ ...row, value: Number(row.value), expected: row.expected[0]!, noise: row.noise[0]! }));
  });
}

const queries: Readonly<Record<'sum' | 'mean' | 'min' | 'max', (values: readonly number[]) => number>> = {
  sum: (v) => v.reduce((s, x) => s + x, 0),
  mean: (v) => v.reduce((s, x) => s + x, 0) / v.length,
  min: (v) => Math.min(...v),
  max: (v) => Math.max(...v),
};

const modelSuspicion = defineRequest('ModelSuspicion', {
  about: field(z.string().optional(), 'Record in question; the first of the model when absent.'),
  known: field(z.record(z.string(), z.number()).default({}), 'Records whose values the attacker knows.'),
  query: field(z.string().default('sum'), 'As for `auditScale`.'),
  ...noise,
});
export type ModelSuspicion = z.input<typeof modelSuspicion>;

/**
 * Posterior of an attacker about a record of a model after a noisy answer, with and without the ties.
 *
 * @example
 * const { gain } = await posteriorOnModel('model.json', { answer: 2, scale: 1 });
 */
export async function posteriorOnModel(model: FileName, given: ModelSuspicion): Promise<ModelPosterior> {
  return withFaults(async () => {
    const read = await readModelFile(fileNamed(model, 'The model'));
    const { about = read.ids[0]!, known, query, answer, ...noisy } = parseOptions(modelSuspicion, given);
    for (const value of Object.values(known)) withinMagnitude(value, 'A known value');
    return onModel(read, { about, known, query, answer: sized(answer, 'answer'), noise: noiseOf(noisy) });
  });
}

function sized(list: readonly number[], what: string): readonly number[] {
  within('numbers', list.length);
  for (const x of list) withinMagnitude(x, `A number of the ${what}`);
  return list;
}

function noiseOf({ scale, sigma }: { readonly scale?: number; readonly sigma?: number }): AdditiveDistribution<number> {
  if ((scale === undefined) === (sigma === undefined))
    throw new Fault(
      'USAGE',
      'Say how much noise was added.',
      'Use --scale S (Laplace) or --sigma S (Gaussian); both are on the receipt.',
    );
  const size = (scale ?? sigma)!;
  if (Number.isFinite(size)) withinMagnitude(size, 'The noise');
  return scale !== undefined ? { kind: 'laplace', scale: size } : { kind: 'gaussian', variance: size ** 2 };
}
