import type { ColumnLevels, Resolution } from '../../privacy/dependence/model/resolution.js';
import { type CellValue, keyCell, keysInside, leafPredicate, pieceStarts, type SimpleKey } from './key-cell.js';
import type { Counting } from './measure.js';
import { columnsOf, declaredBases, namesIn, valueColumns } from './measure.js';
import { columnTests, type LeafTest, leavesOf, mayPass } from './row-test.js';

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
  readonly value: CellValue;
  /** Number of declared values that it holds. */
  readonly size: number;
}

function columnDependsOnLevels(counting: Counting, levels: ColumnLevels): boolean {
  const { column } = levels;
  // A derived column may distinguish any two values of its base.
  if (namesIn(counting).some((name) => name !== column && declaredBases(counting, name).includes(column))) return false;
  const { tests, trees } = columnTests(counting.filter, column);
  const parts = leavesOf(trees).filter((leaf) => leaf.column === column);
  const keys = counting.keys.flatMap(keysInside).filter((key) => key.column === column);
  const passesTest = new Map([...tests, ...parts].map((leaf) => [leaf, leafPredicate(leaf)]));
  const cells = keys.map(keyCell);
  const valued = valueColumns(counting.value).includes(column);
  const seen = new Map<number, string>();
  for (const piece of pieces(levels, [...tests, ...parts], keys)) {
    const passes =
      tests.every((test) => passesTest.get(test)!(piece.value)) &&
      trees.every((tree) => mayPass(tree, column, (leaf) => passesTest.get(leaf)!(piece.value)));
    // A missing number adds nothing, and so does a row that is left out; all other numbers add something of their own.
    if (passes && valued && piece.value !== null && piece.size > 1) return false;
    const adds = passes && !(valued && piece.value === null);
    const leafResults = parts.map((leaf) => passesTest.get(leaf)!(piece.value));
    const text = adds ? JSON.stringify([cells.map((cell) => cell(piece.value)), valued && piece.value, leafResults]) : 'nothing';
    if ((seen.get(piece.level) ?? text) !== text) return false;
    seen.set(piece.level, text);
  }
  return true;
}

function pieces(
  { values, missing = -1 }: ColumnLevels,
  tests: readonly LeafTest[],
  keys: readonly SimpleKey[],
): readonly Piece[] {
  const none: Piece = { level: missing, value: null, size: 1 };
  if (values.kind === 'codes') return [...[...values.levelOf].map(([value, level]) => ({ level, value, size: 1 })), none];
  const { runs, last } = values;
  const sorted = pieceStarts(
    last,
    tests,
    keys,
    runs.map(({ from }) => from),
  );
  let run = 0;
  const cut = sorted.map((from, i): Piece => {
    while (run + 1 < runs.length && runs[run + 1]!.from <= from) run++;
    return { level: runs[run]!.level, value: from, size: (sorted[i + 1] ?? last + 1) - from };
  });
  return [...cut, none];
}
