import type { Rational } from '../src/base/exact/rational.js';
import { additive } from '../src/privacy/mechanism/additive.js';
import { pure } from '../src/privacy/mechanism/allotment.js';
import { effectOn } from '../src/privacy/mechanism/effect.js';
import type { Mechanism } from '../src/privacy/mechanism/mechanism.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';

/** One noisy number that costs every record this much. */
export const costing = (epsilon: Rational): Mechanism =>
  additive({ name: 'one number', cells: 1, effects: effectOn([everyRecord], { l1: 1n, l2squared: 1n }) }, pure(epsilon));
