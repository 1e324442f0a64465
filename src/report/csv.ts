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

const cell = (value: string | number | null | undefined): string => {
  const text = typeof value === 'string' ? shown(value) : value === null || value === undefined ? '' : String(value);
  return /[",;|\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
export const csvOf = (rows: readonly (readonly (string | number | null | undefined)[])[]): string =>
  rows.map((row) => `${row.map(cell).join(',')}\n`).join('');

/** Codes first, for programs that read them back; what they mean comes last. */
export const tableCsv = ({ fields, rows }: PublishedTable): string => csvOf([fields.map(({ name }) => name), ...rows]);
