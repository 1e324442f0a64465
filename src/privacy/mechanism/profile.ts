import {
  add,
  divide,
  isPositive,
  maximum,
  multiply,
  parseRational,
  type Rational,
  rational,
  subtract,
  toText,
  zero,
} from '../../base/exact/rational.js';
import {
  along,
  boxIn,
  columnsIn,
  everyRecord,
  isAlongPairs,
  isSlice,
  isSliced,
  kindOf,
  type Mark,
  onceFor,
  paired,
  pairsIn,
  type RecordClass,
  type Slicing,
  sliced,
  sliceOfAll,
  slicingIn,
  storedClass,
} from './record-class.js';
import { everyValue, type Slices } from './slices.js';
import { addCosts, type Costs, costOnAll, costsOf, noCosts, type Part, partsOf } from './together.js';
import { zcdpOfPure } from './zcdp-of-pure.js';

/**
 * Privacy cost: bound on the change of the log-probability of any output when one record is *replaced*, per record class
 * (record-class.ts). Branded, so that only the functions below can make one.
 */
declare const replaceOne: unique symbol;

/** Cost of something that a population may have once and never again, independent of all other costs. */
export const onceOnly = (what: string): PureProfile => pureProfile([[onceFor(what), rational(1)]], true);

export interface PureProfile {
  readonly noise: 'pure';
  /** epsilon of replacing one record of the class; zero for an absent class. */
  readonly perRecord: ReadonlyMap<RecordClass, Rational>;
  /** True if every class was noised separately, so that the likelihood is a product over classes. */
  readonly factored: boolean;
  /** zCDP cost of the same draws, each at its own (zcdp-of-pure.proof.md); that of one draw of the whole when absent. */
  readonly zcdp?: ZcdpProfile;
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
  return inRuns(map);
};

/** Classes with slices in the one way they are held. */
function inRuns(costs: Map<RecordClass, Rational>): Map<RecordClass, Rational> {
  writeSlices(costs, slicesIn(costs));
  return costs;
}

function writeSlices(costs: Map<RecordClass, Rational>, slices: ReadonlyMap<Slicing, Costs>): void {
  if (slices.size === 0) return;
  for (const name of [...costs.keys()]) if (isSlice(name)) costs.delete(name);
  for (const [of, own] of slices) {
    const columns = columnsIn(of).length;
    for (const { box, cost } of columns === 1 ? ofOne(own as Slices) : partsOf(own, columns))
      costs.set(sliceOfAll(of, box), cost);
  }
}
/** Every value of one column and none are two classes, as they always were. */
const ofOne = ({ runs, missing }: Slices): readonly Part[] => [
  ...runs.map(({ from, to, cost }) => ({ box: [{ from, to }], cost })),
  ...(isPositive(missing) ? [{ box: [{ from: Number.NaN, to: Number.NaN }], cost: missing }] : []),
];

/** Costs booked under slices, by column or by several columns jointly. */
function slicesIn(costs: ReadonlyMap<RecordClass, Rational>): Map<Slicing, Costs> {
  const found = new Map<Slicing, Part[]>();
  for (const [name, cost] of costs) {
    if (!isSlice(name)) continue;
    const { of, box } = boxIn(name);
    const own = found.get(of) ?? [];
    found.set(of, own);
    own.push({ box, cost });
  }
  return new Map([...found].map(([of, parts]) => [of, costsOf(parts, columnsIn(of).length)]));
}

/** Slicings under which part of a cost is booked. */
export const slicingsIn = ({ perRecord }: Profile): readonly Slicing[] => [...perRecord.keys()].filter(isSliced).map(slicingIn);

/** Pure replace-one epsilon per class. */
export const pureProfile = (entries: Entries, factored = false): PureProfile =>
  ({ noise: 'pure', perRecord: checked(entries), factored }) as unknown as PureProfile;
/** Replace-one rho-zCDP per class. */
export const zcdpProfile = (entries: Entries): ZcdpProfile =>
  ({ noise: 'zcdp', perRecord: checked(entries) }) as unknown as ZcdpProfile;

/** Cost of marks only: the amount paid under each mark, in addition to the costs of records. */
export const markedProfile = (noise: Profile['noise'], marks: Iterable<readonly [Mark, Rational]>): Profile =>
  noise === 'pure' ? pureProfile(marks, true) : zcdpProfile(marks);

/** The same costs under other names; those without a name are left out. */
export function renamedProfile(profile: Profile, rename: (name: RecordClass) => RecordClass | undefined): Profile {
  const entries = [...profile.perRecord].flatMap(([name, cost]): [RecordClass, Rational][] => {
    const renamed = rename(name);
    return renamed === undefined ? [] : [[renamed, cost]];
  });
  if (profile.noise === 'zcdp') return zcdpProfile(entries);
  const pure = pureProfile(entries, profile.factored);
  return profile.zcdp ? pricedAs(pure, renamedProfile(profile.zcdp, rename) as ZcdpProfile) : pure;
}

/** zCDP cost of a pure cost: that of its draws, or of one draw if they are not known. */
export const inZcdp = (pure: PureProfile): ZcdpProfile => pure.zcdp ?? oneDraw(pure);

/** The same cost with the zCDP cost of `times` equal draws. */
export const withZcdp = (pure: PureProfile, times = 1): PureProfile => {
  if (pure.zcdp || times === 1) return pricedAs(pure, inZcdp(pure));
  const each = pureProfile([...pure.perRecord].map(([name, cost]) => [name, divide(cost, rational(times))] as const));
  return pricedAs(
    pure,
    zcdpProfile([...oneDraw(each).perRecord].map(([name, cost]) => [name, multiply(cost, rational(times))] as const)),
  );
};
export const pricedAs = (pure: PureProfile, zcdp: ZcdpProfile): PureProfile => ({ ...pure, zcdp });
/** The same cost without its zCDP cost, as receipts and pure accounts hold it. */
export function withoutZcdp(profile: Profile): Profile {
  if (profile.noise === 'zcdp' || profile.zcdp === undefined) return profile;
  const { zcdp: _, ...pure } = profile;
  return pure;
}

function oneDraw({ perRecord }: PureProfile): ZcdpProfile {
  const whole = perRecord.get(everyRecord) ?? zero;
  // Costs by value and along pairs add to the rest of `*`, which those records pay as well.
  const beside = (part: RecordClass): Rational => maximum(zero, subtract(whole, perRecord.get(part) ?? zero));
  const more = (rest: Rational, cost: Rational): Rational => subtract(zcdpOfPure(add(rest, cost)), zcdpOfPure(rest));
  const priceOf = (name: RecordClass, cost: Rational): Rational => {
    const kind = kindOf(name);
    if (kind === 'mark' || kind === 'once') return zero;
    if (kind === 'sliced' || kind === 'paired') return subtract(zcdpOfPure(whole), zcdpOfPure(beside(name)));
    if (isSlice(name)) return more(beside(sliced(boxIn(name).of)), cost);
    if (isAlongPairs(name)) return more(beside(paired(pairsIn(name))), cost);
    return zcdpOfPure(cost);
  };
  return zcdpProfile(
    [...perRecord].map(([name, cost]) => [name, priceOf(name, cost)] as const).filter(([, cost]) => isPositive(cost)),
  );
}

/** Sum of costs of one kind, for an adaptive or non-adaptive sequence of releases. */
export function addProfiles<P extends Profile>(a: P, b: P): P {
  const total = new Map(a.perRecord);
  for (const [name, cost] of b.perRecord) if (!isSlice(name)) total.set(name, add(total.get(name) ?? zero, cost));
  const slices = slicesIn(a.perRecord);
  for (const [of, more] of slicesIn(b.perRecord)) {
    const known = slices.get(of);
    slices.set(of, known ? addCosts(known, more, columnsIn(of).length) : more);
  }
  writeSlices(total, slices);
  const factored = a.noise === 'pure' && b.noise === 'pure' && a.factored && b.factored;
  return (a.noise === 'pure'
    ? { noise: 'pure', perRecord: total, factored, ...zcdpTogether(a, b as PureProfile) }
    : { noise: 'zcdp', perRecord: total }) as unknown as P;
}

/** Totals whose number of draws is unknown, as in ledgers of version 0.2, keep their text. */
const zcdpTogether = (a: PureProfile, b: PureProfile): Pick<PureProfile, 'zcdp'> =>
  a.zcdp || b.zcdp ? { zcdp: addProfiles(inZcdp(a), inZcdp(b)) } : {};

/**
 * Cost of a record by its values of public columns: that of its slice, plus everything not booked by slices (slices.proof.md).
 */
export function paidTogether({ perRecord }: Profile, slicing: Slicing): Costs {
  const columns = columnsIn(slicing);
  const own = slicesIn(perRecord).get(slicing) ?? noCosts(columns.length);
  const rest = subtract(perRecord.get(everyRecord) ?? zero, perRecord.get(sliced(slicing)) ?? zero);
  if (!isPositive(rest)) return own;
  return addCosts(
    own,
    costOnAll(
      columns.map(() => everyValue),
      rest,
    ),
    columns.length,
  );
}
export const paidBySlice = (profile: Profile, slicing: Slicing): Slices => paidTogether(profile, slicing) as Slices;
/** True if any cost was booked by slices of this column. */
export const isBySlice = ({ perRecord }: Profile, slicing: Slicing): boolean => perRecord.has(sliced(slicing));

/**
 * Cost of replacing a record along a pair: that booked along these pairs, plus everything not booked along pairs
 * (pairs.proof.md).
 */
export function paidAlong({ perRecord }: Profile, pairs: string): Rational {
  const rest = subtract(perRecord.get(everyRecord) ?? zero, perRecord.get(paired(pairs)) ?? zero);
  const own = perRecord.get(along(pairs)) ?? zero;
  return isPositive(rest) ? add(own, rest) : own;
}
/** True if any cost was booked along these pairs. */
export const isAlong = ({ perRecord }: Profile, pairs: string): boolean => perRecord.has(paired(pairs));

export const emptyPure: PureProfile = pureProfile([], true);
export const emptyZcdp: ZcdpProfile = zcdpProfile([]);

/** All costs of a population so far, from which leakage is computed. */
export interface Spent {
  readonly pure: PureProfile;
  readonly zcdp: ZcdpProfile;
}
export const nothingSpent: Spent = { pure: emptyPure, zcdp: emptyZcdp };
export const spend = (spent: Spent, profile: Profile): Spent =>
  profile.noise === 'pure'
    ? { ...spent, pure: addProfiles(spent.pure, profile) }
    : { ...spent, zcdp: addProfiles(spent.zcdp, profile) };

/** zCDP cost of everything spent: Gaussian noise, and every pure draw at its own cost. */
export function zcdpOfAll(spent: Spent): ZcdpProfile {
  const known = allInZcdp.get(spent.pure)?.get(spent.zcdp);
  if (known) return known;
  const total = addProfiles(spent.zcdp, inZcdp(spent.pure));
  const beside = allInZcdp.get(spent.pure) ?? new WeakMap<ZcdpProfile, ZcdpProfile>();
  allInZcdp.set(spent.pure, beside.set(spent.zcdp, total));
  return total;
}
const allInZcdp = new WeakMap<PureProfile, WeakMap<ZcdpProfile, ZcdpProfile>>();

/** Plain data for the ledger: {"noise":"pure","perRecord":{"*":"1/10"}}. */
export interface StoredProfile {
  readonly noise: 'pure' | 'zcdp';
  readonly perRecord: Readonly<Record<string, string>>;
  readonly factored?: boolean;
  /** Of pure noise in an account with a delta: the zCDP cost of its draws, added up. */
  readonly zcdp?: Readonly<Record<string, string>>;
}

/** Classes in code-unit order, so that equal costs have equal text. */
const textsOf = ({ perRecord }: Profile): Readonly<Record<string, string>> =>
  Object.fromEntries([...perRecord].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([name, cost]) => [name, toText(cost)]));
export const toStored = (profile: Profile): StoredProfile => ({
  noise: profile.noise,
  perRecord: textsOf(profile),
  ...(profile.noise === 'pure' && profile.factored && { factored: true }),
  ...(profile.noise === 'pure' && profile.zcdp && { zcdp: textsOf(profile.zcdp) }),
});

const entriesIn = (costs: Readonly<Record<string, string>>): Entries =>
  Object.entries(costs).map(([name, cost]) => [storedClass(name), parseRational(cost, 'stored cost')] as const);

export function fromStored({ noise, perRecord, factored, zcdp }: StoredProfile): Profile {
  if (noise === 'zcdp') return zcdpProfile(entriesIn(perRecord));
  const pure = pureProfile(entriesIn(perRecord), factored === true);
  return zcdp ? pricedAs(pure, zcdpProfile(entriesIn(zcdp))) : pure;
}
