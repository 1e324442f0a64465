import * as z from 'zod';
import { toNumber } from '../../base/exact/rational.js';
import { codesOf } from '../../policy/code.js';
import { codedNamed, declaredCode } from '../../policy/domain.js';
import { sumOfNumbers } from '../../privacy/mechanism/law-sum.js';
import { endsOfShare, factorsAt, ofShare, quotients } from '../../privacy/mechanism/ratio.js';
import { foreseen, lawsOf, miss, noiseOf, noisySum, table } from '../answer.js';
import type { RowKey } from '../count/measure.js';
import { asked, code, columnName, list } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BoundQuery, furtherBy, rowsOf, type Scope } from '../scope.js';

const schema = z.strictObject({ kind: z.literal('share'), column: columnName, values: list(code, 'literals'), ...asked });
type ShareQuery = z.output<typeof schema>;
const label = (q: ShareQuery): string => `share of ${q.column} ${q.values.join(' or ')}`;

const within = [0, 1] as const;
const ends = endsOfShare(1, 2);

/** Two counts, rows with one of the values and answered rows without: cheaper than a part and its whole. */
function bind(query: ShareQuery, scope: Scope): BoundQuery {
  const column = codedNamed(scope.policy, query.column);
  const named = new Set(query.values.map((value) => declaredCode(column, value)));
  const codes = codesOf(column);
  const groups = [codes.filter((code) => named.has(code)), codes.filter((code) => !named.has(code))];
  const key: RowKey = { kind: 'code', column: column.name, groups, missing: 'drop', size: 2 };
  const asked = rowsOf(scope.policy, query);
  const term = scope.rowCount(furtherBy(asked, { key, labels: ['in', 'not in'] }));
  const inside = [{ ...term, cells: (i: number) => [2 * i] }];
  const outside = [{ ...term, cells: (i: number) => [2 * i + 1] }];
  const layout = {
    query,
    label: label(query),
    columns: [...(query.by ?? []), query.name ?? label(query)],
    cells: asked.cells,
  };
  return {
    finish: (noisy) => {
      const { parts } = noiseOf(inside, lawsOf(noisy));
      const ratio = quotients([parts, parts], miss);
      return table(layout, 'propagated', (i) => {
        const [a, b] = [noisySum(inside, noisy, i), noisySum(outside, noisy, i)];
        const top = toNumber(a.value);
        const bottom = top + toNumber(b.value);
        if (bottom <= 0) return { value: null, standardError: null, low: 0, high: 1 };
        const { value, low, high } = ratio({ top, bottom, factors: ofShare, within, ends });
        return { value, standardError: Math.hypot((1 - value) * a.deviation, value * b.deviation) / bottom, low, high };
      });
    },
    foresee: (noise) => {
      // The half width is a norm of the factors, so it is largest at an end of the range.
      const { parts, deviation } = noiseOf(inside, noise);
      return foreseen(layout, 'propagated', deviation, sumOfNumbers([parts, parts], miss).half(factorsAt(ofShare, 1)), true);
    },
  };
}

export const share: QueryKind<typeof schema> = { schema, label, bind };
