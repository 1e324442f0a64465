import { multiply, rational, toNumber } from '../../base/exact/rational.js';
import { firstPosition } from '../bins.js';
import { isCoded } from '../domain.js';
import { gridOf } from '../grid.js';
import { isReadAsIs, numberReadingText, roundedCells } from '../number-reading.js';
import type { NumberColumn, Policy, WeightColumn } from '../policy.js';
import type { PairsDeclaration } from './pairs.js';
import { stepsWithin } from './steps.js';

/** Warnings about pairs of numbers for which cells and their readings differ, one sentence per column. */
export function readingWarnings({ protect, columns }: Pick<Policy, 'protect' | 'columns'>): readonly string[] {
  return (protect.pairs?.declarations ?? []).flatMap((declared) => {
    const column = columns.get(declared.columns[0]!);
    return column && !isCoded(column) && declared.columns.length === 1
      ? [...aboutWithin(column, declared), ...aboutEdges(column, declared)]
      : [];
  });
}

const asRead = (column: NumberColumn | WeightColumn): string =>
  `Numbers are compared as they are read (${numberReadingText(column)}).`;

function aboutWithin(column: NumberColumn | WeightColumn, { within }: PairsDeclaration): readonly string[] {
  const isMultiple = within !== undefined && (within.num * column.step.den) % (within.den * column.step.num) === 0n;
  if (within === undefined || isMultiple) return [];
  const reach = toNumber(multiply(column.step, rational(stepsWithin(column, within))));
  const more = isReadAsIs(column) ? 'Other cells are rounded first' : 'No two cells that near are distinguished';
  return [
    `Pairs of "${column.name}" are declared within ${toNumber(within)}, which is no multiple of its step. ${asRead(column)} Values up to ${reach} apart are pairs. ${more}.`,
  ];
}

function aboutEdges(column: NumberColumn | WeightColumn, { edges = [] }: PairsDeclaration): readonly string[] {
  const grid = gridOf(column);
  const across = edges.flatMap((edge) => {
    const cells = roundedCells(column, toNumber(edge), firstPosition(grid, edge));
    return cells ? [{ edge, cells }] : [];
  });
  const [first] = across;
  if (!first) return [];
  const { low, high, upward } = first.cells;
  const others = across.length > 1 ? ` The same holds at ${across.length - 1} more of its edges.` : '';
  return [
    `At the edge ${toNumber(first.edge)} of "${column.name}", cells from ${low} to below ${high} belong to the block ${upward ? 'above' : 'below'} it. ${asRead(column)}${others} Write edges halfway between two steps, or declare a finer step, where that is not meant.`,
  ];
}
