import { codesOf } from '../../policy/code.js';
import { declaredColumn, declaredNumber, declaredWeight, isCoded } from '../../policy/domain.js';
import { gridOf, type NumberGrid, unitsAt } from '../../policy/grid.js';
import { pairCliques, type ValueRun } from '../../policy/pairs/cliques.js';
import type { ColumnPairs, Pairs } from '../../policy/pairs/pairs.js';
import type { Column, Policy } from '../../policy/policy.js';
import { everyRecord, paired, pairsClass } from '../../privacy/mechanism/record-class.js';
import type { RecordSensitivity, Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import {
  absolute,
  larger,
  largerSensitivity,
  overCells,
  overRecords,
  scalarSensitivity,
  smaller,
  smallerSensitivity,
} from './bounds.js';
import {
  type CellValue,
  dropped,
  dropsMissing,
  keyCell,
  keysInside,
  leafPredicate,
  pieceStarts,
  type SimpleKey,
} from './key-cell.js';
import { type Counting, columnsOfKey, type GroupKey, type RowValue, stableText } from './measure.js';
import { columnsTested, columnTests, type LeafTest, leavesOf, mayPass, type RowTest } from './row-test.js';

/** Key inside the cells, and the change of a cell when a row moves there along pairs of that column. */
export interface InnerKey {
  readonly key: GroupKey;
  readonly moves: (pairs: ColumnPairs | undefined) => Sensitivity;
}

/** The part of a measure that decides its sensitivity along pairs. */
export interface PairMove {
  readonly counting: Pick<Counting, 'filter' | 'keys' | 'derived'>;
  /** The grid of a quantile, the positions of ordered counts. */
  readonly inner?: InnerKey;
  /** Value that a row adds to its cells, where it adds one. */
  readonly value?: RowValue;
  /** Cells that a row touches, its largest contribution to one, and the change of all when it is replaced by any other row or removed. */
  readonly touched: bigint;
  readonly most: Sensitivity;
  readonly full: Sensitivity;
}

/** Without ties, only a record's own change reveals anything about it. */
export const hasNoTies = ({ dependence, undecided }: Pick<Policy, 'dependence' | 'undecided'>): boolean =>
  dependence.length === 0 && undecided !== true;

/**
 * Adds the sensitivity to replacing a row along a pair. If no pair changes the measure and there are no ties,
 * it depends on no protected value: it has no class and needs no noise.
 */
export function withPairSensitivity(policy: Policy, sensitivity: RecordSensitivity, moving: PairMove): RecordSensitivity {
  const { pairs, secret, maxRows } = policy.protect;
  const full = sensitivity.get(everyRecord);
  // Answers take no pairs (pairs.proof.md).
  if (!pairs || !full || secret === 'answer') return sensitivity;
  // All rows of a person may move at once.
  const rows = secret === 'person' ? BigInt(maxRows) : 1n;
  const own = smallerSensitivity(overRecords(rows, pairSensitivity(policy, pairs, moving)), full);
  if (own.l1 === 0n && hasNoTies(policy)) return new Map();
  return new Map([
    ...sensitivity,
    [paired(pairs.digest), full],
    ...(own.l1 > 0n ? [[pairsClass(pairs.digest), own] as const] : []),
  ]);
}

/**
 * Sensitivity to replacing a row along a pair, when each column stays or moves along a pair of its own (sensitivity.proof.md,
 * Along pairs).
 */
export function pairSensitivity(policy: Policy, pairs: Pairs, moving: PairMove): Sensitivity {
  const { inner, value, touched, most, full } = moving;
  const moves = pairMoves(policy, pairs, moving);
  const within =
    moves.inside && inner
      ? inner.moves(pairs.columns.get(columnsOfKey(inner.key)[0]!))
      : scalarSensitivity(value ? valueMoves(policy, pairs, value) : 0n);
  const staying = overCells(touched, moves.out ? largerSensitivity(within, most) : within);
  const over = touched === 1n ? overCells(2n, most) : full;
  return smallerSensitivity(moves.over ? largerSensitivity(over, staying) : staying, full);
}

/** Many strategies are tried on the same counts. */
const moveCache = new WeakMap<Policy, WeakMap<Pairs, Map<string, Moves>>>();
function pairMoves(policy: Policy, pairs: Pairs, { counting, inner }: PairMove): Moves {
  const byPairs = moveCache.get(policy) ?? new WeakMap<Pairs, Map<string, Moves>>();
  moveCache.set(policy, byPairs);
  const all = byPairs.get(pairs) ?? new Map<string, Moves>();
  byPairs.set(pairs, all);
  const keys = inner ? [...counting.keys, inner.key] : counting.keys;
  const text = stableText([counting.filter, counting.keys, inner?.key ?? null]);
  const there = inner && all.get(text);
  if (there) return there;
  const reads = new Set([...columnsTested(counting.filter), ...keys.flatMap(columnsOfKey)]);
  const moves = { out: false, over: false, inside: false };
  for (const name of reads) {
    if (counting.derived?.some((derived) => derived.name === name)) {
      // A pair of a base column may change the derived value in any way.
      [moves.out, moves.over, moves.inside] = [true, true, true];
      continue;
    }
    const column = declaredColumn(policy, name);
    recordMoves(moves, column, pairs.columns.get(name), {
      name,
      ...columnTests(counting.filter, name),
      keys: counting.keys.flatMap(keysInside).filter((key) => key.column === name),
      inner: inner && columnsOfKey(inner.key).includes(name) ? inner.key : undefined,
    });
  }
  if (inner) all.set(text, moves);
  return moves;
}

interface ColumnUse {
  readonly name: string;
  readonly tests: readonly LeafTest[];
  /** Trees in which some leaf tests this column. */
  readonly trees: readonly RowTest[];
  readonly keys: readonly SimpleKey[];
  readonly inner: GroupKey | undefined;
}
/** Outcome of a row as decided by one column: counted or not, in which cell, and where inside it. */
interface RowOutcome {
  /** Counted, if the other columns allow it. */
  readonly counted: boolean;
  /** Results of the filter's trees that this column decides: with equal results, a row has the same outcome. */
  readonly treeResults: string;
  readonly place: string;
  readonly inside: string;
}
interface Moves {
  /** A pair leads from a row that is counted to one that is not. */
  out: boolean;
  /** One leads from a cell to another. */
  over: boolean;
  inside: boolean;
}

function recordMoves(moves: Moves, column: Column, pairs: ColumnPairs | undefined, use: ColumnUse): void {
  if (column.type === 'multi') {
    if (pairs?.form === 'same') return;
    moves.out ||= use.tests.length + use.trees.length > 0 || use.keys.some(dropsMissing);
    moves.over ||= use.keys.length > 0;
    return;
  }
  const { pieces, missing } = outcomesIn(column, use, false);
  for (const set of pairCliques(pairs, pieces, missing)) {
    const counted = [...set].filter((kind) => kind.counted);
    moves.out ||=
      counted.length > 0 &&
      (counted.length < set.size || counted.some(({ treeResults }) => treeResults !== counted[0]!.treeResults));
    moves.over ||= counted.some(({ place }) => place !== counted[0]!.place);
  }
  if (use.inner) moves.inside ||= movesInside(pairs, outcomesIn(column, use, true));
}

/** There may be thousands of places inside: one pair that leads from one to another is enough. */
function movesInside(pairs: ColumnPairs | undefined, { pieces, missing }: ReturnType<typeof outcomesIn>): boolean {
  for (const set of pairCliques(pairs, pieces, missing)) {
    const counted = [...set].filter((kind) => kind.counted);
    if (counted.some(({ inside }) => inside !== counted[0]!.inside)) return true;
  }
  return false;
}

/**
 * Positions of a column in pieces that tests and keys treat alike, equal outcomes being one object;
 * `fine`: pieces also have one place inside the cell.
 */
function outcomesIn(column: Exclude<Column, { type: 'multi' }>, { name, tests, trees, keys, inner }: ColumnUse, fine: boolean) {
  const known = new Map<string, RowOutcome>();
  const passing = tests.map(leafPredicate);
  const parts = leavesOf(trees).filter((leaf) => leaf.column === name);
  const partPasses = new Map(parts.map((leaf) => [leaf, leafPredicate(leaf)]));
  const placing = keys.map(keyCell);
  const inside = inner ? keyCell(inner as SimpleKey) : undefined;
  const outcomeOf = (value: CellValue): RowOutcome => {
    const places = placing.map((place) => place(value));
    const within = inside?.(value);
    const counted =
      passing.every((test) => test(value)) &&
      trees.every((tree) => mayPass(tree, name, (leaf) => partPasses.get(leaf)!(value))) &&
      !places.includes(dropped) &&
      within !== dropped;
    const treeResults = parts.map((leaf) => (partPasses.get(leaf)!(value) ? 1 : 0)).join('');
    const kind = counted
      ? { counted, treeResults, place: places.join(), inside: fine ? `${within}` : '' }
      : { counted, treeResults: '', place: '', inside: '' };
    const text = `${kind.counted} ${kind.treeResults} ${kind.place} ${kind.inside}`;
    known.set(text, known.get(text) ?? kind);
    return known.get(text)!;
  };
  if (isCoded(column)) {
    const pieces = codesOf(column).map((code, k): ValueRun<RowOutcome> => ({ from: k, to: k, kind: outcomeOf(code) }));
    return { pieces, missing: outcomeOf(null) };
  }
  const { last } = gridOf(column);
  const sorted = pieceStarts(last, [...tests, ...parts], inner && fine ? [...keys, inner as SimpleKey] : keys);
  const pieces = sorted.map(
    (from, i): ValueRun<RowOutcome> => ({ from, to: (sorted[i + 1] ?? last + 1) - 1, kind: outcomeOf(from) }),
  );
  return { pieces, missing: outcomeOf(null) };
}

/** Largest change of a row's value along a pair: of its number, its weight, or both at once. */
function valueMoves(policy: Policy, pairs: Pairs, value: RowValue): bigint {
  if (value.kind === 'one') return 0n;
  // The old value or person may be replaced by another.
  if (value.kind === 'distinct') return 1n;
  const asIs = { power: 1, origin: 0n, shift: 0n } as const;
  const weight =
    value.weight === undefined
      ? constantFactor
      : factorOf(gridOf(declaredWeight(policy, value.weight)), pairs.columns.get(value.weight), asIs);
  const number =
    value.kind === 'weight'
      ? constantFactor
      : factorOf(gridOf(declaredNumber(policy, value.column)), pairs.columns.get(value.column), value);
  const both = number.moves * weight.most + number.most * weight.moves;
  return number.lost || weight.lost ? larger(both, number.most * weight.most) : both;
}

/** Factor of a product: its largest size, its largest change along a pair, and whether a pair leads to no answer, which adds nothing. */
interface ProductFactor {
  readonly most: bigint;
  readonly moves: bigint;
  readonly lost: boolean;
}
type PowerTerm = Pick<Extract<RowValue, { kind: 'number' }>, 'power' | 'origin' | 'shift'>;

const constantFactor: ProductFactor = { most: 1n, moves: 0n, lost: false };

function factorOf(grid: NumberGrid, pairs: ColumnPairs | undefined, curve: PowerTerm): ProductFactor {
  const [low, high] = extremesOf(grid, curve, 0, grid.last);
  return {
    most: larger(absolute(low), absolute(high)),
    moves: moveOf(grid, pairs, curve),
    lost: pairs === undefined || pairs.missing === 'any',
  };
}

function moveOf(grid: NumberGrid, pairs: ColumnPairs | undefined, curve: PowerTerm): bigint {
  const { last } = grid;
  const span = (from: number, to: number): bigint => {
    const [low, high] = extremesOf(grid, curve, from, to);
    return high - low;
  };
  if (pairs === undefined) return span(0, last);
  // A convex curve changes most at the ends.
  if (pairs.form === 'steps') return larger(span(0, Math.min(last, pairs.steps)), span(Math.max(0, last - pairs.steps), last));
  if (pairs.form !== 'ranges') return 0n;
  const starts = [0, ...pairs.starts, last + 1];
  return starts.slice(1).reduce((most, end, k) => larger(most, span(starts[k]!, end - 1)), 0n);
}

/** The least and the largest of (u - origin)^power - shift over positions in a row. */
function extremesOf(grid: NumberGrid, { power, origin, shift }: PowerTerm, from: number, to: number): readonly [bigint, bigint] {
  const at = (p: number): bigint => (unitsAt(grid, p) - origin) ** BigInt(power) - shift;
  const [a, b] = [at(from), at(to)];
  const [low, high] = [smaller(a, b), larger(a, b)];
  if (power === 1) return [low, high];
  // The least square is at the position next to the origin, on either side.
  const middle = Number((origin - grid.lowUnits) / grid.stride);
  const near = [middle - 1, middle, middle + 1].filter((p) => p >= from && p <= to).map(at);
  return [near.reduce(smaller, low), high];
}
