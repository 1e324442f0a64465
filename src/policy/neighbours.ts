import { add, type Rational } from '../base/exact/rational.js';
import type { Policy } from './policy.js';

/**
 * Definition of neighbouring data sets (neighbours.proof.md). `replace`: one record is replaced, their number is public.
 * `add-remove`: one record is added or removed, their number is protected.
 */
export type Neighbours = 'replace' | 'add-remove';

export const neighboursOf = ({ protect }: Pick<Policy, 'protect'>): Neighbours => protect.neighbours ?? 'replace';
export const isAddRemove = (policy: Pick<Policy, 'protect'>): boolean => neighboursOf(policy) === 'add-remove';

/**
 * Privacy loss between two values of one record if neighbours differ by epsilon; twice as much for add-remove, through the absent
 * record.
 */
export const betweenValues = (neighbours: Neighbours, epsilon: Rational): Rational =>
  neighbours === 'add-remove' ? add(epsilon, epsilon) : epsilon;
