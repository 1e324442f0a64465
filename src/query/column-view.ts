import type { Cell } from '../engine/engine.js';
import type { CategoryColumn, Column, MultiColumn } from '../policy/policy.js';
import { codeIndex, codeTables, numberOf, optionText } from './codes.js';
import { codesOf, isCoded, trimCode } from './domain.js';
import { gridOf, positionOf } from './grid.js';

export type Cells = ArrayLike<Cell>;

/** Most distinct cells remembered per column; beyond it cells are read anew (garbage must not fill the memory). */
const mostRemembered = 50_000;

/** Remembers the reading of each distinct cell. */
function remembered<T>(read: (cell: Cell) => T): (cell: Cell) => T {
  const known = new Map<Cell, T>();
  return (cell) => {
    const found = known.get(cell);
    if (found !== undefined) return found;
    const value = read(cell);
    if (known.size < mostRemembered) known.set(cell, value);
    return value;
  };
}

/** A column of the current chunk, read through the policy. Readings are made on first use and shared by all measures. */
export interface ColumnView {
  turn(cells: Cells, rows: number): void;
  /** Codes: index in the declared domain. Numbers: grid position. -1 is missing. (Multi-select: 0 when any option is named.) */
  indices(): Float64Array;
  /** Multi-select: the options named by row i. */
  options(i: number): readonly number[];
}

function optionReader(column: MultiColumn): (cell: Cell) => readonly number[] {
  const { text } = codeTables(codesOf(column));
  return remembered((cell) => {
    const whole = optionText(cell);
    if (whole === undefined) return [];
    const named = new Set(whole.split(column.separator).map((part) => text.get(trimCode(part)) ?? -1));
    named.delete(-1);
    return [...named].sort((a, b) => a - b);
  });
}

function codeReader(column: CategoryColumn): (cell: Cell) => number {
  const tables = codeTables(codesOf(column));
  return remembered((cell) => codeIndex(tables, cell));
}

function indexReader(column: Column): (cell: Cell) => number {
  if (isCoded(column)) {
    if (column.type === 'category') return codeReader(column);
    const read = optionReader(column);
    return (cell) => (read(cell).length > 0 ? 0 : -1);
  }
  const grid = gridOf(column);
  const inText = remembered((cell) => positionOf(grid, numberOf(cell)));
  return (cell) => (typeof cell === 'string' ? inText(cell) : positionOf(grid, numberOf(cell)));
}

export function viewColumn(column: Column): ColumnView {
  const read = indexReader(column);
  const options = column.type === 'multi' ? optionReader(column) : () => [];
  let cells: Cells = [];
  let rows = 0;
  let fresh = false;
  let buffer = new Float64Array(0);
  return {
    turn(next, count) {
      cells = next;
      rows = count;
      fresh = false;
    },
    indices() {
      if (fresh) return buffer;
      if (buffer.length < rows) buffer = new Float64Array(rows);
      for (let i = 0; i < rows; i++) buffer[i] = read(cells[i] ?? null);
      fresh = true;
      return buffer;
    },
    options: (i) => options(cells[i] ?? null),
  };
}
