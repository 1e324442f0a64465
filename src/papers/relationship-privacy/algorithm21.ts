import { compare, divide, one, type Rational, rational, toText } from '../../exact/rational.js';
import { bernoulli } from '../../noise/bernoulli.js';
import { type Bits, cryptoBits } from '../../noise/bits.js';
import { laplaceSampler } from '../../noise/discrete-laplace.js';
import { uniformBelow } from '../../noise/uniform.js';

/**
 * Algorithm 2.1 of paper 004 (Rastogi, Hay, Miklau, Suciu 2009), corrected: both branches live on the integers 0 … most, lambda carries its power, is used as a
 * scale and is rounded up, and plain noise takes over when global sensitivity is no larger. See algorithm21.proof.md. Kept apart from the DP ledger.
 */
export interface Algorithm21 {
  readonly epsilon: Rational;
  /** Noise parameter: lambda, or global sensitivity when that is no larger (then `coin` is zero). */
  readonly spread: bigint;
  /** Probability of an answer that ignores the data. */
  readonly coin: Rational;
  /** Answers lie in 0 … most. */
  readonly most: bigint;
}

/** Draws one answer. Which branch was taken is not told to anybody, not even to the caller. */
export function drawAlgorithm21(answer: bigint, terms: Algorithm21, bits: Bits = cryptoBits): bigint {
  return drawBatch21([{ answer, terms }], bits)[0]!;
}

/**
 * Several queries declared together: one coin for all of them (its probability is that of the first term's `coin`, which must count the goals of the whole
 * batch), each with its own part of epsilon. The printed rule, full epsilon for each, loses privacy linearly in the number of queries.
 */
export function drawBatch21(batch: readonly { answer: bigint; terms: Algorithm21 }[], bits: Bits = cryptoBits): bigint[] {
  const coin = batch[0]!.terms.coin;
  if (coin.num < 0n || compare(coin, one) > 0) throw new RangeError(`no probability: ${toText(coin)}`);
  // Both branches are drawn, so that the time taken does not tell which one is used.
  const uniform = batch.map(({ terms }) => uniformBelow(terms.most + 1n, bits));
  const noisy = batch.map(({ answer, terms }) =>
    clamp(answer + laplaceSampler(divide(rational(terms.spread), terms.epsilon), bits)(), terms.most),
  );
  const ignore = coin.num > 0n && bernoulli(coin, bits);
  return ignore ? uniform : noisy;
}

const clamp = (x: bigint, most: bigint): bigint => {
  if (x < 0n) return 0n;
  return x > most ? most : x;
};
