import { integerRoot } from '../../noise/discrete-gaussian.js';
import type { RecordClass } from '../record-class.js';
import type { RecordSensitivity, Sensitivity } from '../sensitivity.js';

/**
 * Strategy for running totals over a horizon: noise is added to whole numbers that arrive step by step, and totals are computed
 * from the noisy numbers alone, so nothing secret is kept (running.proof.md).
 */
export interface ContinualStrategy {
  readonly name: 'each step' | 'tree' | 'convolution';
  /** In words, for plans. */
  readonly description: string;
  readonly horizon: number;
  /** Most by which a noised number can lie below the linear function of the steps it stands for; 0 if it is exact. */
  readonly slack: bigint;
  /** Number of noised numbers from step `from` to step `to`, counted from 1. */
  numbers(from: number, to: number): number;
  encoder(): Encoder;
  decoder(): Decoder;
  /** Variance of the published total at each step for noise of variance 1, from the first step on. */
  variances(): Iterable<number>;
  /** Over all steps of the horizon. */
  meanVariance(): number;
}
/** The numbers that are noised at the next step, given what is counted there. */
export type Encoder = (count: bigint) => readonly bigint[];
/** The running total at the next step, from the noisy numbers of that step. */
export type Decoder = (noisy: readonly bigint[]) => number;

/**
 * Sensitivity of the noised numbers, from that of the counts: computed from the first column of the encoder itself, which is the
 * largest (running.proof.md).
 */
export function encodedSensitivity(
  strategy: ContinualStrategy,
  counted: RecordSensitivity,
  moves: StepChangeOf,
): RecordSensitivity {
  const { l1, l2squared, numbers } = firstColumn(strategy);
  const through = (sensitivity: Sensitivity, record: RecordClass): Sensitivity => {
    const turns = (typeof moves === 'string' ? moves : moves(record)) === 'within a step' ? 1n : 2n;
    const linear = turns * l2squared * sensitivity.l2squared;
    const loose = strategy.slack * strategy.slack * numbers * sensitivity.l1;
    return {
      l1: sensitivity.l1 * (l1 + strategy.slack * numbers),
      l2squared: loose === 0n ? linear : (rootUp(linear) + rootUp(loose)) ** 2n,
    };
  };
  return new Map([...counted].map(([name, sensitivity]) => [name, through(sensitivity, name)]));
}
/** Step of a replaced record: unchanged, or possibly another one. */
export type StepChange = 'within a step' | 'between steps';
/** The same for all records, or by their class. */
export type StepChangeOf = StepChange | ((record: RecordClass) => StepChange);

function firstColumn(strategy: ContinualStrategy): { readonly l1: bigint; readonly l2squared: bigint; readonly numbers: bigint } {
  const encode = strategy.encoder();
  let [l1, l2squared, numbers] = [0n, 0n, 0n];
  for (let t = 1; t <= strategy.horizon; t++)
    for (const number of encode(t === 1 ? 1n : 0n)) {
      const most = (number < 0n ? -number : number) + strategy.slack;
      l1 += most;
      l2squared += most * most;
      numbers++;
    }
  return { l1, l2squared, numbers };
}

const rootUp = (n: bigint): bigint => {
  const root = integerRoot(n);
  return root * root === n ? root : root + 1n;
};
