import { compare, divide, one, type Rational, rational, toText } from '../../base/exact/rational.js';
import { bernoulli } from '../noise/bernoulli.js';
import { type Bits, cryptoBits } from '../noise/bits.js';
import { laplaceSampler } from '../noise/discrete-laplace.js';
import { uniformBelow } from '../noise/uniform.js';
import type { PublishedDistribution } from './distribution.js';
import type { Mechanism } from './mechanism.js';
import type { Payment } from './payment.js';
import { oneTimeCost } from './privacy-cost.js';

/**
 * Algorithm 2.1 of Rastogi et al. 2009 with the corrections in algorithm21.proof.md. Not differentially private, so it is never
 * added to a privacy budget.
 */
export interface Algorithm21 {
  readonly epsilon: Rational;
  /** Noise parameter: lambda. */
  readonly spread: bigint;
  /** Probability of an answer that ignores the data. */
  readonly coin: Rational;
  /** Answers lie in 0 … most. */
  readonly most: bigint;
}

/** One-time cost: it has no epsilon to add to a budget and no known composition, so each population may have it once. */
export interface AdversarialNoise extends Mechanism {
  readonly distribution: PublishedDistribution;
  /** Of the branch that looks at the data. */
  readonly scale: Rational;
  answer(payment: Payment, exact: bigint): bigint;
}

export function algorithm21(name: string, terms: Algorithm21): AdversarialNoise {
  refuseCoin(terms);
  const mechanism: AdversarialNoise = {
    distribution: { kind: 'published' },
    cost: oneTimeCost('adversarial privacy'),
    draws: 1,
    summary: { name, cells: 1 },
    scale: scaleOf(terms),
    answer: (payment, exact) => {
      payment.take(mechanism, 1);
      return payment.release(mechanism, exact, (answer) => drawAlgorithm21(answer, terms));
    },
  };
  return mechanism;
}

const scaleOf = ({ spread, epsilon }: Algorithm21): Rational => divide(rational(spread), epsilon);
const refuseCoin = ({ coin }: Algorithm21): void => {
  if (coin.num < 0n || compare(coin, one) > 0) throw new RangeError(`no probability: ${toText(coin)}`);
};

/** Draws one answer; not even the caller learns which branch was taken. */
export function drawAlgorithm21(answer: bigint, terms: Algorithm21, bits: Bits = cryptoBits): bigint {
  return drawBatch21([{ answer, terms }], bits)[0]!;
}

/**
 * Several queries declared together: one coin for all of them (its probability is that of the first term's `coin`, which must count the goals of the whole
 * batch), each with its own part of epsilon. The printed rule, full epsilon for each, loses privacy linearly in the number of queries.
 */
export function drawBatch21(batch: readonly { answer: bigint; terms: Algorithm21 }[], bits: Bits = cryptoBits): bigint[] {
  const { terms: first } = batch[0]!;
  refuseCoin(first);
  // Both branches are drawn, so that timing does not reveal the one used.
  const uniform = batch.map(({ terms }) => uniformBelow(terms.most + 1n, bits));
  const noisy = batch.map(({ answer, terms }) => clamp(answer + laplaceSampler(scaleOf(terms), bits)(), terms.most));
  const ignore = first.coin.num > 0n && bernoulli(first.coin, bits);
  return ignore ? uniform : noisy;
}

const clamp = (x: bigint, most: bigint): bigint => {
  if (x < 0n) return 0n;
  return x > most ? most : x;
};
