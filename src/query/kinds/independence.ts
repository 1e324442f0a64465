import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import { categoryNamed, shownLevels } from '../../policy/domain.js';
import { additive, foreseen, lawsOf, noiseOf, table } from '../answer.js';
import type { AnswerRow } from '../bound.js';
import type { CodeKey } from '../count/measure.js';
import { asked, columnName } from '../form.js';
import type { QueryKind } from '../kind.js';
import { testFactor, testNote } from '../sampling.js';
import { type BoundQuery, furtherBy, rowsOf, type Scope } from '../scope.js';
import { independence as judged } from '../statistics/independent.js';

const schema = z.strictObject({
  kind: z.literal('independence'),
  columns: z.tuple([columnName, columnName]).readonly(),
  ...asked,
});
type IndependenceQuery = z.output<typeof schema>;
const label = ({ columns }: IndependenceQuery): string => `whether ${columns.join(' and ')} are independent`;

/** Figures of a test, in order. */
const figures = ['chi-square', 'degrees of freedom', 'p-value', "Cramer's V"] as const;

/** Test of independence of two categories from one noisy table, noise included (../statistics/independence-test.proof.md). */
function bind(query: IndependenceQuery, scope: Scope): BoundQuery {
  const [a, b] = query.columns;
  if (a === b) throw new Fault('QUERY_INVALID', `Column "${a}" is named twice.`, 'Name two columns.');
  const rows = rowsOf(scope.policy, query);
  const keys = query.columns.map((name) => keyOf(scope, name));
  const [height, width] = keys.map(({ labels }) => labels.length) as [number, number];
  const term = scope.rowCount(furtherBy(furtherBy(rows, keys[0]!), keys[1]!));
  const { apart } = testFactor(scope.policy, query, query.columns);
  const layout = {
    query,
    label: label(query),
    columns: [...(query.by ?? []), 'figure', query.name ?? 'value'],
    cells: rows.cells.flatMap((labels) => figures.map((figure) => [...labels, figure])),
  };
  return {
    finish: (noisy) => {
      const law = additive(lawsOf(noisy), term.measure);
      const { deviation } = noiseOf([term], lawsOf(noisy));
      const { values } = noisy[term.measure] as { readonly values: readonly bigint[] };
      const tests = rows.cells.map((__, group) => {
        const counts = Array.from({ length: height }, (_, i) =>
          Array.from({ length: width }, (_, j) => toNumber(term.factor) * Number(values[(group * height + i) * width + j]!)),
        );
        const people = counts.flat().reduce((sum, x) => sum + x, 0);
        return judged(counts, { variance: deviation ** 2, laplace: law.kind === 'laplace' }, apart(people));
      });
      const made = table(layout, 'propagated', (k): Omit<AnswerRow, 'keys'> => {
        const { statistic, freedom, chance, strength } = tests[Math.floor(k / figures.length)]!;
        const value = statistic === null ? null : [statistic, freedom, chance, strength][k % figures.length]!;
        return { value, standardError: null, low: null, high: null };
      });
      return { ...made, note: testNote(scope.policy) };
    },
    foresee: (noise) => {
      const { deviation, half } = noiseOf([term], noise);
      return foreseen(layout, 'combined', deviation, half(0.05), false);
    },
  };
}

function keyOf(scope: Scope, name: string) {
  const { groups, labels } = shownLevels(categoryNamed(scope.policy, name));
  if (groups.length < 2) throw new Fault('QUERY_INVALID', `Column "${name}" has only one value.`, 'Name another column.');
  const key: CodeKey = { kind: 'code', column: name, groups, missing: 'drop', size: groups.length };
  return { key, labels: labels.slice(0, -1) };
}

export const independence: QueryKind<typeof schema> = { schema, label, bind };
