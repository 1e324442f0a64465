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
  addJointCosts,
  type CostBox,
  costBoxes,
  type JointCosts,
  jointCostOn,
  jointCostsOf,
  noJointCosts,
} from './joint-costs.js';
import {
  boxIn,
  columnsIn,
  everyRecord,
  isAlongPairs,
  isSlice,
  isSliced,
  type Mark,
  oneTimeClass,
  paired,
  pairsClass,
  pairsIn,
  type RecordClass,
  recordClassKind,
  type Slicing,
  sliced,
  sliceOfAll,
  slicingIn,
  storedClass,
} from './record-class.js';
import { allValues, type Slices } from './slices.js';
import { zcdpOfPure } from './zcdp-of-pure.js';

/**
 * Privacy cost: bound on the change of the log-probability of any output when one record is *replaced*, per record class
 * (record-class.ts). Branded, so that only the functions below can make one.
 */
declare const replaceOne: unique symbol;

/** Cost of something that a population may have once and never again, independent of all other costs. */
export const oneTimeCost = (what: string): PureCost => pureCost([[oneTimeClass(what), rational(1)]], true);

export interface PureCost {
  readonly noise: 'pure';
  /** epsilon of replacing one record of the class; zero for an absent class. */
  readonly perRecord: ReadonlyMap<RecordClass, Rational>;
  /** True if every class was noised separately, so that the likelihood is a product over classes. */
  readonly factored: boolean;
  /** zCDP cost of the same draws, each at its own (zcdp-of-pure.proof.md); that of one draw of the whole when absent. */
  readonly zcdp?: ZcdpCost;
  readonly [replaceOne]: true;
}
export interface ZcdpCost {
  readonly noise: 'zcdp';
  /** rho of replacing one record of the class. */
  readonly perRecord: ReadonlyMap<RecordClass, Rational>;
  readonly [replaceOne]: true;
}
export type PrivacyCost = PureCost | ZcdpCost;

type Entries = Iterable<readonly [RecordClass, Rational]>;
const checked = (entries: Entries): Map<RecordClass, Rational> => {
  const map = new Map<RecordClass, Rational>();
  for (const [name, cost] of entries) {
    if (!isPositive(cost)) throw new RangeError(`a profile entry must be positive: ${name}`);
    map.set(name, cost);
  }
  return normaliseSlices(map);
};

/** Classes with slices in the one way they are held. */
function normaliseSlices(costs: Map<RecordClass, Rational>): Map<RecordClass, Rational> {
  writeSlices(costs, slicesIn(costs));
  return costs;
}

function writeSlices(costs: Map<RecordClass, Rational>, slices: ReadonlyMap<Slicing, JointCosts>): void {
  if (slices.size === 0) return;
  for (const name of [...costs.keys()]) if (isSlice(name)) costs.delete(name);
  for (const [of, own] of slices) {
    const columns = columnsIn(of).length;
    for (const { box, cost } of columns === 1 ? boxesOfColumn(own as Slices) : costBoxes(own, columns))
      costs.set(sliceOfAll(of, box), cost);
  }
}
/** Every value of one column and none are two classes, as they always were. */
const boxesOfColumn = ({ runs, missing }: Slices): readonly CostBox[] => [
  ...runs.map(({ from, to, cost }) => ({ box: [{ from, to }], cost })),
  ...(isPositive(missing) ? [{ box: [{ from: Number.NaN, to: Number.NaN }], cost: missing }] : []),
];

/** Costs booked under slices, by column or by several columns jointly. */
function slicesIn(costs: ReadonlyMap<RecordClass, Rational>): Map<Slicing, JointCosts> {
  const found = new Map<Slicing, CostBox[]>();
  for (const [name, cost] of costs) {
    if (!isSlice(name)) continue;
    const { of, box } = boxIn(name);
    const own = found.get(of) ?? [];
    found.set(of, own);
    own.push({ box, cost });
  }
  return new Map([...found].map(([of, parts]) => [of, jointCostsOf(parts, columnsIn(of).length)]));
}

/** Slicings under which part of a cost is booked. */
export const slicingsIn = ({ perRecord }: PrivacyCost): readonly Slicing[] =>
  [...perRecord.keys()].filter(isSliced).map(slicingIn);

/** Pure replace-one epsilon per class. */
export const pureCost = (entries: Entries, factored = false): PureCost =>
  ({ noise: 'pure', perRecord: checked(entries), factored }) as unknown as PureCost;
/** Replace-one rho-zCDP per class. */
export const zcdpCost = (entries: Entries): ZcdpCost => ({ noise: 'zcdp', perRecord: checked(entries) }) as unknown as ZcdpCost;

/** Cost of marks only: the amount paid under each mark, in addition to the costs of records. */
export const markedCost = (noise: PrivacyCost['noise'], marks: Iterable<readonly [Mark, Rational]>): PrivacyCost =>
  noise === 'pure' ? pureCost(marks, true) : zcdpCost(marks);

/** The same costs under other names; those without a name are left out. */
export function renameClasses(privacyCost: PrivacyCost, rename: (name: RecordClass) => RecordClass | undefined): PrivacyCost {
  const entries = [...privacyCost.perRecord].flatMap(([name, cost]): [RecordClass, Rational][] => {
    const renamed = rename(name);
    return renamed === undefined ? [] : [[renamed, cost]];
  });
  if (privacyCost.noise === 'zcdp') return zcdpCost(entries);
  const pure = pureCost(entries, privacyCost.factored);
  return privacyCost.zcdp ? withZcdpCost(pure, renameClasses(privacyCost.zcdp, rename) as ZcdpCost) : pure;
}

/** zCDP cost of a pure cost: that of its draws, or of one draw if they are not known. */
export const inZcdp = (pure: PureCost): ZcdpCost => pure.zcdp ?? oneDraw(pure);

/** The same cost with the zCDP cost of `times` equal draws. */
export const withZcdp = (pure: PureCost, times = 1): PureCost => {
  if (pure.zcdp || times === 1) return withZcdpCost(pure, inZcdp(pure));
  const each = pureCost([...pure.perRecord].map(([name, cost]) => [name, divide(cost, rational(times))] as const));
  return withZcdpCost(
    pure,
    zcdpCost([...oneDraw(each).perRecord].map(([name, cost]) => [name, multiply(cost, rational(times))] as const)),
  );
};
export const withZcdpCost = (pure: PureCost, zcdp: ZcdpCost): PureCost => ({ ...pure, zcdp });
/** The same cost without its zCDP cost, as receipts and pure accounts hold it. */
export function withoutZcdp(privacyCost: PrivacyCost): PrivacyCost {
  if (privacyCost.noise === 'zcdp' || privacyCost.zcdp === undefined) return privacyCost;
  const { zcdp: _, ...pure } = privacyCost;
  return pure;
}

function oneDraw({ perRecord }: PureCost): ZcdpCost {
  const whole = perRecord.get(everyRecord) ?? zero;
  // Costs by value and along pairs add to the rest of `*`, which those records pay as well.
  const others = (part: RecordClass): Rational => maximum(zero, subtract(whole, perRecord.get(part) ?? zero));
  const more = (rest: Rational, cost: Rational): Rational => subtract(zcdpOfPure(add(rest, cost)), zcdpOfPure(rest));
  const priceOf = (name: RecordClass, cost: Rational): Rational => {
    const kind = recordClassKind(name);
    if (kind === 'mark' || kind === 'once') return zero;
    if (kind === 'sliced' || kind === 'paired') return subtract(zcdpOfPure(whole), zcdpOfPure(others(name)));
    if (isSlice(name)) return more(others(sliced(boxIn(name).of)), cost);
    if (isAlongPairs(name)) return more(others(paired(pairsIn(name))), cost);
    return zcdpOfPure(cost);
  };
  return zcdpCost(
    [...perRecord].map(([name, cost]) => [name, priceOf(name, cost)] as const).filter(([, cost]) => isPositive(cost)),
  );
}

/** Sum of costs of one kind, for an adaptive or non-adaptive sequence of releases. */
export function composeCosts<P extends PrivacyCost>(a: P, b: P): P {
  const total = new Map(a.perRecord);
  for (const [name, cost] of b.perRecord) if (!isSlice(name)) total.set(name, add(total.get(name) ?? zero, cost));
  const slices = slicesIn(a.perRecord);
  for (const [of, more] of slicesIn(b.perRecord)) {
    const known = slices.get(of);
    slices.set(of, known ? addJointCosts(known, more, columnsIn(of).length) : more);
  }
  writeSlices(total, slices);
  const factored = a.noise === 'pure' && b.noise === 'pure' && a.factored && b.factored;
  return (a.noise === 'pure'
    ? { noise: 'pure', perRecord: total, factored, ...zcdpSum(a, b as PureCost) }
    : { noise: 'zcdp', perRecord: total }) as unknown as P;
}

/** Totals whose number of draws is unknown, as in ledgers of version 0.2, keep their text. */
const zcdpSum = (a: PureCost, b: PureCost): Pick<PureCost, 'zcdp'> =>
  a.zcdp || b.zcdp ? { zcdp: composeCosts(inZcdp(a), inZcdp(b)) } : {};

/**
 * Cost of a record by its values of public columns: that of its slice, plus everything not booked by slices (slices.proof.md).
 */
export function costBySlices({ perRecord }: PrivacyCost, slicing: Slicing): JointCosts {
  const columns = columnsIn(slicing);
  const own = slicesIn(perRecord).get(slicing) ?? noJointCosts(columns.length);
  const rest = subtract(perRecord.get(everyRecord) ?? zero, perRecord.get(sliced(slicing)) ?? zero);
  if (!isPositive(rest)) return own;
  return addJointCosts(
    own,
    jointCostOn(
      columns.map(() => allValues),
      rest,
    ),
    columns.length,
  );
}
export const costBySlice = (privacyCost: PrivacyCost, slicing: Slicing): Slices => costBySlices(privacyCost, slicing) as Slices;
export const hasCostBySlice = ({ perRecord }: PrivacyCost, slicing: Slicing): boolean => perRecord.has(sliced(slicing));

/**
 * Cost of replacing a record along a pair: that booked along these pairs, plus everything not booked along pairs
 * (pairs.proof.md).
 */
export function costAlongPairs({ perRecord }: PrivacyCost, pairs: string): Rational {
  const rest = subtract(perRecord.get(everyRecord) ?? zero, perRecord.get(paired(pairs)) ?? zero);
  const own = perRecord.get(pairsClass(pairs)) ?? zero;
  return isPositive(rest) ? add(own, rest) : own;
}
export const hasCostAlongPairs = ({ perRecord }: PrivacyCost, pairs: string): boolean => perRecord.has(paired(pairs));

export const emptyPure: PureCost = pureCost([], true);
export const emptyZcdp: ZcdpCost = zcdpCost([]);

/** All costs of a population so far, from which leakage is computed. */
export interface SpentCosts {
  readonly pure: PureCost;
  readonly zcdp: ZcdpCost;
}
export const nothingSpent: SpentCosts = { pure: emptyPure, zcdp: emptyZcdp };
export const spend = (spent: SpentCosts, privacyCost: PrivacyCost): SpentCosts =>
  privacyCost.noise === 'pure'
    ? { ...spent, pure: composeCosts(spent.pure, privacyCost) }
    : { ...spent, zcdp: composeCosts(spent.zcdp, privacyCost) };

/** zCDP cost of everything spent: Gaussian noise, and every pure draw at its own cost. */
export function zcdpOfAll(spent: SpentCosts): ZcdpCost {
  const known = allInZcdp.get(spent.pure)?.get(spent.zcdp);
  if (known) return known;
  const total = composeCosts(spent.zcdp, inZcdp(spent.pure));
  const others = allInZcdp.get(spent.pure) ?? new WeakMap<ZcdpCost, ZcdpCost>();
  allInZcdp.set(spent.pure, others.set(spent.zcdp, total));
  return total;
}
const allInZcdp = new WeakMap<PureCost, WeakMap<ZcdpCost, ZcdpCost>>();

/** Plain data for the ledger: {"noise":"pure","perRecord":{"*":"1/10"}}. */
export interface StoredCost {
  readonly noise: 'pure' | 'zcdp';
  readonly perRecord: Readonly<Record<string, string>>;
  readonly factored?: boolean;
  /** Of pure noise in an account with a delta: the zCDP cost of its draws, added up. */
  readonly zcdp?: Readonly<Record<string, string>>;
}

/** Classes in code-unit order, so that equal costs have equal text. */
const textsOf = ({ perRecord }: PrivacyCost): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...perRecord].sort(([a], [b]) => Number(a > b) - Number(a < b)).map(([name, cost]) => [name, toText(cost)]),
  );
export const toStored = (privacyCost: PrivacyCost): StoredCost => ({
  noise: privacyCost.noise,
  perRecord: textsOf(privacyCost),
  ...(privacyCost.noise === 'pure' && privacyCost.factored && { factored: true }),
  ...(privacyCost.noise === 'pure' && privacyCost.zcdp && { zcdp: textsOf(privacyCost.zcdp) }),
});

const entriesIn = (costs: Readonly<Record<string, string>>): Entries =>
  Object.entries(costs).map(([name, cost]) => [storedClass(name), parseRational(cost, 'stored cost')] as const);

export function fromStored({ noise, perRecord, factored, zcdp }: StoredCost): PrivacyCost {
  if (noise === 'zcdp') return zcdpCost(entriesIn(perRecord));
  const pure = pureCost(entriesIn(perRecord), factored === true);
  return zcdp ? withZcdpCost(pure, zcdpCost(entriesIn(zcdp))) : pure;
}
