import * as z from 'zod';
import { declaredNumber } from '../../policy/domain.js';
import { answerLayout, answerTable, expectedAnswerError, figureCells } from '../answer.js';
import type { AnswerRow } from '../bound.js';
import { boundedList, columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import type { BindingScope, BoundQuery } from '../scope.js';
import { countInterval, type GroupEstimates, type OrderedPositions, orderedCounts } from './ordered.js';

const schema = z.strictObject({
  kind: z.literal('cdf'),
  column: columnNameForm,
  /** Shares strictly between 0 and 1, at most three decimals: the quantiles are released in place of the distribution. */
  at: boundedList(z.number().gt(0).lt(1).multipleOf(0.001), 'shares').optional(),
  ...commonFields,
});
type CdfQuery = z.output<typeof schema>;
const label = ({ column, at }: CdfQuery): string =>
  at ? `${at.map((share) => `quantile ${share}`).join(', ')} of ${column}` : `distribution of ${column}`;

/** Number of rows at or below each value: the whole distribution, or quantiles read from it. */
function bind(query: CdfQuery, scope: BindingScope): BoundQuery {
  if (query.at) declaredNumber(scope.policy, query.column);
  const counts = orderedCounts(query, scope);
  const { positions, groups } = counts;
  const { size } = positions;
  const { at } = query;
  const shown = at ? at.map(String) : Array.from({ length: size }, (_, p) => positions.last(p));
  const columns = at ? ['at', query.name ?? query.column] : [query.column, query.name ?? 'rows up to it'];
  const layout = answerLayout(query, label(query), figureCells(groups, shown), columns);
  const each = at ? at.length : size;
  return {
    finish: (noisy) => {
      const read = counts.read(noisy);
      let group = read.group(0);
      return answerTable(layout, at ? 'propagated' : 'combined', (i) => {
        if (i > 0 && i % each === 0) group = read.group(i / each);
        return at ? quantileAt(group, positions, at[i % each]!) : prefixAt(group, size, (i % each) + 1);
      });
    },
    expectedError: (noise) => {
      let widest = { standardError: 0, halfWidth: 0 };
      for (let to = 1; to <= size; to++) {
        const next = counts.expectedError(noise, 0, to);
        if (next.standardError > widest.standardError) widest = next;
      }
      return expectedAnswerError(layout, at ? 'rank' : 'combined', widest);
    },
  };
}

function prefixAt(group: GroupEstimates, size: number, to: number): Omit<AnswerRow, 'keys'> {
  const all = group.cumulative[size]!;
  const part = all > 0 ? Math.min(1, group.cumulative[to]! / all) : undefined;
  const half = part === undefined ? 0 : group.beyond(to, part).halfWidth / all;
  return {
    ...countInterval(group.cumulative[to]!, group.range(0, to)),
    share:
      part === undefined
        ? { value: null, low: 0, high: 1 }
        : { value: part, low: Math.max(0, part - half), high: Math.min(1, part + half) },
  };
}

/**
 * First position at which the cumulative count reaches that share; the interval holds every position the noise does not rule out,
 * with 2.5 % for too few rows up to it and 2.5 % for enough rows before it (ordered.proof.md, 5).
 */
function quantileAt(group: GroupEstimates, positions: OrderedPositions, part: number): Omit<AnswerRow, 'keys'> {
  const { size } = positions;
  const { cumulative } = group;
  const rank = part * cumulative[size]!;
  if (!(cumulative[size]! > 0)) return { value: null, standardError: null, low: null, high: null };
  let found = 0;
  while (found < size - 1 && cumulative[found + 1]! < rank) found++;
  let [low, high] = [found, found];
  for (let p = 0; p < size; p++) {
    // Compared by the monotone counts: with raw counts, which rise and fall by chance, distant positions would always seem possible.
    if (
      cumulative[p + 1]! - rank < -group.beyond(p + 1, part).halfWidth ||
      cumulative[p]! - rank > group.beyond(p, part).halfWidth
    )
      continue;
    low = Math.min(low, p);
    high = Math.max(high, p);
  }
  return {
    value: Number(positions.last(found)),
    standardError: null,
    low: Number(positions.first(low)),
    high: Number(positions.last(high)),
  };
}

export const cdfKind: QueryKind<typeof schema> = { schema, label, bind };
