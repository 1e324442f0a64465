import type { ScanColumn } from './scan.js';

/**
 * Odds ratio in a cell as a double that is whole only if the cell spells that number: "1.0000000000000001"
 * exceeds 1, but the nearest double is 1. The reader takes the next larger double of every other value.
 */
export function oddsIn({ expression, type }: ScanColumn): string {
  const read = `try_cast(${expression} AS DOUBLE)`;
  if (type !== 'text') return read;
  const whole = `regexp_full_match(${expression}, '\\s*[+]?[0-9]+(?:\\.0*)?\\s*') AND ${read} < 9007199254740992`;
  return `CASE WHEN ${read} = floor(${read}) AND NOT (${whole}) THEN ${read} * 1.0000000000000002::DOUBLE ELSE ${read} END`;
}
