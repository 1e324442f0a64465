import type { PublishedTable } from './published-table.js';
import { visible } from './visible.js';

/** What a spreadsheet takes for a formula, and what would be taken for that with a quote before it: both get one, so that no two texts become one. */
const formula = /^'*[=+\-@＝＋－＠]/;
const number = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
/** Text from the data, the policy or the query, as text: whoever opens the file in a spreadsheet must not run what somebody else wrote. */
const shown = (text: string): string =>
  visible(text)
    .split(/([;|])/)
    .map(asText)
    .join('');

/** Some spreadsheets split a line at semicolons whatever quotes say: what would then begin a cell is text, too. */
function asText(part: string): string {
  const rest = part.trimStart();
  return formula.test(rest) && !number.test(rest.trimEnd()) ? `${part.slice(0, part.length - rest.length)}'${rest}` : part;
}

type Cell = string | number | null | undefined;
const quoted = (text: string): string => (/[",;|\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const written = (rows: readonly (readonly Cell[])[], of: (text: string) => string): string =>
  rows.map((row) => `${row.map((cell) => quoted(typeof cell === 'string' ? of(cell) : `${cell ?? ''}`)).join(',')}\n`).join('');

export const csvOf = (rows: readonly (readonly Cell[])[]): string => written(rows, shown);

/** Every text as it is, for a program that reads the same codes back (RFC 4180): synthetic rows stand where the data stood. */
export const exactCsv = (rows: readonly (readonly Cell[])[]): string => written(rows, (text) => text);

/** Codes first, for programs that read them back; what they mean comes last. */
export const tableCsv = ({ fields, rows }: PublishedTable): string => csvOf([fields.map(({ name }) => name), ...rows]);
