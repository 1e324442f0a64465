import type { ScanColumn } from './scan.js';

/**
 * The strength in a cell as a double that is a whole number only where the cell says that number: "1.0000000000000001" is more than 1, and the nearest double
 * is 1. Whoever reads it takes the next larger double of every other.
 */
export function oddsIn({ expression, type }: ScanColumn): string {
  const read = `try_cast(${expression} AS DOUBLE)`;
  if (type !== 'text') return read;
  const whole = `regexp_full_match(${expression}, '\\s*[+]?[0-9]+(?:\\.0*)?\\s*') AND ${read} < 9007199254740992`;
  return `CASE WHEN ${read} = floor(${read}) AND NOT (${whole}) THEN ${read} * 1.0000000000000002::DOUBLE ELSE ${read} END`;
}
