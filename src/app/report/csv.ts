import type { PublishedTable } from './published-table.js';
import { visible } from './visible.js';

/**
 * Texts that a spreadsheet takes for a formula, and those that would with a quote before them: both get a quote, so that no two
 * texts become equal.
 */
const formula = /^'*[=+\-@＝＋－＠]/;
const number = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
/** Text from the data, the policy or the query, made safe: a spreadsheet must not run another person's text as a formula. */
const shown = (text: string): string =>
  visible(text)
    .split(/([;|])/)
    .map(asText)
    .join('');

/** Some spreadsheets split lines at semicolons even within quotes: the parts that would begin a cell are made safe as well. */
function asText(part: string): string {
  const rest = part.trimStart();
  return formula.test(rest) && !number.test(rest.trimEnd()) ? `${part.slice(0, part.length - rest.length)}'${rest}` : part;
}

type Cell = string | number | null | undefined;
const quoted = (text: string): string => (/[",;|\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const written = (rows: readonly (readonly Cell[])[], of: (text: string) => string): string =>
  rows.map((row) => `${row.map((cell) => quoted(typeof cell === 'string' ? of(cell) : `${cell ?? ''}`)).join(',')}\n`).join('');

export const csvOf = (rows: readonly (readonly Cell[])[]): string => written(rows, shown);

/** Text unchanged, for a program that reads the same codes back (RFC 4180): synthetic rows replace the data. */
export const exactCsv = (rows: readonly (readonly Cell[])[]): string => written(rows, (text) => text);

/** Codes first, for programs that read them back; labels last. */
export const tableCsv = ({ fields, rows }: PublishedTable): string => csvOf([fields.map(({ name }) => name), ...rows]);
