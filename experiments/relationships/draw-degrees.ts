import {
  type DegreeForm,
  type DegreeSensitivity,
  degreeNoise,
  noisyDegrees,
} from '../../src/analysis/pattern/degrees/distribution.js';
import type { Rational } from '../../src/base/exact/rational.js';
import { pure } from '../../src/privacy/mechanism/budget-share.js';
import { Payment } from '../../src/privacy/mechanism/payment.js';
import { everyRecord } from '../../src/privacy/mechanism/record-class.js';

/** One release of a degree distribution, outside any account. */
export function drawDegrees(counts: readonly number[], form: DegreeForm, effect: DegreeSensitivity, epsilon: Rational): number[] {
  const people = counts.reduce((a, b) => a + b, 0);
  const about = { name: 'degrees', form, last: counts.length - 1, people, sensitivity: effect, record: everyRecord };
  const noise = degreeNoise(about, pure(epsilon));
  return noisyDegrees(noise, form, new Payment([noise]))(counts);
}
