import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { codesOf } from '../../policy/code.js';
import { declaredCategory, declaredCode } from '../../policy/domain.js';
import { answerLayout, answerTable, defaultAlpha, expectedAnswerError, figureAt, figureCells, noiseOfTerms } from '../answer.js';
import { codeKey } from '../count/measure.js';
import { boundedList, codeForm, columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { testFactor, testNote } from '../sampling.js';
import { type BindingScope, type BoundQuery, selectRows, withKey } from '../scope.js';
import { meanDifference } from '../statistics/difference.js';
import type { GroupTerms } from '../statistics/group-means.js';
import { meanTerms, shareTerms } from '../statistics/groups.js';

const schema = z.strictObject({
  kind: z.literal('compare'),
  /** A number, for a comparison of means; or a category. */
  column: columnNameForm,
  /** For a category: the values whose shares are compared. */
  values: boundedList(codeForm, 'literals').optional(),
  /** Column that defines the two groups, and their two values; its first two when absent. */
  between: columnNameForm,
  groups: z.tuple([codeForm, codeForm]).readonly().optional(),
  ...commonFields,
});
type CompareQuery = z.output<typeof schema>;
const outcomeName = ({ column, values }: CompareQuery): string =>
  values ? `share of ${column} ${values.join(' or ')}` : `mean of ${column}`;
const label = (query: CompareQuery): string => `${outcomeName(query)} between ${query.between}`;

/**
 * Two means, or two shares, and their difference: with the error of the noise, and of noise and sampling
 * (../statistics/difference.proof.md).
 */
function bind(query: CompareQuery, scope: BindingScope): BoundQuery {
  const rows = selectRows(scope.policy, query);
  const groups = groupsOf(scope, query);
  const key = codeKey(
    query.between,
    groups.map((group) => [group]),
  );
  const two = withKey(rows, { key, labels: groups });
  const read = query.values ? shareTerms(scope, two, query.column, query.values) : meanTerms(scope, two, query.column);
  const factors = testFactor(scope.policy, query, [query.between]);
  const figures = [...groups, `${groups[0]} less ${groups[1]}`, 'p-value'];
  const columns = [query.between, query.name ?? outcomeName(query)];
  const layout = answerLayout(query, label(query), figureCells(rows.cells, figures), columns);
  return {
    finish: (noisy) => {
      const all = rows.cells.map((__, group) =>
        meanDifference([0, 1].map((side) => read.group(2 * group + side)) as [GroupTerms, GroupTerms], noisy, factors),
      );
      return { ...answerTable(layout, 'propagated', (k) => figureAt(all, k)), note: testNote(scope.policy) };
    },
    expectedError: (noise) => {
      // Of one of two groups of half the rows each.
      const { deviation, half } = noiseOfTerms([read.term], noise);
      const wider = 2 * Math.SQRT2;
      const size = { standardError: wider * deviation, halfWidth: wider * half(defaultAlpha), perRow: true };
      return expectedAnswerError(layout, 'propagated', size);
    },
  };
}

function groupsOf(scope: BindingScope, { between, groups }: CompareQuery): readonly [string, string] {
  const column = declaredCategory(scope.policy, between);
  const [a, b] = groups?.map((group) => declaredCode(column, group)) ?? codesOf(column);
  if (a !== undefined && b !== undefined && a !== b) return [a, b];
  throw new Fault('QUERY_INVALID', `"${between}" does not name two groups.`, 'Write "groups": ["a", "b"].');
}

export const compareKind: QueryKind<typeof schema> = { schema, label, bind };
