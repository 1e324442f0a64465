import { createHash } from 'node:crypto';
import { codeIndex, codeTables, numberOf } from '../engine/codes.js';
import type { Cell } from '../engine/engine.js';
import { add, compare, one, rational, toText } from '../exact/rational.js';
import { type Slicing, slicingOf } from '../mechanism/record-class.js';
import { codesOf } from '../policy/code.js';
import { gridOf, positionOf } from '../policy/grid.js';
import type { CategoryColumn, Column, NumberColumn, Policy } from '../policy/policy.js';

/**
 * A column by which costs are booked: everybody knows which value a record has, and two records that are compared have the same. Its values are numbered, codes in their
 * order, whole numbers as they are.
 */
export interface SlicingColumn {
  readonly slicing: Slicing;
  readonly column: CategoryColumn | NumberColumn;
  /** The number of the first and of the last declared value. */
  readonly first: number;
  readonly last: number;
  /** Numbers that mean no value. */
  readonly missing: readonly number[];
  /** Number of the value in a cell, as every count reads it; NaN for none. */
  readonly read: (cell: Cell) => number;
}

/** By a column of whole numbers. */
export function slicingBy(name: string, policy: Pick<Policy, 'columns' | 'data'>): SlicingColumn | undefined {
  const column = policy.columns.get(name);
  return column?.type === 'integer' ? slicingsBy(column, policy)[0] : undefined;
}

export function slicingsBy(column: Column, { data: { encoding } }: Pick<Policy, 'data'>): readonly SlicingColumn[] {
  const kind = encoding === undefined ? column.type : `${column.type} in ${encoding}`;
  if (column.type === 'category') {
    const codes = codesOf(column);
    const tables = codeTables(codes);
    const read = (cell: Cell) => {
      const index = codeIndex(tables, cell);
      return index < 0 ? Number.NaN : index;
    };
    return [
      {
        slicing: slicingOf(column.name, digest([kind, ...codes])),
        column,
        first: 0,
        last: codes.length - 1,
        missing: [],
        read,
      },
    ];
  }
  // Steps that are not ones would be numbered by their places, and times by themselves.
  if (column.type !== 'integer' || column.bounds[0].den !== 1n || compare(column.step, one) !== 0) return [];
  const grid = gridOf(column);
  const low = Number(column.bounds[0].num);
  // The end may be moved: who lies beyond it is booked as lying beyond it (effects.ts), and is looked up where he lies. The beginning decides how halves are rounded.
  const endless = gridOf({ ...column, bounds: [column.bounds[0], add(column.bounds[0], rational(beyond))] });
  const read = (cell: Cell) => {
    const position = positionOf(endless, numberOf(cell));
    return position < 0 ? Number.NaN : low + position;
  };
  const slicing = slicingOf(column.name, digest([kind, toText(column.bounds[0]), column.decimal ?? '.', ...grid.missing]));
  return [{ slicing, column, first: low, last: low + grid.last, missing: grid.missing, read }];
}

/** No declared end lies further from its beginning. */
const beyond = 2 ** 39;

/** Of all that a reading of the column depends on but its end: costs that were booked by another reading count for everybody. */
const digest = (reading: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(reading)).digest('hex').slice(0, 12);
