import { describe, expect, it } from 'vitest';
import { rational } from '../../base/exact/rational.js';
import { Bits } from '../noise/bits.js';
import { algorithm21, drawAlgorithm21, drawBatch21 } from './algorithm21.js';
import { Payment } from './payment.js';

function seeded(seed: number): Bits {
  let a = seed >>> 0;
  return new Bits((buffer) => {
    const words = new Uint32Array(buffer.buffer, buffer.byteOffset, buffer.length / 4);
    for (let i = 0; i < words.length; i++) {
      a = (a + 0x6d2b79f5) | 0;
      let t = Math.imul(a ^ (a >>> 15), 1 | a);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      words[i] = (t ^ (t >>> 14)) >>> 0;
    }
  });
}
const draws = 40_000;

describe('Algorithm 2.1', () => {
  const terms = { epsilon: rational(1), spread: 3n, coin: rational(3, 10), most: 20n };
  /** Reference distribution: coin x uniform + (1 - coin) x discrete Laplace around the answer, clamped. */
  const distribution = (answer: number): number[] => {
    const q = Math.exp(-1 / 3);
    const p = Array.from({ length: 21 }, () => 0.3 / 21);
    for (let k = -400; k <= 400; k++) p[Math.min(20, Math.max(0, answer + k))]! += 0.7 * ((1 - q) / (1 + q)) * q ** Math.abs(k);
    return p;
  };

  it('the draws are integers from 0 to most with the mixture of both branches', () => {
    const bits = seeded(1);
    const counts = new Array<number>(21).fill(0);
    for (let i = 0; i < draws; i++) counts[Number(drawAlgorithm21(7n, terms, bits))]!++;
    const statistic = distribution(7).reduce((s, p, k) => s + (counts[k]! - p * draws) ** 2 / (p * draws), 0);
    // 20 degrees of freedom, alpha 1e-6.
    expect(statistic).toBeLessThan(68);
    expect(distribution(8).reduce((s, p, k) => s + (counts[k]! - p * draws) ** 2 / (p * draws), 0)).toBeGreaterThan(68);
  });

  it('every output has at least probability coin / (most + 1), from the uniform branch', () => {
    expect(Math.min(...distribution(0), ...distribution(20))).toBeGreaterThanOrEqual(0.3 / 21);
  });

  it('a batch has a single coin', () => {
    const bits = seeded(2);
    // With no room for Laplace noise to leave the answer, an answer off the truth means the uniform branch.
    const sharp = { epsilon: rational(1000), spread: 1n, coin: rational(1, 2), most: 1_000_000n };
    let split = 0;
    for (let i = 0; i < 2000; i++) {
      const [a, b] = drawBatch21(
        [
          { answer: 5n, terms: sharp },
          { answer: 9n, terms: sharp },
        ],
        bits,
      );
      if ((a === 5n) !== (b === 9n)) split++;
    }
    expect(split).toBeLessThan(3);
  });

  it('a coin that is not a probability is refused', () => {
    expect(() => drawAlgorithm21(1n, { ...terms, coin: rational(3, 2) })).toThrow(RangeError);
    expect(() => algorithm21('pairs', { ...terms, coin: rational(-1, 2) })).toThrow(RangeError);
  });

  it('an answer is drawn once for its payment', () => {
    const noise = algorithm21('pairs', { ...terms, coin: rational(1) });
    expect(noise).toMatchObject({ distribution: { kind: 'published' }, scale: rational(3), draws: 1 });
    expect(noise.cost.perRecord).toEqual(new Map([['once:adversarial privacy', rational(1)]]));
    const payment = new Payment([noise]);
    const answer = noise.answer(payment, 7n);
    expect(answer >= 0n && answer <= terms.most).toBe(true);
    expect(() => noise.answer(payment, 7n)).toThrow(RangeError);
  });
});
