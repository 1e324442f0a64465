import { createHash } from 'node:crypto';
import { type Axis, type Counting, columnsOfKey, countedText, type Measure, textOf } from '../count/measure.js';
import type { Policy } from '../policy/policy.js';
import { canonicalPath } from '../policy/population.js';
import { placeOf, readingOf } from './request-key.js';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Two answers on one ground are about the same rows of the same files: budget and quotas may have changed between them, whose rows are counted may not. What the files hold does not
 * enter (docs/decisions/0008): whether that has changed shows in how well the answers agree.
 */
export function groundOf(policy: Policy): string {
  const { data, protect, dependence, relations, population } = policy;
  return hash(
    textOf([
      canonicalPath(data.source),
      data.table ?? null,
      data.encoding ?? null,
      protect.secret,
      protect.unit ?? null,
      // Which rows of a person are kept hangs on all that is declared of them, and under pairs on how many there are.
      protect.secret === 'person'
        ? [population, protect.maxRows ?? null, protect.pairs !== undefined, data.links ?? null, readingOf(policy)]
        : null,
      // Ties may leave records out.
      dependence,
      [...relations.values()].map((relation) => [relation.name, placeOf(relation.table)]),
    ]),
  );
}

/** A whole table of rows by columns, without a filter: the columns, and how their cells are read. */
export interface WholeTable {
  readonly by: readonly string[];
  readonly of: string;
}

/** What a measure counts, where that is a whole table. */
export function wholeTable(measure: Measure, policy: Policy): WholeTable | undefined {
  const { counting } = measure;
  const whole =
    measure.mechanism === 'additive' &&
    !measure.seen &&
    !measure.published &&
    counting.filter.length === 0 &&
    counting.value.kind === 'one' &&
    !counting.derived;
  return whole && isWhole(counting.keys) ? tableBy(policy, counting.keys) : undefined;
}
const isWhole = (keys: Counting['keys']): keys is readonly Axis[] =>
  keys.every((key) => key.kind === 'bin' || (key.kind === 'code' && key.missing === 'cell'));

/** Two tables with one text count the same rows in the same cells. */
export const tableBy = (policy: Policy, keys: readonly Axis[]): WholeTable => ({
  by: keys.flatMap(columnsOfKey),
  of: hash(
    countedText(
      [{ counting: { filter: [], keys, value: { kind: 'one' } } as Counting, mechanism: 'additive' } as Measure],
      policy,
    ),
  ),
});
