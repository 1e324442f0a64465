/**
 * The one spelling of a category code. Files write the code 1 as `1`, `1.0` (a table that once held NaN) or ` 1`; policy, codebook and engine
 * all pass through here, so that a code means the same in each.
 */
export function codeText(text: string): string {
  const trimmed = text.trim();
  return trimmed.endsWith('0') ? trimmed.replace(/^([+-]?\d+)\.0+$/, '$1') : trimmed;
}
