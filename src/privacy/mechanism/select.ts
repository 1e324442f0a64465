import { divide, multiply, type Rational, rational } from '../../base/exact/rational.js';
import { chooseExponential } from '../noise/exponential.js';
import { type Allotment, rootDown } from './allotment.js';
import { booked, sizeIn } from './cost.js';
import { type Effects, largest, type Scope } from './effect.js';
import type { SelectionLaw } from './law.js';
import type { Mechanism } from './mechanism.js';
import type { Paid } from './paid.js';

/**
 * Query for a selection among public candidates, made `cells` times. With d_g the most by which one record changes a penalty of
 * choice g, `sensitivity` bounds the sums of d_g (l1) and of d_g^2 (l2squared).
 */
export interface Chosen {
  readonly name: string;
  readonly cells: number;
  readonly effects: Effects;
  readonly factored?: boolean;
}

export interface Selection extends Mechanism {
  readonly law: SelectionLaw | { readonly kind: 'none' };
  /** The position of the candidate chosen; 0 is the best penalty. */
  choose(paid: Paid, penalties: readonly bigint[]): number;
}

const two = rational(2);

/** Exponential mechanism, as sharp as the budget share pays for. */
export function selection(what: Chosen, allotment: Allotment, scope?: Scope): Selection {
  const { name, cells, effects, factored } = what;
  const most = largest(effects, sizeIn[allotment.noise], scope);
  const law: Selection['law'] =
    most === 0n ? { kind: 'none' } : { kind: 'selection', sharpness: sharpnessFor(allotment, rational(most)) };
  const mechanism: Selection = {
    law,
    cost: booked(law, effects, allotment, { ...(scope && { scope }), ...(factored && { factored }) }),
    draws: cells,
    told: { name, cells },
    choose: (paid, penalties) => {
      paid.take(mechanism, 1);
      return paid.release(mechanism, penalties, (list) => pick(law, list));
    },
  };
  return mechanism;
}

function sharpnessFor({ noise, amount }: Allotment, effect: Rational): Rational {
  return noise === 'pure' ? divide(amount, multiply(two, effect)) : rootDown(divide(multiply(two, amount), effect));
}

function pick(law: Selection['law'], penalties: readonly bigint[]): number {
  if (law.kind === 'selection') return chooseExponential({ scores: penalties.map((p) => -p) }, law.sharpness);
  return penalties.reduce((best, p, k) => (p < penalties[best]! ? k : best), 0);
}
