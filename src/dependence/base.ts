import { maximum, type Rational, zero } from '../exact/rational.js';
import type { Scope } from '../mechanism/effect.js';
import type { RecordClass } from '../mechanism/record-class.js';

/** What the records of each class spend; those of a class that is absent spend nothing. */
export type Bases = ReadonlyMap<RecordClass, Rational>;
/** One number is what every record spends. */
export type Base = Rational | Bases;

const isCommon = (base: Base): base is Rational => 'num' in base;

/** The common base that covers a base: bounds are monotone in every record's, so it may always be taken instead (informed.proof.md). */
export function commonBase(base: Base, scope: Scope): Rational {
  if (isCommon(base)) return base;
  let most = zero;
  for (const [record, cost] of base) if (scope(record)) most = maximum(most, cost);
  return most;
}

/** What one class spends. */
export const baseOf = (base: Base, record: RecordClass): Rational => (isCommon(base) ? base : (base.get(record) ?? zero));
