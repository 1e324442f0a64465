import { add, isPositive, parseRational, type Rational, rational, toText, zero } from '../exact/rational.js';
import { onceFor, type RecordClass, storedClass } from './record-class.js';

/**
 * How far *replacing* one record, from any value to any other, moves the log-probability of every output.
 * Records come in classes with one bound each (record-class.ts).
 * The brand is the point: a profile can only be made by the functions below, which state what they count.
 */
declare const replaceOne: unique symbol;

/** The price of something a population may be given once and never again, whatever else is spent. */
export const onceOnly = (what: string): PureProfile => pureProfile([[onceFor(what), rational(1)]], true);

export interface PureProfile {
  readonly noise: 'pure';
  /** epsilon of replacing one record of the class; a class that is absent is not touched. */
  readonly perRecord: ReadonlyMap<RecordClass, Rational>;
  /** True when every class was noised on its own, so that the likelihood is a product over classes. */
  readonly factored: boolean;
  readonly [replaceOne]: true;
}
export interface ZcdpProfile {
  readonly noise: 'zcdp';
  /** rho of replacing one record of the class. */
  readonly perRecord: ReadonlyMap<RecordClass, Rational>;
  readonly [replaceOne]: true;
}
export type Profile = PureProfile | ZcdpProfile;

type Entries = Iterable<readonly [RecordClass, Rational]>;
const checked = (entries: Entries): Map<RecordClass, Rational> => {
  const map = new Map<RecordClass, Rational>();
  for (const [name, cost] of entries) {
    if (!isPositive(cost)) throw new RangeError(`a profile entry must be positive: ${name}`);
    map.set(name, cost);
  }
  return map;
};

/** Pure replace-one epsilon per class. */
export const pureProfile = (entries: Entries, factored = false): PureProfile =>
  ({ noise: 'pure', perRecord: checked(entries), factored }) as unknown as PureProfile;
/** Replace-one rho-zCDP per class. */
export const zcdpProfile = (entries: Entries): ZcdpProfile =>
  ({ noise: 'zcdp', perRecord: checked(entries) }) as unknown as ZcdpProfile;

/** Profiles of one kind add along a transcript, adaptively chosen or not. */
export function addProfiles<P extends Profile>(a: P, b: P): P {
  const total = new Map(a.perRecord);
  for (const [name, cost] of b.perRecord) total.set(name, add(total.get(name) ?? zero, cost));
  const factored = a.noise === 'pure' && b.noise === 'pure' && a.factored && b.factored;
  return (a.noise === 'pure'
    ? { noise: 'pure', perRecord: total, factored }
    : { noise: 'zcdp', perRecord: total }) as unknown as P;
}

export const emptyPure: PureProfile = pureProfile([], true);
export const emptyZcdp: ZcdpProfile = zcdpProfile([]);

/** Everything a population has paid so far; what leakage is computed from. */
export interface Spent {
  readonly pure: PureProfile;
  readonly zcdp: ZcdpProfile;
}
export const nothingSpent: Spent = { pure: emptyPure, zcdp: emptyZcdp };
export const spend = (spent: Spent, profile: Profile): Spent =>
  profile.noise === 'pure'
    ? { ...spent, pure: addProfiles(spent.pure, profile) }
    : { ...spent, zcdp: addProfiles(spent.zcdp, profile) };

/** Plain data for the ledger: {"noise":"pure","perRecord":{"*":"1/10"}}. */
export interface StoredProfile {
  readonly noise: 'pure' | 'zcdp';
  readonly perRecord: Readonly<Record<string, string>>;
  readonly factored?: boolean;
}

/** Classes in code-unit order, so that equal profiles have equal text. */
export const toStored = (profile: Profile): StoredProfile => ({
  noise: profile.noise,
  perRecord: Object.fromEntries(
    [...profile.perRecord].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([name, cost]) => [name, toText(cost)]),
  ),
  ...(profile.noise === 'pure' && profile.factored && { factored: true }),
});

export function fromStored(stored: StoredProfile): Profile {
  const entries = Object.entries(stored.perRecord).map(
    ([name, cost]) => [storedClass(name), parseRational(cost, 'stored cost')] as const,
  );
  return stored.noise === 'pure' ? pureProfile(entries, stored.factored === true) : zcdpProfile(entries);
}
