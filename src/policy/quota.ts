import type { Rational } from '../exact/rational.js';
import type { Budget } from './policy.js';

/** What one analyst may spend of the budget; undefined where only the budget itself binds. */
export const quotaOf = ({ analysts }: Budget, analyst: string): Rational | undefined =>
  analysts?.named.get(analyst) ?? analysts?.each;
