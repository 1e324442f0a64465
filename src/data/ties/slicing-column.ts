import { toText } from '../../base/exact/rational.js';
import { sha256 } from '../../base/platform/hash.js';
import { codesOf } from '../../policy/code.js';
import { dataSource, hasOneSource } from '../../policy/data-source.js';
import { gridOf, positionOf, unboundedGrid } from '../../policy/grid.js';
import type { CategoryColumn, Column, NumberColumn, Policy } from '../../policy/policy.js';
import { type Slicing, slicingOf } from '../../privacy/mechanism/record-class.js';
import { codeIndex, codeTables, numberOf } from '../engine/codes.js';
import type { Cell } from '../engine/engine.js';

/**
 * A public column by whose values costs are recorded: two neighbouring records have the
 * same value. Its values are numbered, codes in their order, whole numbers as they are.
 */
export interface SlicingColumn {
  readonly slicing: Slicing;
  readonly column: CategoryColumn | NumberColumn;
  /** The number of the first and of the last declared value. */
  readonly first: number;
  readonly last: number;
  readonly missing: readonly number[];
  /** Number of the value in a cell; of whole numbers not clamped from above (docs/explanation/decisions/0095). NaN for none. */
  readonly read: (cell: Cell) => number;
}

/** By a column of whole numbers. */
export function slicingBy(name: string, policy: Policy): SlicingColumn | undefined {
  const column = policy.columns.get(name);
  return column?.type === 'integer' ? slicingsBy(column, policy)[0] : undefined;
}

export const slicingsBy = (column: Column, policy: Policy): readonly SlicingColumn[] =>
  slicingsWithin(column, policy, hasOneSource(policy) ? undefined : dataSource(policy));

/** The same under the names of version 0.2, which did not hold the data source. */
export const slicingsBefore = (column: Column, policy: Policy): readonly SlicingColumn[] =>
  slicingsWithin(column, policy, undefined);

/** Digest of the reading of an integer column, whatever its upper bound; undefined for other columns. */
export function readingDigest(policy: Policy, name: string): string | undefined {
  const column = policy.columns.get(name);
  return column?.type === 'integer' ? slicingsBefore(column, policy)[0]?.slicing.replace(/^.*#/s, '') : undefined;
}

function slicingsWithin(column: Column, { data: { encoding } }: Policy, source: string | undefined): readonly SlicingColumn[] {
  // A day and a whole number are read from different cells.
  const type = 'date' in column && column.date ? 'date' : column.type;
  const kind = encoding === undefined ? type : `${type} in ${encoding}`;
  if (column.type === 'category') {
    const codes = codesOf(column);
    const tables = codeTables(codes);
    const read = (cell: Cell) => {
      const index = codeIndex(tables, cell);
      return index < 0 ? Number.NaN : index;
    };
    return [
      {
        slicing: slicingOf(column.name, digest([kind, ...codes], source)),
        column,
        first: 0,
        last: codes.length - 1,
        missing: [],
        read,
      },
    ];
  }
  // Steps that are not ones would be numbered by their places, and times by themselves.
  if (column.type !== 'integer') return [];
  const unbounded = unboundedGrid(column);
  if (!unbounded) return [];
  const grid = gridOf(column);
  const low = Number(column.bounds[0].num);
  // The upper end may be moved: costs beyond it are recorded from the last value
  // on (query/count/sensitivity.ts). The lower end decides how halves are rounded.
  const read = (cell: Cell) => {
    const position = positionOf(unbounded, numberOf(cell, column.decimal));
    return position < 0 ? Number.NaN : low + position;
  };
  const slicing = slicingOf(
    column.name,
    digest([kind, toText(column.bounds[0]), column.decimal ?? '.', ...grid.missing], source),
  );
  return [{ slicing, column, first: low, last: low + grid.last, missing: grid.missing, read }];
}

/**
 * Digest of every property of the reading except its upper end: costs recorded under another reading count for everybody,
 * and so do those in another table, where a person may have another value (privacy/mechanism/slices.proof.md).
 */
const digest = (reading: readonly (string | number)[], source: string | undefined): string =>
  sha256(JSON.stringify(source === undefined ? reading : [[source], ...reading])).slice(0, 12);
