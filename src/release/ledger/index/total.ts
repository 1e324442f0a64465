import { ceiling, floor, multiply, type Rational, rational } from '../../../base/exact/rational.js';
import {
  composeCosts,
  fromStored,
  nothingSpent,
  type PrivacyCost,
  type SpentCosts,
  type StoredCost,
  toStored,
} from '../../../privacy/mechanism/privacy-cost.js';
import { isDeducted } from '../../../privacy/mechanism/record-class.js';

/** Beyond this denominator a running total is rounded up to a multiple of 2^-256: its text stays short, and it never shrinks. */
const finest = 1n << 256n;

const roundedUp = (x: Rational): Rational => (x.den <= finest ? x : rational(ceiling(multiply(x, rational(finest))), finest));
/** Costs of slices and pairs are subtracted from everybody's cost, so they may only be rounded down. */
const roundedDown = (x: Rational): Rational => (x.den <= finest ? x : rational(floor(multiply(x, rational(finest))), finest));

/** Cost decoded from its stored form; the same object for the same input, so that a planned reservation is not computed again. */
export function costFromStored(stored: StoredCost): PrivacyCost {
  const known = paid.get(stored);
  if (known) return known;
  const cost = fromStored(stored);
  paid.set(stored, cost);
  return cost;
}
const paid = new WeakMap<StoredCost, PrivacyCost>();
const nextTotals = new WeakMap<SpentCosts, { readonly profile: PrivacyCost; readonly after: SpentCosts }>();

/** The total after one more cost. Deterministic, so that walking the entries again gives the same text. */
export function addToTotal(before: SpentCosts, cost: PrivacyCost): SpentCosts {
  const known = nextTotals.get(before);
  if (known?.profile === cost) return known.after;
  const after = computeTotal(before, cost);
  nextTotals.set(before, { profile: cost, after });
  return after;
}

function computeTotal(before: SpentCosts, cost: PrivacyCost): SpentCosts {
  const kind = cost.noise;
  return { ...before, [kind]: shortened(composeCosts<PrivacyCost>(before[kind], cost)) };
}

const shortened = (sum: PrivacyCost): PrivacyCost =>
  ({
    ...sum,
    perRecord: new Map([...sum.perRecord].map(([name, cost]) => [name, isDeducted(name) ? roundedDown(cost) : roundedUp(cost)])),
    ...(sum.noise === 'pure' && sum.zcdp && { zcdp: shortened(sum.zcdp) as SpentCosts['zcdp'] }),
  }) as PrivacyCost;

/** A reservation reads the same totals several times; a walk of the chain alternates between some analysts. */
const recentTotals = new Map<string, SpentCosts>();
const recentLimit = 32;

function remember(text: string, spent: SpentCosts): void {
  recentTotals.delete(text);
  recentTotals.set(text, spent);
  if (recentTotals.size > recentLimit) recentTotals.delete(recentTotals.keys().next().value!);
}

export function spentToText(spent: SpentCosts): string {
  const text = JSON.stringify([toStored(spent.pure), toStored(spent.zcdp)]);
  remember(text, spent);
  return text;
}

export function spentFromText(text: string): SpentCosts {
  const known = recentTotals.get(text);
  if (known) return known;
  const [pure, zcdp] = JSON.parse(text) as [StoredCost, StoredCost];
  const spent = { pure: fromStored(pure) as SpentCosts['pure'], zcdp: fromStored(zcdp) as SpentCosts['zcdp'] };
  remember(text, spent);
  return spent;
}

export const emptyText: string = spentToText(nothingSpent);
