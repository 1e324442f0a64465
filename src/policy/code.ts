import type { CategoryColumn, MultiColumn } from './policy.js';

/** A whole number with nothing but noughts behind its point or comma, for whoever reads codes: a table that once held NaN writes 1 as `1.0`, one with commas as `1,0`. */
export const wholeCode = '^([+-]?[0-9]+)[.,]0+$';
const whole = new RegExp(wholeCode);

/** The one spelling of a category code: `1`, `1.0`, `1,0` and ` 1` are one. Policy, codebook and engine all pass through here, so that a code means the same in each. */
export function codeText(text: string): string {
  const trimmed = text.trim();
  return trimmed.endsWith('0') ? trimmed.replace(whole, '$1') : trimmed;
}

/** Blanks around a code do not count, in the data as in the policy. */
export const trimCode = (text: string): string => text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');

const answers = new WeakMap<CategoryColumn | MultiColumn, readonly string[]>();

/** The codes that count as answers. */
export function codesOf(column: CategoryColumn | MultiColumn): readonly string[] {
  const known = answers.get(column);
  if (known) return known;
  const missing = new Set(column.missing.map(trimCode));
  const codes = [...new Set(column.values.map(trimCode))].filter((code) => !missing.has(code));
  answers.set(column, codes);
  return codes;
}

/** The level of cells that hold no answer: NULL, NaN, infinities, declared missing codes and codes outside the domain. */
export const missingLabel = '(missing)';

/**
 * The most letters of a cell of options: four times what it takes to name them all, and never few. A longer one names nothing. How long it takes to part a cell must
 * not depend on what one record holds.
 */
export function longestOptions(column: MultiColumn): number {
  const all = column.values.reduce((letters, value) => letters + [...value].length + [...column.separator].length, 0);
  return Math.max(4096, 4 * all);
}
