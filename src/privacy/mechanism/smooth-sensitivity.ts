import { divide, multiply, type Rational, rational } from '../../base/exact/rational.js';
import type { Enclosure } from '../../base/exact/slow.js';
import { scaledExponential } from '../noise/decay.js';
import type { Rungs } from '../noise/ladder.js';
import { quarticSampler } from '../noise/quartic.js';
import type { BudgetShare } from './budget-share.js';
import type { SmoothDistribution } from './distribution.js';
import { type LocalMechanism, type LocalQuery, localMechanism } from './local-mechanism.js';
import { quarticSlide } from './mechanism-cost.js';

/** Half of epsilon for sliding, half for stretching. */
export const smoothDistribution = (epsilon: Rational): SmoothDistribution => ({
  kind: 'smooth',
  scale: divide(multiply(rational(2), quarticSlide), epsilon),
  beta: divide(epsilon, rational(6)),
});

/** Pure noise at the smooth sensitivity of the data (privacy/noise/quartic.proof.md). */
export const smoothMechanism = (what: LocalQuery, share: BudgetShare): LocalMechanism<SmoothDistribution> =>
  localMechanism(what, share, smoothDistribution(share.amount), (distribution, rungs) =>
    quarticSampler((digits) => smoothScale(distribution, rungs, digits))(),
  );

/** `scale` times S, S = max over t of e^(-beta t) width(t), enclosed to about `digits` binary digits. */
export function smoothScale({ scale, beta }: SmoothDistribution, rungs: Rungs, digits: number): Enclosure {
  const bits = BigInt(digits + 64);
  const unit = 1n << bits;
  const step = scaledExponential(beta, digits + 64);
  let [low, high] = [0n, 0n];
  let [powerLow, powerHigh] = [unit, unit];
  for (let t = 0; t === 0 || rungs.widest * powerHigh > low; t++) {
    const width = rungs.width(t) || 1n;
    if (width * powerLow > low) low = width * powerLow;
    if (width * powerHigh > high) high = width * powerHigh;
    powerLow = (powerLow * step.low) >> bits;
    powerHigh = ((powerHigh * step.high) >> bits) + 1n;
  }
  return { low: { num: low * scale.num, den: unit * scale.den }, high: { num: high * scale.num, den: unit * scale.den } };
}
