import {
  addProfiles,
  fromStored,
  nothingSpent,
  type Profile,
  type Spent,
  type StoredProfile,
  toStored,
} from '../dependence/profile.js';
import { ceiling, multiply, type Rational, rational } from '../exact/rational.js';

/** Beyond this denominator a running total is rounded up to a multiple of 2^-256: a total never grows without bound, and never shrinks. */
const finest = 1n << 256n;

const tidy = (x: Rational): Rational => (x.den <= finest ? x : rational(ceiling(multiply(x, rational(finest))), finest));

/** The total after one more profile. Deterministic, so that walking the entries again gives the same text. */
export function book(before: Spent, profile: Profile): Spent {
  const kind = profile.noise;
  const sum = addProfiles<Profile>(before[kind], profile);
  const perRecord = new Map([...sum.perRecord].map(([name, cost]) => [name, tidy(cost)]));
  return { ...before, [kind]: { ...sum, perRecord } };
}

interface StoredSpent {
  readonly pure: StoredProfile['perRecord'];
  readonly zcdp: StoredProfile['perRecord'];
}

export const spentToText = (spent: Spent): string =>
  JSON.stringify({ pure: toStored(spent.pure).perRecord, zcdp: toStored(spent.zcdp).perRecord } satisfies StoredSpent);

export function spentFromText(text: string): Spent {
  const { pure, zcdp } = JSON.parse(text) as StoredSpent;
  return {
    pure: fromStored({ noise: 'pure', perRecord: pure }) as Spent['pure'],
    zcdp: fromStored({ noise: 'zcdp', perRecord: zcdp }) as Spent['zcdp'],
  };
}

export const emptyText: string = spentToText(nothingSpent);
