import { divide, type Rational, rational } from '../exact/rational.js';
import { type Enclosure, slowExp } from '../exact/slow.js';
import { type Bits, cryptoBits } from '../noise/bits.js';
import { laplaceSampler } from '../noise/discrete-laplace.js';
import { ladderSampler } from '../noise/ladder.js';
import { quarticSampler } from '../noise/quartic.js';
import { quarticBeta, quarticScale } from './candidates.js';
import type { Ladder } from './query/ladders.js';

/** Noise for one pattern answer: exact integers in, integers out. */

export const drawLaplace = (sensitivity: bigint, epsilon: Rational, bits: Bits = cryptoBits): bigint =>
  sensitivity === 0n ? 0n : laplaceSampler(divide(rational(sensitivity), epsilon), bits)();

export const drawLadder = (ladder: Ladder, epsilon: Rational, bits: Bits = cryptoBits): bigint =>
  ladderSampler(ladder, divide(epsilon, rational(2)), bits)();

export const drawSmooth = (ladder: Ladder, epsilon: Rational, bits: Bits = cryptoBits): bigint =>
  quarticSampler((digits) => smoothScale(ladder, epsilon, digits), bits)();

/** Scale of the quartic noise, S / alpha, S = max over t of e^(-beta t) width(t), enclosed to about `digits` binary digits. */
export function smoothScale(ladder: Ladder, epsilon: Rational, digits: number): Enclosure {
  const beta = quarticBeta(epsilon);
  const bits = BigInt(digits + 64);
  const unit = 1n << bits;
  const e = slowExp({ num: -beta.num, den: beta.den }, digits + 64);
  const stepLow = (e.low.num << bits) / e.low.den;
  const stepHigh = (e.high.num << bits) / e.high.den + 1n;
  let [low, high] = [0n, 0n];
  let [powerLow, powerHigh] = [unit, unit];
  for (let t = 0; t === 0 || ladder.widest * powerHigh > low; t++) {
    const width = ladder.width(t) || 1n;
    if (width * powerLow > low) low = width * powerLow;
    if (width * powerHigh > high) high = width * powerHigh;
    powerLow = (powerLow * stepLow) >> bits;
    powerHigh = ((powerHigh * stepHigh) >> bits) + 1n;
  }
  const { num, den } = quarticScale(epsilon);
  return { low: { num: low * num, den: unit * den }, high: { num: high * num, den: unit * den } };
}

export const clampAnswer = (x: bigint, least: bigint, most: bigint): bigint => {
  if (x < least) return least;
  return x > most ? most : x;
};
