import { maximum, type Rational, zero } from '../exact/rational.js';
import type { Scope } from '../mechanism/effect.js';
import type { RecordClass, Slicing } from '../mechanism/record-class.js';
import { largestOn, type Slices } from '../mechanism/slices.js';

/** What the records of each class spend; those of a class that is absent spend nothing. */
export type Bases = ReadonlyMap<RecordClass, Rational>;
/** What every record spends, by its value of a public column. */
export interface SlicedBase {
  readonly slicing: Slicing;
  readonly costs: Slices;
}
/** One number is what every record spends. */
export type Base = Rational | Bases | SlicedBase;

const isCommon = (base: Base): base is Rational => 'num' in base;
export const isSlicedBase = (base: Base): base is SlicedBase => 'slicing' in base;

/** The common base that covers a base: bounds are monotone in every record's, so it may always be taken instead (informed.proof.md). */
export function commonBase(base: Base, scope: Scope): Rational {
  if (isCommon(base)) return base;
  if (isSlicedBase(base)) return largestOn(base.costs);
  let most = zero;
  for (const [record, cost] of base) if (scope(record)) most = maximum(most, cost);
  return most;
}

/** What one class spends. */
export function baseOf(base: Base, record: RecordClass): Rational {
  if (isCommon(base)) return base;
  return isSlicedBase(base) ? largestOn(base.costs) : (base.get(record) ?? zero);
}
