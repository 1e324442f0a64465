import { Fault } from '../../base/errors.js';
import type { SlicingColumn } from '../../data/ties/slicing-column.js';
import { readingsOf, slicingsOf } from '../../data/ties/slicings.js';
import { codesOf } from '../../policy/code.js';
import { numberNamed, weightNamed } from '../../policy/domain.js';
import { gridOf, unitsAt } from '../../policy/grid.js';
import { addsRemoves } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import type { Effect, Effects } from '../../privacy/mechanism/effect.js';
import { moveOver, presenceOf, type Strategy } from '../../privacy/mechanism/ordered/strategy.js';
import { answersTo, columnsIn, everyRecord, type RecordClass, sliced, sliceOfAll } from '../../privacy/mechanism/record-class.js';
import { both, either, everyValue, inOrder, isEverything, type Range, type Values } from '../../privacy/mechanism/slices.js';
import type { Box } from '../../privacy/mechanism/together.js';
import { type DerivedColumn, passesAt, withDerived } from './derived.js';
import { besideKnown } from './known-effects.js';
import { basesOf, type Counting, columnsOf, columnsOfKey, type RowKey, type RowValue, weightOf } from './measure.js';
import { endsCrossed, endsOnPositions } from './ordered-positions.js';
import { type Inner, type Moving, withPairs } from './pair-effects.js';
import { foldTest, type LeafTest, type RowTest } from './row-test.js';

/** Closed interval of integers. */
interface Interval {
  readonly low: bigint;
  readonly high: bigint;
}
/**
 * Largest contribution of one row to a cell (`most`), and largest change when the row stays in the cell (`range`, zero included).
 * A cell may stand for several numbers.
 */
interface Reach {
  readonly most: Effect;
  readonly range: Effect;
}
const absolute = (x: bigint): bigint => (x < 0n ? -x : x);
function larger(...list: bigint[]): bigint {
  let most = list[0]!;
  for (const x of list) if (x > most) most = x;
  return most;
}
const smaller = (a: bigint, b: bigint): bigint => -larger(-a, -b);
const withZero = ({ low, high }: Interval): Interval => ({ low: low < 0n ? low : 0n, high: high > 0n ? high : 0n });
const ofOne = (by: bigint): Effect => ({ l1: by, l2squared: by ** 2n });
const sizeOf = (interval: Interval): { readonly most: bigint; readonly range: bigint } => {
  const { low, high } = withZero(interval);
  return { most: larger(-low, high), range: high - low };
};

/** Every per-row value, and every step on the way to it, fits 62 bits, so 2^64 rows fit the 127 bits of HUGEINT: sums cannot overflow. */
const largestValue = 2n ** 61n;

const weightInterval = (policy: Policy, name: string | undefined): Interval => {
  if (name === undefined) return { low: 1n, high: 1n };
  const grid = gridOf(weightNamed(policy, name));
  return { low: unitsAt(grid, 0), high: unitsAt(grid, grid.last) };
};
const product = (a: Interval, b: Interval): Interval => {
  const ends = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  return { low: -larger(...ends.map((x) => -x)), high: larger(...ends) };
};

/** Range of the number factor of a value, before weighting. */
function numberInterval(policy: Policy, value: RowValue): Interval {
  if (value.kind !== 'number') return { low: 1n, high: 1n };
  const grid = gridOf(numberNamed(policy, value.column));
  const low = unitsAt(grid, 0) - value.origin;
  const high = unitsAt(grid, grid.last) - value.origin;
  if (value.power === 1) return { low: low - value.shift, high: high - value.shift };
  const least = low <= 0n && high >= 0n ? 0n : larger(-absolute(low), -absolute(high)) ** 2n;
  return { low: least - value.shift, high: larger(absolute(low), absolute(high)) ** 2n - value.shift };
}

/** Range of a row's contribution over all rows. */
export function valueInterval(policy: Policy, value: RowValue): Interval {
  const weight = weightInterval(policy, weightOf(value));
  const number = numberInterval(policy, value);
  const interval = product(number, weight);
  // The factors are checked as well: a weight that is always 0 makes the product small, however large the number is.
  if ([number, weight, interval].some(({ low, high }) => larger(absolute(low), absolute(high)) > largestValue))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'The declared grid is too fine for this query: a single row could exceed 61 bits.',
      'Declare a coarser step or narrower bounds for the column.',
    );
  return interval;
}

/** Change when two rows touch at most `touched` of `cells` cells each, for the overlap that is worst. */
function apart(touched: bigint, cells: bigint, { most, range }: Reach): Effect {
  const spare = 2n * touched - cells;
  const shared = spare > 0n ? spare : 0n;
  const apart = 2n * (touched - shared);
  return {
    l1: shared * range.l1 + apart * most.l1,
    l2squared: larger(touched * range.l2squared, shared * range.l2squared + apart * most.l2squared),
  };
}

/** Sensitivity of a count of persons: a person adds 1 to each cell that has a row of theirs, however many rows. */
function ofPersons(rows: bigint, { cells, row }: Shape, present: boolean): Effect {
  const touched = smaller(rows, cells);
  return present ? alone(touched, row) : apart(touched, cells, row);
}

/** Sensitivity to adding or removing a row: every cell it touches changes by its contribution. */
const alone = (touched: bigint, { most }: Reach): Effect => ({ l1: touched * most.l1, l2squared: touched * most.l2squared });

interface Shape {
  readonly counting: Counting;
  /** Cells (or groups) over which a row is spread, and the change of one of them. */
  readonly cells: bigint;
  readonly row: Reach;
  /** Change of one cell when only this column's answer changes and the row stays in its cells. */
  readonly within: (column: string) => Effect;
  /** Further inputs of the sensitivity along pairs. */
  readonly moving: Pick<Moving, 'value' | 'inner'>;
}

const optionCount = (counting: Counting, except?: string): bigint =>
  counting.keys.reduce(
    (k, key) => (key.kind === 'options' && key.column !== except ? k * BigInt(Math.max(1, key.codes.length)) : k),
    1n,
  );

function answerEffect(column: string, { counting, cells, row, within }: Shape): Effect {
  const touched = optionCount(counting);
  const reads = (name: string) => basesOf(counting, name).includes(column);
  const keys = counting.keys.filter((key) => columnsOfKey(key).some(reads));
  const { value } = counting;
  const weight = weightOf(value);
  const valued =
    ('column' in value && value.column !== undefined && reads(value.column)) || (weight !== undefined && reads(weight));
  const whole = apart(touched, cells, row);
  if (keys.length > 0 && valued) return whole;
  const moved = (cellsMoved: bigint, by: Effect): Effect => ({ l1: cellsMoved * by.l1, l2squared: cellsMoved * by.l2squared });
  // If the answer also makes another key, an option named in both answers stands in different cells.
  const options = keys.length === 1 ? keys.find((key) => key.kind === 'options') : undefined;
  const effect = options
    ? moved(optionCount(counting, column) * BigInt(options.size), row.most)
    : keys.length > 0
      ? moved(2n * touched, row.most)
      : valued
        ? moved(touched, within(column))
        : moved(touched, row.most);
  return {
    l1: smaller(effect.l1, whole.l1),
    l2squared: smaller(effect.l2squared, whole.l2squared),
  };
}

function perClass(policy: Policy, shape: Shape): Effects {
  const { secret } = policy.protect;
  if (secret === 'edge')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This policy protects ties of a relation; the rows of the table are not its secret.',
      'Ask a pattern over the relation, or protect rows, persons or answers.',
    );
  const entries: (readonly [RecordClass, Effect])[] = [];
  const touched = optionCount(shape.counting);
  if (policy.known) {
    const full = apart(touched, shape.cells, shape.row);
    return besideKnown(policy, policy.known, { ...shape.moving, counting: shape.counting, touched, most: shape.row.most, full });
  }
  const row = addsRemoves(policy) ? alone(touched, shape.row) : apart(touched, shape.cells, shape.row);
  if (secret === 'answer') {
    const secrets = columnsOf(shape.counting).filter((column) => !policy.columns.get(column)?.public);
    for (const column of secrets) entries.push([answersTo(column), answerEffect(column, shape)]);
    // All of the row as one record: upper bound for any dependence between a person's answers.
    if (secrets.length > 0) entries.push([everyRecord, row]);
  } else {
    const m = secret === 'person' ? BigInt(policy.protect.maxRows) : 1n;
    const { value } = shape.counting;
    const own =
      value.kind === 'distinct' && value.column === undefined
        ? ofPersons((isSteady(policy, shape.counting) ? 1n : m) * touched, shape, addsRemoves(policy))
        : { l1: m * row.l1, l2squared: m * m * row.l2squared };
    entries.push([everyRecord, own]);
    entries.push(...bySlice(policy, shape, row));
  }
  const effects = new Map(entries.filter(([, effect]) => effect.l1 > 0n));
  return withPairs(policy, effects, { ...shape.moving, counting: shape.counting, touched, most: shape.row.most, full: row });
}

/** All rows of one person fall into the same cells. */
const isSteady = ({ view }: Policy, counting: Counting): boolean =>
  counting.keys.every((key) =>
    columnsOfKey(key).every((name) => basesOf(counting, name).every((column) => view?.steady.has(column))),
  );

/**
 * Slices in which a row must lie to be counted, per public column of the query and for all of them together, with the sensitivity
 * to replacing a row by one with the same values of those columns (sensitivity.proof.md, Values of public columns).
 */
function bySlice(policy: Policy, shape: Shape, row: Effect): readonly (readonly [RecordClass, Effect])[] {
  const slicings = slicingsOf(policy);
  const { filter, keys } = shape.counting;
  const { derived = [] } = shape.counting;
  const toldOf = (by: SlicingColumn): readonly Values[] =>
    [
      ...filter.map((test) => valuesPassing(policy, test, by, derived)),
      ...keys.filter((key) => key.kind !== 'joint' && key.column === by.column.name && dropsMissing(key)).map(() => present(by)),
    ].filter((values) => !isEverything(values));
  return readingsOf(policy).flatMap((of): readonly (readonly [RecordClass, Effect])[] => {
    const columns = columnsIn(of).map((column) => slicings.find(({ slicing }) => slicing === column)!);
    const told = columns.map(toldOf);
    const own = keeping(policy, shape, columns, row);
    const less = own.l1 < row.l1 || own.l2squared < row.l2squared;
    if (!less && told.every(({ length }) => length === 0)) return [];
    const boxes = boxesOf(told.map((values) => values.reduce(both, everyValue)));
    return boxes ? [[sliced(of), row], ...boxes.map((box) => [sliceOfAll(of, box), own] as const)] : [];
  });
}

/** Sensitivity to replacing a row by one with the same values of these columns. */
function keeping(policy: Policy, shape: Shape, columns: readonly SlicingColumn[], row: Effect): Effect {
  if (addsRemoves(policy)) return row;
  const fixed = shape.counting.keys.filter((key) => isFixed(shape.counting, key, columns));
  const cells = shape.cells / fixed.reduce((n, { size }) => n * BigInt(size), 1n);
  return apart(optionCount(shape.counting), cells, shape.row);
}

/** Most combinations of values per request; with more, the request counts for all combinations. */
const mostBoxes = 256;

function boxesOf(values: readonly Values[]): readonly Box[] | undefined {
  const several = values.length > 1;
  const pieces = values.map(({ ranges, missing }): readonly Box[number][] =>
    several && isEverything({ ranges, missing }) ? [undefined] : [...ranges, ...(missing ? [none] : [])],
  );
  if (several && pieces.reduce((n, { length }) => n * length, 1) > mostBoxes) return undefined;
  return pieces.reduce<readonly Box[]>((boxes, each) => boxes.flatMap((box) => each.map((piece) => [...box, piece])), [[]]);
}
const none: Range = { from: Number.NaN, to: Number.NaN };

/** The row's position in the key is determined by its values of public columns. */
const isFixed = (counting: Counting, key: RowKey, slicings: readonly SlicingColumn[]): boolean =>
  key.kind !== 'options' &&
  key.kind !== 'joint' &&
  basesOf(counting, key.column).every((name) => slicings.some(({ column }) => column.name === name));
const dropsMissing = (key: RowKey): boolean => key.kind === 'grid' || (key.kind === 'code' && key.missing === 'drop');
const present = ({ first }: SlicingColumn): Values => ({
  ranges: [{ from: first, to: Number.POSITIVE_INFINITY }],
  missing: false,
});

/** Values of a public column that can pass a test, whatever the other cells hold: union over OR, intersection over AND. */
const valuesPassing = (policy: Policy, test: RowTest, by: SlicingColumn, derived: readonly DerivedColumn[]): Values =>
  foldTest(test, {
    leaf: (leaf) => {
      if (leaf.column === by.column.name) return passing(leaf, by);
      return derivedPassing(passesAt(policy, derived, leaf, by.column.name), by);
    },
    any: (parts) => parts.reduce(either, { ranges: [], missing: false }),
    all: (parts) => parts.reduce(both, everyValue),
  });

/** Most values that are tested one by one; with more, all of them are taken to pass. */
const mostValues = 20_000;

/** Values that pass a test on a column derived from this column alone. */
function derivedPassing(passes: ((place: number) => boolean) | undefined, { first, last }: SlicingColumn): Values {
  if (!passes || last - first >= mostValues) return everyValue;
  const ranges: Range[] = [];
  for (let value = first; value <= last; value++)
    if (passes(value - first)) ranges.push({ from: value, to: value === last ? Number.POSITIVE_INFINITY : value });
  return { ranges: inOrder(ranges), missing: passes(-1) };
}

/** Values that pass a test. Numbers beyond the last declared one are clamped to it, so the last range has no upper end. */
function passing(test: LeafTest, { column, first, last }: SlicingColumn): Values {
  const declared = [{ from: first, to: Number.POSITIVE_INFINITY }];
  if (test.kind === 'missing') return test.negate ? { ranges: declared, missing: false } : { ranges: [], missing: true };
  const codes = column.type === 'category' ? codesOf(column) : [];
  const ranges =
    test.kind === 'code'
      ? inOrder(codes.flatMap((code, k) => (test.codes.includes(code) ? [{ from: k, to: k }] : [])))
      : test.from > test.to
        ? []
        : [{ from: first + test.from, to: test.to >= last - first ? Number.POSITIVE_INFINITY : first + test.to }];
  return { ranges: test.negate ? outside(ranges, first) : ranges, missing: false };
}

function outside(ranges: readonly Range[], first: number): readonly Range[] {
  const gaps: Range[] = [];
  let from = first;
  for (const range of ranges) {
    gaps.push({ from, to: range.from - 1 });
    from = range.to + 1;
  }
  return inOrder(Number.isFinite(from) ? [...gaps, { from, to: Number.POSITIVE_INFINITY }] : gaps);
}

/** Replace-one sensitivity of a vector of sums. Proof in sensitivity.proof.md. */
export function sumEffects(declared: Policy, counting: Counting): Effects {
  const policy = withDerived(declared, counting.derived);
  const { value } = counting;
  const { most, range } = sizeOf(valueInterval(policy, value));
  const weight = weightInterval(policy, weightOf(value));
  const number = numberInterval(policy, value);
  const within = (column: string): Effect => {
    // If the column is in both factors: weights are at least 0, so the product changes by at most range(number) times the largest weight.
    const inNumber = value.kind === 'number' && basesOf(counting, value.column).includes(column);
    return ofOne(inNumber ? sizeOf(number).range * sizeOf(weight).most : sizeOf(weight).range * sizeOf(number).most);
  };
  const cells = counting.keys.reduce((n, key) => n * BigInt(key.size), 1n);
  return perClass(policy, { counting, cells, row: { most: ofOne(most), range: ofOne(range) }, within, moving: { value } });
}

/** Replace-one sensitivity of the penalties of a quantile num/den, chosen once per group (all keys but the last, which is the grid). */
export function rankEffects(policy: Policy, counting: Counting, num: bigint, den: bigint): Effects {
  const row = { most: ofOne(larger(num, den - num)), range: ofOne(den) };
  return insideGroups(policy, counting, row, () => ofOne(den));
}

/**
 * Replace-one sensitivity of the numbers that a strategy forms of each group's counts; the last key is the position, the others
 * the group.
 */
export function orderedEffects(policy: Policy, counting: Counting, strategy: Strategy): Effects {
  const most = presenceOf(strategy);
  const move = moveOver(strategy, strategy.ends.length - 1);
  const range = { l1: larger(most.l1, move.l1), l2squared: larger(most.l2squared, move.l2squared) };
  const pieces = endsOnPositions(withDerived(policy, counting.derived), counting.keys.at(-1)!, strategy);
  return insideGroups(policy, counting, { most, range }, (pairs) => moveOver(strategy, endsCrossed(pairs, pieces)));
}

/** Sensitivity where the last key is a value inside the groups of the other keys: changing that answer moves a row within its groups. */
export function insideGroups(declared: Policy, counting: Counting, row: Reach, moves: Inner['moves']): Effects {
  const policy = withDerived(declared, counting.derived);
  const keys = counting.keys.slice(0, -1);
  const inner = counting.keys.at(-1)!;
  const cells = keys.reduce((n, key) => n * BigInt(key.size), 1n);
  const value: RowValue = { kind: 'number', column: columnsOfKey(inner)[0]!, power: 1, origin: 0n, shift: 0n };
  const grouped: Counting = { filter: counting.filter, keys, value, ...(counting.derived && { derived: counting.derived }) };
  return perClass(policy, { counting: grouped, cells, row, within: () => row.range, moving: { inner: { key: inner, moves } } });
}
