import type { Rational } from '../src/base/exact/rational.js';
import { additiveMechanism } from '../src/privacy/mechanism/additive.js';
import { pure } from '../src/privacy/mechanism/budget-share.js';
import type { Mechanism } from '../src/privacy/mechanism/mechanism.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import { sensitivityOn } from '../src/privacy/mechanism/sensitivity.js';

/** One noisy number that costs every record this much. */
export const costing = (epsilon: Rational): Mechanism =>
  additiveMechanism(
    { name: 'one number', cells: 1, sensitivity: sensitivityOn([everyRecord], { l1: 1n, l2squared: 1n }) },
    pure(epsilon),
  );
