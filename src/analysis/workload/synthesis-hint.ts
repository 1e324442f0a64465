import type { Policy } from '../../policy/policy.js';
import type { ExpectedError } from '../../query/bound.js';
import type { Workload } from './form.js';

/** Least number of tables of the hint (decision 0073): with few tables there is nothing to leave out. */
const minTables = 20;
/** Share of the rows of an average table; above it synthetic rows were nearer in every measurement, below half of it they were not. */
const muchNoise = 1 / 20;
/** Most columns listed by name in the hint. */
const maxNamed = 12;

/**
 * Share of the rows of an average table that noise is expected to put into wrong cells: half of the absolute error of all cells. May
 * exceed 1.
 */
export function misplacedShare(errors: readonly ExpectedError[], records: number): number {
  const each = errors.map(({ cells, standardError }) => (cells * standardError * Math.sqrt(2 / Math.PI)) / 2 / records);
  return each.reduce((a, b) => a + b, 0) / each.length;
}

/** Hint that synthetic rows would be nearer, where noise is a large part of many tables, and what they lack. */
export function synthesisHint(
  { known, protect }: Pick<Policy, 'known' | 'protect'>,
  { tables, columns, aim }: Pick<Workload, 'tables' | 'columns' | 'aim'>,
  errors: readonly ExpectedError[],
  records: number,
): string | undefined {
  const plain = tables.every(({ views }) => views.every(({ view }) => !view.questions));
  // If answers are the secret a table pays for its own columns and a row for all of them: another cost, so no hint.
  if (known || protect.secret === 'answer' || aim === 'largest' || !plain) return undefined;
  if (tables.length < minTables || records <= 0) return undefined;
  // For persons the most rows they can have: the hint is given too rarely rather than too often.
  const part = misplacedShare(errors, records * (protect.secret === 'person' ? protect.maxRows : 1));
  if (part <= muchNoise) return undefined;
  const moved = part < 1 ? `about ${Math.round(100 * part)} of 100 rows` : 'more rows than there are';
  const names = columns.length <= maxNamed ? columns.map(({ name }) => name).join(',') : 'NAMES';
  return `Noise puts ${moved} of an average table into wrong cells. Synthetic rows spend the same on the tables that matter most and usually come nearer, without error bars: fugu synth POLICY --columns ${names} --out synth.csv.`;
}
