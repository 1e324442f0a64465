import type { CategoryColumn, MultiColumn } from './policy.js';

/**
 * Whole number with only zeros after its decimal mark, as tables write codes after a conversion: 1 as `1.0` (a column that once
 * held NaN) or `1,0`.
 */
export const wholeCode = '^([+-]?[0-9]+)[.,]0+$';
const whole = new RegExp(wholeCode);

/**
 * Canonical spelling of a category code: `1`, `1.0`, `1,0` and ` 1` are equal. Policy, codebook and engine all use this function.
 */
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
