import type { PublishedTable } from './published-table.js';
import { visible } from './visible.js';

/** What a spreadsheet takes for a formula, and what would be taken for that with a quote before it: both get one, so that no two texts become one. */
const formula = /^'*[=+\-@＝＋－＠]/;
const number = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
/** Text from the data, the policy or the query, as text: whoever opens the file in a spreadsheet must not run what somebody else wrote. */
const shown = (text: string): string => {
  const seen = visible(text);
  return formula.test(seen) && !number.test(seen) ? `'${seen}` : seen;
};

const cell = (value: string | number | null | undefined): string => {
  const text = typeof value === 'string' ? shown(value) : value === null || value === undefined ? '' : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
export const csvOf = (rows: readonly (readonly (string | number | null | undefined)[])[]): string =>
  rows.map((row) => `${row.map(cell).join(',')}\n`).join('');

/** Codes first, for programs that read them back; what they mean comes last. */
export const tableCsv = ({ fields, rows }: PublishedTable): string => csvOf([fields.map(({ name }) => name), ...rows]);
