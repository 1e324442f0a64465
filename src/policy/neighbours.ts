import { add, type Rational } from '../base/exact/rational.js';
import type { Policy } from './policy.js';

/**
 * What is compared. `replace`: one record against any other in its place; how many there are is public. `add-remove`: the data with a record against the
 * data without it; how many there are is protected (neighbours.proof.md).
 */
export type Neighbours = 'replace' | 'add-remove';

export const neighboursOf = ({ protect }: Pick<Policy, 'protect'>): Neighbours => protect.neighbours ?? 'replace';
export const addsRemoves = (policy: Pick<Policy, 'protect'>): boolean => neighboursOf(policy) === 'add-remove';

/** How far odds between two values of one record move where neighbours differ by epsilon: from one value to none, and from none to the other. */
export const betweenValues = (neighbours: Neighbours, epsilon: Rational): Rational =>
  neighbours === 'add-remove' ? add(epsilon, epsilon) : epsilon;
