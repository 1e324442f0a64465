import * as z from 'zod';
import { toNumber } from '../../base/exact/rational.js';
import { codesOf } from '../../policy/code.js';
import { declaredCode, declaredCoded } from '../../policy/domain.js';
import { sumOfNumbers } from '../../privacy/mechanism/noise-sum.js';
import { endsOfShare, factorsAt, ofShare, quotientIntervals } from '../../privacy/mechanism/quotient.js';
import { answerTable, defaultAlpha, distributionsOf, expectedAnswerError, noiseOfTerms, noisySum } from '../answer.js';
import type { GroupKey } from '../count/measure.js';
import { boundedList, codeForm, columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, selectRows, withKey } from '../scope.js';

const schema = z.strictObject({
  kind: z.literal('share'),
  column: columnNameForm,
  values: boundedList(codeForm, 'literals'),
  ...commonFields,
});
type ShareQuery = z.output<typeof schema>;
const label = (q: ShareQuery): string => `share of ${q.column} ${q.values.join(' or ')}`;

const within = [0, 1] as const;
const ends = endsOfShare(1, 2);

/** Two counts, rows with one of the values and answered rows without: cheaper than a part and its whole. */
function bind(query: ShareQuery, scope: BindingScope): BoundQuery {
  const column = declaredCoded(scope.policy, query.column);
  const named = new Set(query.values.map((value) => declaredCode(column, value)));
  const codes = codesOf(column);
  const groups = [codes.filter((code) => named.has(code)), codes.filter((code) => !named.has(code))];
  const key: GroupKey = { kind: 'code', column: column.name, groups, missing: 'drop', size: 2 };
  const selection = selectRows(scope.policy, query);
  const term = scope.rowCount(withKey(selection, { key, labels: ['in', 'not in'] }));
  const inside = [{ ...term, cells: (i: number) => [2 * i] }];
  const outside = [{ ...term, cells: (i: number) => [2 * i + 1] }];
  const layout = {
    query,
    label: label(query),
    columns: [...(query.by ?? []), query.name ?? label(query)],
    cells: selection.cells,
  };
  return {
    finish: (noisy) => {
      const { parts } = noiseOfTerms(inside, distributionsOf(noisy));
      const ratio = quotientIntervals([parts, parts], defaultAlpha);
      return answerTable(layout, 'propagated', (i) => {
        const [a, b] = [noisySum(inside, noisy, i), noisySum(outside, noisy, i)];
        const top = toNumber(a.value);
        const bottom = top + toNumber(b.value);
        if (bottom <= 0) return { value: null, standardError: null, low: 0, high: 1 };
        const { value, low, high } = ratio({ top, bottom, factors: ofShare, within, ends });
        return { value, standardError: Math.hypot((1 - value) * a.deviation, value * b.deviation) / bottom, low, high };
      });
    },
    expectedError: (noise) => {
      // The half width is a norm of the factors, so it is largest at an end of the range.
      const { parts, deviation } = noiseOfTerms(inside, noise);
      return expectedAnswerError(
        layout,
        'propagated',
        deviation,
        sumOfNumbers([parts, parts], defaultAlpha).half(factorsAt(ofShare, 1)),
        true,
      );
    },
  };
}

export const shareKind: QueryKind<typeof schema> = { schema, label, bind };
