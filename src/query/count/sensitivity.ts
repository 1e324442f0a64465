import { Fault } from '../../base/errors.js';
import type { SlicingColumn } from '../../data/ties/slicing-column.js';
import { readingsOf, slicingsOf } from '../../data/ties/slicings.js';
import { codesOf } from '../../policy/code.js';
import { declaredNumber, declaredWeight } from '../../policy/domain.js';
import { gridOf, unitsAt } from '../../policy/grid.js';
import { isAddRemove } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import type { ValueBox } from '../../privacy/mechanism/joint-costs.js';
import { moveSensitivity, presenceSensitivity, type Strategy } from '../../privacy/mechanism/ordered/strategy.js';
import { answersTo, columnsIn, everyRecord, type RecordClass, sliced, sliceOfAll } from '../../privacy/mechanism/record-class.js';
import type { RecordSensitivity, Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import {
  allValues,
  commonValues,
  coversAllValues,
  type Range,
  sortRanges,
  unionOfValues,
  type ValueSet,
} from '../../privacy/mechanism/slices.js';
import { type DerivedColumn, passesAt, withDerived } from './derived.js';
import { knownTotalsSensitivity } from './known-sensitivity.js';
import { type Counting, columnsOf, columnsOfKey, declaredBases, type GroupKey, type RowValue, weightColumn } from './measure.js';
import { endsCrossed, endsOnPositions } from './ordered-positions.js';
import { type InnerKey, type PairMove, withPairSensitivity } from './pair-sensitivity.js';
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
interface CellSensitivity {
  readonly most: Sensitivity;
  readonly range: Sensitivity;
}
const absolute = (x: bigint): bigint => (x < 0n ? -x : x);
function larger(...list: bigint[]): bigint {
  let most = list[0]!;
  for (const x of list) if (x > most) most = x;
  return most;
}
const smaller = (a: bigint, b: bigint): bigint => -larger(-a, -b);
const withZero = ({ low, high }: Interval): Interval => ({ low: low < 0n ? low : 0n, high: high > 0n ? high : 0n });
const scalarSensitivity = (by: bigint): Sensitivity => ({ l1: by, l2squared: by ** 2n });
const sizeOf = (interval: Interval): { readonly most: bigint; readonly range: bigint } => {
  const { low, high } = withZero(interval);
  return { most: larger(-low, high), range: high - low };
};

/** Every per-row value, and every step on the way to it, fits 62 bits, so 2^64 rows fit the 127 bits of HUGEINT: sums cannot overflow. */
const largestValue = 2n ** 61n;

const weightInterval = (policy: Policy, name: string | undefined): Interval => {
  if (name === undefined) return { low: 1n, high: 1n };
  const grid = gridOf(declaredWeight(policy, name));
  return { low: unitsAt(grid, 0), high: unitsAt(grid, grid.last) };
};
const product = (a: Interval, b: Interval): Interval => {
  const ends = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  return { low: -larger(...ends.map((x) => -x)), high: larger(...ends) };
};

/** Range of the number factor of a value, before weighting. */
function numberInterval(policy: Policy, value: RowValue): Interval {
  if (value.kind !== 'number') return { low: 1n, high: 1n };
  const grid = gridOf(declaredNumber(policy, value.column));
  const low = unitsAt(grid, 0) - value.origin;
  const high = unitsAt(grid, grid.last) - value.origin;
  if (value.power === 1) return { low: low - value.shift, high: high - value.shift };
  const least = low <= 0n && high >= 0n ? 0n : larger(-absolute(low), -absolute(high)) ** 2n;
  return { low: least - value.shift, high: larger(absolute(low), absolute(high)) ** 2n - value.shift };
}

/** Range of a row's contribution over all rows. */
export function valueInterval(policy: Policy, value: RowValue): Interval {
  const weight = weightInterval(policy, weightColumn(value));
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
function replaceSensitivity(touched: bigint, cells: bigint, { most, range }: CellSensitivity): Sensitivity {
  const spare = 2n * touched - cells;
  const shared = spare > 0n ? spare : 0n;
  const unshared = 2n * (touched - shared);
  return {
    l1: shared * range.l1 + unshared * most.l1,
    l2squared: larger(touched * range.l2squared, shared * range.l2squared + unshared * most.l2squared),
  };
}

/** Sensitivity of a count of persons: a person adds 1 to each cell that has a row of theirs, however many rows. */
function personCountSensitivity(rows: bigint, { cells, row }: CountingShape, present: boolean): Sensitivity {
  const touched = smaller(rows, cells);
  return present ? addRemoveSensitivity(touched, row) : replaceSensitivity(touched, cells, row);
}

/** Sensitivity to adding or removing a row: every cell it touches changes by its contribution. */
const addRemoveSensitivity = (touched: bigint, { most }: CellSensitivity): Sensitivity => ({
  l1: touched * most.l1,
  l2squared: touched * most.l2squared,
});

interface CountingShape {
  readonly counting: Counting;
  /** Cells (or groups) over which a row is spread, and the change of one of them. */
  readonly cells: bigint;
  readonly row: CellSensitivity;
  /** Change of one cell when only this column's answer changes and the row stays in its cells. */
  readonly within: (column: string) => Sensitivity;
  /** Further inputs of the sensitivity along pairs. */
  readonly moving: Pick<PairMove, 'value' | 'inner'>;
}

const optionCount = (counting: Counting, except?: string): bigint =>
  counting.keys.reduce(
    (k, key) => (key.kind === 'options' && key.column !== except ? k * BigInt(Math.max(1, key.codes.length)) : k),
    1n,
  );

function answerSensitivity(column: string, { counting, cells, row, within }: CountingShape): Sensitivity {
  const touched = optionCount(counting);
  const reads = (name: string) => declaredBases(counting, name).includes(column);
  const keys = counting.keys.filter((key) => columnsOfKey(key).some(reads));
  const { value } = counting;
  const weight = weightColumn(value);
  const valued =
    ('column' in value && value.column !== undefined && reads(value.column)) || (weight !== undefined && reads(weight));
  const whole = replaceSensitivity(touched, cells, row);
  if (keys.length > 0 && valued) return whole;
  const moved = (cellsMoved: bigint, by: Sensitivity): Sensitivity => ({
    l1: cellsMoved * by.l1,
    l2squared: cellsMoved * by.l2squared,
  });
  // If the answer also makes another key, an option named in both answers stands in different cells.
  const options = keys.length === 1 ? keys.find((key) => key.kind === 'options') : undefined;
  const bound = options
    ? moved(optionCount(counting, column) * BigInt(options.size), row.most)
    : keys.length > 0
      ? moved(2n * touched, row.most)
      : valued
        ? moved(touched, within(column))
        : moved(touched, row.most);
  return {
    l1: smaller(bound.l1, whole.l1),
    l2squared: smaller(bound.l2squared, whole.l2squared),
  };
}

function sensitivityPerClass(policy: Policy, shape: CountingShape): RecordSensitivity {
  const { secret } = policy.protect;
  if (secret === 'edge')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This policy protects ties of a relation; the rows of the table are not its secret.',
      'Ask a pattern over the relation, or protect rows, persons or answers.',
    );
  const entries: (readonly [RecordClass, Sensitivity])[] = [];
  const touched = optionCount(shape.counting);
  if (policy.known) {
    const full = replaceSensitivity(touched, shape.cells, shape.row);
    return knownTotalsSensitivity(policy, policy.known, {
      ...shape.moving,
      counting: shape.counting,
      touched,
      most: shape.row.most,
      full,
    });
  }
  const row = isAddRemove(policy)
    ? addRemoveSensitivity(touched, shape.row)
    : replaceSensitivity(touched, shape.cells, shape.row);
  if (secret === 'answer') {
    const secrets = columnsOf(shape.counting).filter((column) => !policy.columns.get(column)?.public);
    for (const column of secrets) entries.push([answersTo(column), answerSensitivity(column, shape)]);
    // All of the row as one record: upper bound for any dependence between a person's answers.
    if (secrets.length > 0) entries.push([everyRecord, row]);
  } else {
    const m = secret === 'person' ? BigInt(policy.protect.maxRows) : 1n;
    const { value } = shape.counting;
    const own =
      value.kind === 'distinct' && value.column === undefined
        ? personCountSensitivity((isSteady(policy, shape.counting) ? 1n : m) * touched, shape, isAddRemove(policy))
        : { l1: m * row.l1, l2squared: m * m * row.l2squared };
    entries.push([everyRecord, own]);
    entries.push(...sensitivityBySlice(policy, shape, row));
  }
  const sensitivity = new Map(entries.filter(([, bound]) => bound.l1 > 0n));
  return withPairSensitivity(policy, sensitivity, {
    ...shape.moving,
    counting: shape.counting,
    touched,
    most: shape.row.most,
    full: row,
  });
}

/** All rows of one person fall into the same cells. */
const isSteady = ({ view }: Policy, counting: Counting): boolean =>
  counting.keys.every((key) =>
    columnsOfKey(key).every((name) => declaredBases(counting, name).every((column) => view?.steady.has(column))),
  );

/**
 * Slices in which a row must lie to be counted, per public column of the query and for all of them together, with the sensitivity
 * to replacing a row by one with the same values of those columns (sensitivity.proof.md, Values of public columns).
 */
function sensitivityBySlice(
  policy: Policy,
  shape: CountingShape,
  row: Sensitivity,
): readonly (readonly [RecordClass, Sensitivity])[] {
  const slicings = slicingsOf(policy);
  const { filter, keys } = shape.counting;
  const { derived = [] } = shape.counting;
  const valuesAllowed = (by: SlicingColumn): readonly ValueSet[] =>
    [
      ...filter.map((test) => valuesPassing(policy, test, by, derived)),
      ...keys
        .filter((key) => key.kind !== 'joint' && key.column === by.column.name && dropsMissing(key))
        .map(() => presentValues(by)),
    ].filter((values) => !coversAllValues(values));
  return readingsOf(policy).flatMap((of): readonly (readonly [RecordClass, Sensitivity])[] => {
    const columns = columnsIn(of).map((column) => slicings.find(({ slicing }) => slicing === column)!);
    const allowed = columns.map(valuesAllowed);
    const own = sameSliceSensitivity(policy, shape, columns, row);
    const less = own.l1 < row.l1 || own.l2squared < row.l2squared;
    if (!less && allowed.every(({ length }) => length === 0)) return [];
    const boxes = boxesOf(allowed.map((values) => values.reduce(commonValues, allValues)));
    return boxes ? [[sliced(of), row], ...boxes.map((box) => [sliceOfAll(of, box), own] as const)] : [];
  });
}

/** Sensitivity to replacing a row by one with the same values of these columns. */
function sameSliceSensitivity(
  policy: Policy,
  shape: CountingShape,
  columns: readonly SlicingColumn[],
  row: Sensitivity,
): Sensitivity {
  if (isAddRemove(policy)) return row;
  const fixed = shape.counting.keys.filter((key) => isFixed(shape.counting, key, columns));
  const cells = shape.cells / fixed.reduce((n, { size }) => n * BigInt(size), 1n);
  return replaceSensitivity(optionCount(shape.counting), cells, shape.row);
}

/** Most combinations of values per request; with more, the request counts for all combinations. */
const maxBoxes = 256;

function boxesOf(values: readonly ValueSet[]): readonly ValueBox[] | undefined {
  const several = values.length > 1;
  const pieces = values.map(({ ranges, missing }): readonly ValueBox[number][] =>
    several && coversAllValues({ ranges, missing }) ? [undefined] : [...ranges, ...(missing ? [none] : [])],
  );
  if (several && pieces.reduce((n, { length }) => n * length, 1) > maxBoxes) return undefined;
  return pieces.reduce<readonly ValueBox[]>((boxes, each) => boxes.flatMap((box) => each.map((piece) => [...box, piece])), [[]]);
}
const none: Range = { from: Number.NaN, to: Number.NaN };

/** The row's position in the key is determined by its values of public columns. */
const isFixed = (counting: Counting, key: GroupKey, slicings: readonly SlicingColumn[]): boolean =>
  key.kind !== 'options' &&
  key.kind !== 'joint' &&
  declaredBases(counting, key.column).every((name) => slicings.some(({ column }) => column.name === name));
const dropsMissing = (key: GroupKey): boolean => key.kind === 'grid' || (key.kind === 'code' && key.missing === 'drop');
const presentValues = ({ first }: SlicingColumn): ValueSet => ({
  ranges: [{ from: first, to: Number.POSITIVE_INFINITY }],
  missing: false,
});

/** Values of a public column that can pass a test, whatever the other cells hold: union over OR, intersection over AND. */
const valuesPassing = (policy: Policy, test: RowTest, by: SlicingColumn, derived: readonly DerivedColumn[]): ValueSet =>
  foldTest(test, {
    leaf: (leaf) => {
      if (leaf.column === by.column.name) return leafValues(leaf, by);
      return derivedPassing(passesAt(policy, derived, leaf, by.column.name), by);
    },
    any: (parts) => parts.reduce(unionOfValues, { ranges: [], missing: false }),
    all: (parts) => parts.reduce(commonValues, allValues),
  });

/** Most values that are tested one by one; with more, all of them are taken to pass. */
const maxValues = 20_000;

/** Values that pass a test on a column derived from this column alone. */
function derivedPassing(passes: ((place: number) => boolean) | undefined, { first, last }: SlicingColumn): ValueSet {
  if (!passes || last - first >= maxValues) return allValues;
  const ranges: Range[] = [];
  for (let value = first; value <= last; value++)
    if (passes(value - first)) ranges.push({ from: value, to: value === last ? Number.POSITIVE_INFINITY : value });
  return { ranges: sortRanges(ranges), missing: passes(-1) };
}

/** Values that pass a test. Numbers beyond the last declared one are clamped to it, so the last range has no upper end. */
function leafValues(test: LeafTest, { column, first, last }: SlicingColumn): ValueSet {
  const declared = [{ from: first, to: Number.POSITIVE_INFINITY }];
  if (test.kind === 'missing') return test.negate ? { ranges: declared, missing: false } : { ranges: [], missing: true };
  const codes = column.type === 'category' ? codesOf(column) : [];
  const ranges =
    test.kind === 'code'
      ? sortRanges(codes.flatMap((code, k) => (test.codes.includes(code) ? [{ from: k, to: k }] : [])))
      : test.from > test.to
        ? []
        : [{ from: first + test.from, to: test.to >= last - first ? Number.POSITIVE_INFINITY : first + test.to }];
  return { ranges: test.negate ? complement(ranges, first) : ranges, missing: false };
}

function complement(ranges: readonly Range[], first: number): readonly Range[] {
  const gaps: Range[] = [];
  let from = first;
  for (const range of ranges) {
    gaps.push({ from, to: range.from - 1 });
    from = range.to + 1;
  }
  return sortRanges(Number.isFinite(from) ? [...gaps, { from, to: Number.POSITIVE_INFINITY }] : gaps);
}

/** Replace-one sensitivity of a vector of sums. Proof in sensitivity.proof.md. */
export function sumSensitivity(declared: Policy, counting: Counting): RecordSensitivity {
  const policy = withDerived(declared, counting.derived);
  const { value } = counting;
  const { most, range } = sizeOf(valueInterval(policy, value));
  const weight = weightInterval(policy, weightColumn(value));
  const number = numberInterval(policy, value);
  const within = (column: string): Sensitivity => {
    // If the column is in both factors: weights are at least 0, so the product changes by at most range(number) times the largest weight.
    const inNumber = value.kind === 'number' && declaredBases(counting, value.column).includes(column);
    return scalarSensitivity(inNumber ? sizeOf(number).range * sizeOf(weight).most : sizeOf(weight).range * sizeOf(number).most);
  };
  const cells = counting.keys.reduce((n, key) => n * BigInt(key.size), 1n);
  return sensitivityPerClass(policy, {
    counting,
    cells,
    row: { most: scalarSensitivity(most), range: scalarSensitivity(range) },
    within,
    moving: { value },
  });
}

/** Replace-one sensitivity of the penalties of a quantile num/den, chosen once per group (all keys but the last, which is the grid). */
export function rankSensitivity(policy: Policy, counting: Counting, num: bigint, den: bigint): RecordSensitivity {
  const row = { most: scalarSensitivity(larger(num, den - num)), range: scalarSensitivity(den) };
  return withinGroupSensitivity(policy, counting, row, () => scalarSensitivity(den));
}

/**
 * Replace-one sensitivity of the numbers that a strategy forms of each group's counts; the last key is the position, the others
 * the group.
 */
export function orderedSensitivity(policy: Policy, counting: Counting, strategy: Strategy): RecordSensitivity {
  const most = presenceSensitivity(strategy);
  const move = moveSensitivity(strategy, strategy.ends.length - 1);
  const range = { l1: larger(most.l1, move.l1), l2squared: larger(most.l2squared, move.l2squared) };
  const pieces = endsOnPositions(withDerived(policy, counting.derived), counting.keys.at(-1)!, strategy);
  return withinGroupSensitivity(policy, counting, { most, range }, (pairs) =>
    moveSensitivity(strategy, endsCrossed(pairs, pieces)),
  );
}

/** Sensitivity where the last key is a value inside the groups of the other keys: changing that answer moves a row within its groups. */
export function withinGroupSensitivity(
  declared: Policy,
  counting: Counting,
  row: CellSensitivity,
  moves: InnerKey['moves'],
): RecordSensitivity {
  const policy = withDerived(declared, counting.derived);
  const keys = counting.keys.slice(0, -1);
  const inner = counting.keys.at(-1)!;
  const cells = keys.reduce((n, key) => n * BigInt(key.size), 1n);
  const value: RowValue = { kind: 'number', column: columnsOfKey(inner)[0]!, power: 1, origin: 0n, shift: 0n };
  const grouped: Counting = { filter: counting.filter, keys, value, ...(counting.derived && { derived: counting.derived }) };
  return sensitivityPerClass(policy, {
    counting: grouped,
    cells,
    row,
    within: () => row.range,
    moving: { inner: { key: inner, moves } },
  });
}
