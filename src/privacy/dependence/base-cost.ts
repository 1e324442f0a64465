import { maximum, type Rational, zero } from '../../base/exact/rational.js';
import { type JointCosts, largestCost } from '../mechanism/joint-costs.js';
import { columnsIn, type RecordClass, type Slicing } from '../mechanism/record-class.js';
import type { ClassScope } from '../mechanism/sensitivity.js';
import { largestOn, type Slices } from '../mechanism/slices.js';

/** Cost of the records of each class; zero for an absent class. */
export type BaseCosts = ReadonlyMap<RecordClass, Rational>;
/** Cost of every record, by its value of a public column. */
export interface SlicedBaseCost {
  readonly slicing: Slicing;
  readonly costs: Slices;
}
/** Cost of every record, by its values of several public columns. */
export interface JointBaseCost {
  readonly together: Slicing;
  readonly costs: JointCosts;
}
/** Cost of every record; a single number if all spend the same. */
export type BaseCost = Rational | BaseCosts | SlicedBaseCost | JointBaseCost;

const isCommon = (base: BaseCost): base is Rational => 'num' in base;
export const isSlicedBaseCost = (base: BaseCost): base is SlicedBaseCost => 'slicing' in base;
export const isJointBaseCost = (base: BaseCost): base is JointBaseCost => 'together' in base;
const largestBaseCost = (base: SlicedBaseCost | JointBaseCost): Rational =>
  isSlicedBaseCost(base) ? largestOn(base.costs) : largestCost(base.costs, columnsIn(base.together).length);

/** Common base that covers a base: bounds are monotone in every record's cost, so this is always valid (informed.proof.md). */
export function commonBaseCost(base: BaseCost, scope: ClassScope): Rational {
  if (isCommon(base)) return base;
  if (isSlicedBaseCost(base) || isJointBaseCost(base)) return largestBaseCost(base);
  let most = zero;
  for (const [record, cost] of base) if (scope(record)) most = maximum(most, cost);
  return most;
}

export function baseCostOf(base: BaseCost, record: RecordClass): Rational {
  if (isCommon(base)) return base;
  return isSlicedBaseCost(base) || isJointBaseCost(base) ? largestBaseCost(base) : (base.get(record) ?? zero);
}
