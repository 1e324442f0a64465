import type { SourceViewColumn } from './data-view.js';
import type { Dialect } from './dialect.js';
import type { SourceColumn } from './engine.js';
import type { CellReadings } from './source.js';

/** A table as it is shown: what follows FROM, and each column as an expression that no cell makes fail. */
export interface ShownTable<Column extends ShownColumn = ShownColumn> {
  readonly from: string;
  readonly columns: readonly Column[];
}
export interface ShownColumn extends SourceColumn, SourceViewColumn {
  /** The same where cells themselves leave a server, or rows are put together there: without texts that are longer than any that is read. */
  readonly short?: string;
}

/**
 * Bytes of a text that is read from a database; a longer one is missing, as in a CSV (csv/cut.ts). No code and no number is so long, and a server fails at what it could
 * otherwise make of a cell of hundreds of megabytes: one record would decide between an answer and a fault.
 */
export const longestText = 2 ** 16;

/** The same table for statements that fetch its cells. */
export const shortTable = ({ from, columns }: ShownTable): ShownTable => ({
  from,
  columns: columns.map(({ short, ...column }) => ({ ...column, ...(short !== undefined && { expression: short }) })),
});

export type NumberReadings = Pick<CellReadings, 'numbers' | 'commas' | 'dates'>;

/** The column as the policy reads it: dates as days, text from which only numbers are read as those numbers. */
export function declaredColumn(
  dialect: Dialect,
  column: ShownColumn,
  { numbers, commas, dates }: NumberReadings,
): Pick<ShownColumn, 'name' | 'type' | 'expression' | 'costly' | 'short'> {
  const { name, type, expression } = column;
  const costly = dialect.fence !== undefined && { costly: true };
  const text = type === 'text' ? expression : dialect.text(expression);
  if (dates?.has(name)) return { name, type: 'integer', expression: dialect.dayInText(text), ...costly };
  if (type !== 'text' || !numbers?.has(name)) return column;
  return { name, type: 'real', expression: dialect.numberInText(text, commas?.has(name) ? ',' : '.'), ...costly };
}
