import { maximum, type Rational, zero } from '../../base/exact/rational.js';
import type { Scope } from '../mechanism/effect.js';
import { columnsIn, type RecordClass, type Slicing } from '../mechanism/record-class.js';
import { largestOn, type Slices } from '../mechanism/slices.js';
import { type Costs, largestOf } from '../mechanism/together.js';

/** Cost of the records of each class; zero for an absent class. */
export type Bases = ReadonlyMap<RecordClass, Rational>;
/** Cost of every record, by its value of a public column. */
export interface SlicedBase {
  readonly slicing: Slicing;
  readonly costs: Slices;
}
/** Cost of every record, by its values of several public columns. */
export interface TogetherBase {
  readonly together: Slicing;
  readonly costs: Costs;
}
/** Cost of every record; a single number if all spend the same. */
export type Base = Rational | Bases | SlicedBase | TogetherBase;

const isCommon = (base: Base): base is Rational => 'num' in base;
export const isSlicedBase = (base: Base): base is SlicedBase => 'slicing' in base;
export const isTogetherBase = (base: Base): base is TogetherBase => 'together' in base;
const dearest = (base: SlicedBase | TogetherBase): Rational =>
  isSlicedBase(base) ? largestOn(base.costs) : largestOf(base.costs, columnsIn(base.together).length);

/** Common base that covers a base: bounds are monotone in every record's cost, so this is always valid (informed.proof.md). */
export function commonBase(base: Base, scope: Scope): Rational {
  if (isCommon(base)) return base;
  if (isSlicedBase(base) || isTogetherBase(base)) return dearest(base);
  let most = zero;
  for (const [record, cost] of base) if (scope(record)) most = maximum(most, cost);
  return most;
}

/** Cost of one class. */
export function baseOf(base: Base, record: RecordClass): Rational {
  if (isCommon(base)) return base;
  return isSlicedBase(base) || isTogetherBase(base) ? dearest(base) : (base.get(record) ?? zero);
}
