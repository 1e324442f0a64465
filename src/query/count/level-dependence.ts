import type { ColumnLevels, Resolution } from '../../privacy/dependence/model/resolution.js';
import type { Counting, GroupKey } from './measure.js';
import { columnsOf, declaredBases, namesIn, weightColumn } from './measure.js';
import { columnsTested, isLeaf, type LeafTest, leavesOf, mayPass } from './row-test.js';

/**
 * True where a row's contribution depends on its answers through their levels only: tests, keys and value treat all values
 * of a level alike, column by column. Columns without levels (public, or tied by statements about any value) may be read in full.
 */
export function dependsOnLevels(counting: Counting, { columns }: Resolution): boolean {
  return columnsOf(counting).every((name) => {
    const levels = columns.get(name);
    return levels === undefined || columnDependsOnLevels(counting, levels);
  });
}

/** The declared values of a column in pieces that tests and keys treat alike, each with its level. */
interface Piece {
  readonly level: number;
  /** A code, a grid position that represents the piece, or no answer. */
  readonly value: string | number | null;
  /** Number of declared values that it holds. */
  readonly size: number;
}

function columnDependsOnLevels(counting: Counting, levels: ColumnLevels): boolean {
  const { column } = levels;
  // A derived column may distinguish any two values of its base.
  if (namesIn(counting).some((name) => name !== column && declaredBases(counting, name).includes(column))) return false;
  const tests = counting.filter.filter((test) => isLeaf(test) && test.column === column) as LeafTest[];
  const trees = counting.filter.filter((test) => !isLeaf(test) && columnsTested([test]).includes(column));
  const parts = leavesOf(trees).filter((leaf) => leaf.column === column);
  const keys = counting.keys.flatMap(keysInside).filter(({ column }) => column === levels.column);
  const valued = valuedColumns(counting).includes(levels.column);
  const seen = new Map<number, string>();
  for (const piece of pieces(levels, [...tests, ...parts], keys)) {
    const passes =
      tests.every((test) => passesTest(test, piece.value)) &&
      trees.every((tree) => mayPass(tree, column, (leaf) => passesTest(leaf, piece.value)));
    // A missing number adds nothing, and so does a row that is left out; all other numbers add something of their own.
    if (passes && valued && piece.value !== null && piece.size > 1) return false;
    const adds = passes && !(valued && piece.value === null);
    const leafResults = parts.map((leaf) => passesTest(leaf, piece.value));
    const text = adds
      ? JSON.stringify([keys.map((key) => keyPlace(key, piece.value)), valued && piece.value, leafResults])
      : 'nothing';
    if ((seen.get(piece.level) ?? text) !== text) return false;
    seen.set(piece.level, text);
  }
  return true;
}

type SimpleKey = Exclude<GroupKey, { kind: 'joint' }>;
const keysInside = (key: GroupKey): readonly SimpleKey[] => (key.kind === 'joint' ? key.keys : [key]);
const valuedColumns = ({ value }: Counting): readonly string[] => [
  ...('column' in value && value.column !== undefined ? [value.column] : []),
  ...(weightColumn(value) === undefined ? [] : [weightColumn(value)!]),
];

function pieces(
  { values, missing = -1 }: ColumnLevels,
  tests: readonly LeafTest[],
  keys: readonly SimpleKey[],
): readonly Piece[] {
  const none: Piece = { level: missing, value: null, size: 1 };
  if (values.kind === 'codes') return [...[...values.levelOf].map(([value, level]) => ({ level, value, size: 1 })), none];
  const { runs, last } = values;
  const starts = [
    ...runs.map(({ from }) => from),
    ...tests.flatMap((test) => (test.kind === 'range' ? [test.from, test.to + 1] : [])),
    ...keys.flatMap(keyStarts),
  ].filter((p) => p >= 0 && p <= last);
  const sorted = [...new Set(starts)].sort((a, b) => a - b);
  let run = 0;
  const cut = sorted.map((from, i): Piece => {
    while (run + 1 < runs.length && runs[run + 1]!.from <= from) run++;
    return { level: runs[run]!.level, value: from, size: (sorted[i + 1] ?? last + 1) - from };
  });
  return [...cut, none];
}

function keyStarts(key: SimpleKey): readonly number[] {
  if (key.kind === 'bin') return key.edges;
  return key.kind === 'grid' ? Array.from({ length: key.size }, (_, j) => j * key.width) : [];
}

function passesTest(test: LeafTest, value: Piece['value']): boolean {
  if (test.kind === 'missing') return (value === null) !== test.negate;
  if (value === null) return false;
  const inside = test.kind === 'code' ? test.codes.includes(`${value}`) : Number(value) >= test.from && Number(value) <= test.to;
  return inside !== test.negate;
}

/** Position in the key; a code in no group has the position of a missing answer. */
function keyPlace(key: SimpleKey, value: Piece['value']): number | string {
  if (value === null) return 'missing';
  if (key.kind === 'bin') return key.edges.filter((edge) => Number(value) >= edge).length;
  if (key.kind === 'grid') return Math.floor(Number(value) / key.width);
  const groups = key.kind === 'code' ? key.groups : key.codes.map((code) => [code]);
  const at = groups.findIndex((codes) => codes.includes(`${value}`));
  return at < 0 ? 'missing' : at;
}
