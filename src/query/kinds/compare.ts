import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { codesOf } from '../../policy/code.js';
import { categoryNamed, declaredCode } from '../../policy/domain.js';
import { foreseen, noiseOf, table } from '../answer.js';
import type { AnswerRow } from '../bound.js';
import type { CodeKey } from '../count/measure.js';
import { asked, code, columnName, list } from '../form.js';
import type { QueryKind } from '../kind.js';
import { testFactor, testNote } from '../sampling.js';
import { type BoundQuery, furtherBy, rowsOf, type Scope } from '../scope.js';
import { difference } from '../statistics/difference.js';
import type { Group } from '../statistics/group-means.js';
import { meansOf, sharesOf } from '../statistics/groups.js';

const schema = z.strictObject({
  kind: z.literal('compare'),
  /** A number, for a comparison of means; or a category. */
  column: columnName,
  /** For a category: the values whose shares are compared. */
  values: list(code, 'literals').optional(),
  /** Column that defines the two groups, and their two values; its first two when absent. */
  between: columnName,
  groups: z.tuple([code, code]).readonly().optional(),
  ...asked,
});
type CompareQuery = z.output<typeof schema>;
const what = ({ column, values }: CompareQuery): string =>
  values ? `share of ${column} ${values.join(' or ')}` : `mean of ${column}`;
const label = (query: CompareQuery): string => `${what(query)} between ${query.between}`;

/**
 * Two means, or two shares, and their difference: with the error of the noise, and of noise and sampling
 * (../statistics/difference.proof.md).
 */
function bind(query: CompareQuery, scope: Scope): BoundQuery {
  const rows = rowsOf(scope.policy, query);
  const groups = groupsOf(scope, query);
  const key: CodeKey = {
    kind: 'code',
    column: query.between,
    groups: groups.map((group) => [group]),
    missing: 'drop',
    size: 2,
  };
  const two = furtherBy(rows, { key, labels: groups });
  const read = query.values ? sharesOf(scope, two, query.column, query.values) : meansOf(scope, two, query.column);
  const factors = testFactor(scope.policy, query, [query.between]);
  const told = [...groups, `${groups[0]} less ${groups[1]}`, 'p-value'];
  const layout = {
    query,
    label: label(query),
    columns: [...(query.by ?? []), query.between, query.name ?? what(query)],
    cells: rows.cells.flatMap((labels) => told.map((name) => [...labels, name])),
  };
  return {
    finish: (noisy) => {
      const all = rows.cells.map((__, group) =>
        difference([0, 1].map((side) => read.group(2 * group + side)) as [Group, Group], noisy, factors),
      );
      const made = table(
        layout,
        'propagated',
        (k): Omit<AnswerRow, 'keys'> => all[Math.floor(k / told.length)]![k % told.length]!,
      );
      return { ...made, note: testNote(scope.policy) };
    },
    foresee: (noise) => {
      // Of one of two groups of half the rows each.
      const { deviation, half } = noiseOf([read.term], noise);
      return foreseen(layout, 'propagated', 2 * Math.SQRT2 * deviation, 2 * Math.SQRT2 * half(0.05), true);
    },
  };
}

function groupsOf(scope: Scope, { between, groups }: CompareQuery): readonly [string, string] {
  const column = categoryNamed(scope.policy, between);
  const [a, b] = groups?.map((group) => declaredCode(column, group)) ?? codesOf(column);
  if (a !== undefined && b !== undefined && a !== b) return [a, b];
  throw new Fault('QUERY_INVALID', `"${between}" does not name two groups.`, 'Write "groups": ["a", "b"].');
}

export const compare: QueryKind<typeof schema> = { schema, label, bind };
