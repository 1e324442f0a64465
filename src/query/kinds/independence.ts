import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import { declaredCategory } from '../../policy/domain.js';
import {
  additiveNoise,
  answerLayout,
  answerTable,
  defaultAlpha,
  distributionsOf,
  expectedAnswerError,
  figureAt,
  figureCells,
  noAnswer,
  noiseOfTerms,
  noisyCounts,
} from '../answer.js';
import { columnNameForm, commonFields } from '../form.js';
import { levelKey } from '../keys.js';
import type { QueryKind } from '../kind.js';
import { testFactor, testNote } from '../sampling.js';
import { type BindingScope, type BoundQuery, selectRows, withKey } from '../scope.js';
import { independenceTest as judged } from '../statistics/independence-test.js';

const schema = z.strictObject({
  kind: z.literal('independence'),
  columns: z.tuple([columnNameForm, columnNameForm]).readonly(),
  ...commonFields,
});
type IndependenceQuery = z.output<typeof schema>;
const label = ({ columns }: IndependenceQuery): string => `whether ${columns.join(' and ')} are independent`;

/** Figures of a test, in order. */
const figures = ['chi-square', 'degrees of freedom', 'p-value', "Cramer's V"] as const;

/** Test of independence of two categories from one noisy table, noise included (../statistics/independence-test.proof.md). */
function bind(query: IndependenceQuery, scope: BindingScope): BoundQuery {
  const [a, b] = query.columns;
  if (a === b) throw new Fault('QUERY_INVALID', `Column "${a}" is named twice.`, 'Name two columns.');
  const rows = selectRows(scope.policy, query);
  const keys = query.columns.map((name) => keyOf(scope, name));
  const [height, width] = keys.map(({ labels }) => labels.length) as [number, number];
  const term = scope.rowCount(withKey(withKey(rows, keys[0]!), keys[1]!));
  const { difference: varianceRatio } = testFactor(scope.policy, query, query.columns);
  const layout = answerLayout(query, label(query), figureCells(rows.cells, figures), ['figure', query.name ?? 'value']);
  return {
    finish: (noisy) => {
      const distribution = additiveNoise(distributionsOf(noisy), term.measure);
      const { deviation } = noiseOfTerms([term], distributionsOf(noisy));
      const { values: cells } = noisyCounts(noisy, term.measure);
      const tests = rows.cells.map((__, group) => {
        const counts = Array.from({ length: height }, (_, i) =>
          Array.from({ length: width }, (_, j) => toNumber(term.factor) * Number(cells[(group * height + i) * width + j]!)),
        );
        const people = counts.flat().reduce((sum, x) => sum + x, 0);
        return judged(counts, { variance: deviation ** 2, laplace: distribution.kind === 'laplace' }, varianceRatio(people));
      });
      const values = tests.map(({ statistic, degrees, chance, cramersV }) =>
        [statistic, degrees, chance, cramersV].map((value) => (statistic === null ? null : value)),
      );
      const made = answerTable(layout, 'propagated', (k) => ({ ...noAnswer, value: figureAt(values, k) }));
      return { ...made, note: testNote(scope.policy) };
    },
    expectedError: (noise) => {
      const { deviation, half } = noiseOfTerms([term], noise);
      return expectedAnswerError(layout, 'combined', { standardError: deviation, halfWidth: half(defaultAlpha) });
    },
  };
}

function keyOf(scope: BindingScope, name: string) {
  const levels = levelKey(declaredCategory(scope.policy, name));
  if (levels.labels.length < 2) throw new Fault('QUERY_INVALID', `Column "${name}" has only one value.`, 'Name another column.');
  return levels;
}

export const independenceKind: QueryKind<typeof schema> = { schema, label, bind };
