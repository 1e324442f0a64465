import { toNumber } from '../../exact/rational.js';
import { clip, foreseen, miss, noiseOf, noisySum, table } from '../answer.js';
import { codedNamed, codesOf, declaredCode } from '../domain.js';
import { valueName } from '../label.js';
import type { RowKey } from '../measure.js';
import type { ShareQuery } from '../query.js';
import { ratioInterval } from '../ratio.js';
import { type BoundQuery, cellsOfRows, rowsOf, type Scope } from '../scope.js';

const within = [0, 1] as const;

/** Two counts, rows with one of the values and answered rows without: cheaper than a part and its whole. */
export function bindShare(query: ShareQuery, scope: Scope): BoundQuery {
  const column = codedNamed(scope.policy, query.column);
  const named = new Set(query.values.map((value) => declaredCode(column, value)));
  const codes = codesOf(column);
  const groups = [codes.filter((code) => named.has(code)), codes.filter((code) => !named.has(code))];
  const key: RowKey = { kind: 'code', column: column.name, groups, missing: 'drop', size: 2 };
  const asked = rowsOf(scope.policy, query);
  const term = scope.rowCount({ ...asked, keys: [...asked.keys, { key, labels: ['in', 'not in'] }] });
  const inside = [{ ...term, cells: (i: number) => [2 * i] }];
  const outside = [{ ...term, cells: (i: number) => [2 * i + 1] }];
  const layout = { query, columns: [...(query.by ?? []), query.name ?? valueName(query)], cells: cellsOfRows(asked) };
  return {
    finish: (noisy) => {
      const { parts } = noiseOf(
        inside,
        noisy.map(({ noise }) => noise),
      );
      const interval = ratioInterval([parts, parts], (r) => [1 - r, -r], within, miss);
      return table(layout, 'propagated', (i) => {
        const [a, b] = [noisySum(inside, noisy, i), noisySum(outside, noisy, i)];
        const [x, y] = [toNumber(a.value), toNumber(b.value)];
        if (x + y <= 0) return { value: null, standardError: null, low: 0, high: 1 };
        const value = clip(x / (x + y), ...within);
        const standardError = Math.hypot((1 - value) * a.deviation, value * b.deviation) / (x + y);
        const [low, high] = interval(x, y);
        return { value, standardError, low, high };
      });
    },
    foresee: (noise) => {
      const known = noiseOf(inside, noise);
      return foreseen(layout, 'propagated', known.deviation, known.half(miss), true);
    },
  };
}
