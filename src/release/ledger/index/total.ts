import { ceiling, floor, multiply, type Rational, rational } from '../../../base/exact/rational.js';
import {
  addProfiles,
  fromStored,
  nothingSpent,
  type Profile,
  type Spent,
  type StoredProfile,
  toStored,
} from '../../../privacy/mechanism/profile.js';
import { isTakenOff } from '../../../privacy/mechanism/record-class.js';

/**
 * Beyond this denominator a running total is rounded up to a multiple of 2^-256: its text stays short,
 * and it never shrinks.
 */
const finest = 1n << 256n;

const tidy = (x: Rational): Rational => (x.den <= finest ? x : rational(ceiling(multiply(x, rational(finest))), finest));
/** Costs of slices and pairs are subtracted from everybody's cost, so they may only be rounded down. */
const tidyDown = (x: Rational): Rational => (x.den <= finest ? x : rational(floor(multiply(x, rational(finest))), finest));

/**
 * Cost decoded from its stored form; the same object for the same input,
 * so that a planned reservation is not computed again.
 */
export function paidBy(stored: StoredProfile): Profile {
  const known = paid.get(stored);
  if (known) return known;
  const profile = fromStored(stored);
  paid.set(stored, profile);
  return profile;
}
const paid = new WeakMap<StoredProfile, Profile>();
const foreseen = new WeakMap<Spent, { readonly profile: Profile; readonly after: Spent }>();

/** The total after one more cost. Deterministic, so that walking the entries again gives the same text. */
export function book(before: Spent, profile: Profile): Spent {
  const known = foreseen.get(before);
  if (known?.profile === profile) return known.after;
  const after = bookAnew(before, profile);
  foreseen.set(before, { profile, after });
  return after;
}

function bookAnew(before: Spent, profile: Profile): Spent {
  const kind = profile.noise;
  return { ...before, [kind]: shortened(addProfiles<Profile>(before[kind], profile)) };
}

const shortened = (sum: Profile): Profile =>
  ({
    ...sum,
    perRecord: new Map([...sum.perRecord].map(([name, cost]) => [name, isTakenOff(name) ? tidyDown(cost) : tidy(cost)])),
    ...(sum.noise === 'pure' && sum.zcdp && { zcdp: shortened(sum.zcdp) as Spent['zcdp'] }),
  }) as Profile;

/**
 * A reservation writes and reads the totals of a population and an analyst several times;
 * a walk of the chain alternates between some analysts.
 */
const lately = new Map<string, Spent>();
const remembered = 32;

function remember(text: string, spent: Spent): void {
  lately.delete(text);
  lately.set(text, spent);
  if (lately.size > remembered) lately.delete(lately.keys().next().value!);
}

export function spentToText(spent: Spent): string {
  const text = JSON.stringify([toStored(spent.pure), toStored(spent.zcdp)]);
  remember(text, spent);
  return text;
}

export function spentFromText(text: string): Spent {
  const known = lately.get(text);
  if (known) return known;
  const [pure, zcdp] = JSON.parse(text) as [StoredProfile, StoredProfile];
  const spent = { pure: fromStored(pure) as Spent['pure'], zcdp: fromStored(zcdp) as Spent['zcdp'] };
  remember(text, spent);
  return spent;
}

export const emptyText: string = spentToText(nothingSpent);
