import { toNumber } from '../../exact/rational.js';
import { foreseen, miss, noiseOf, noisySum, table } from '../answer.js';
import { codedNamed, codesOf, declaredCode } from '../domain.js';
import { valueName } from '../label.js';
import type { RowKey } from '../measure.js';
import type { ShareQuery } from '../query.js';
import { type BoundQuery, cellsOfRows, rowsOf, type Scope } from '../scope.js';

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
  const part = (a: number, b: number, otherwise: number): number => (a + b > 0 ? a / (a + b) : otherwise);
  return {
    finish: (noisy) =>
      table(layout, 'propagated', (i) => {
        const [a, b] = [noisySum(inside, noisy, i), noisySum(outside, noisy, i)];
        const [x, y] = [Math.max(0, toNumber(a.value)), Math.max(0, toNumber(b.value))];
        const [dx, dy] = [a.half(miss / 2), b.half(miss / 2)];
        const low = part(Math.max(0, toNumber(a.value) - dx), Math.max(0, toNumber(b.value) + dy), 0);
        const high = part(Math.max(0, toNumber(a.value) + dx), Math.max(0, toNumber(b.value) - dy), 1);
        if (x + y <= 0) return { value: null, standardError: null, low: 0, high: 1 };
        const value = x / (x + y);
        const standardError = Math.hypot((1 - value) * a.deviation, value * b.deviation) / (x + y);
        return { value, standardError, low, high };
      }),
    foresee: (noise) => {
      const known = noiseOf(inside, noise);
      return foreseen(layout, 'propagated', known.deviation, known.half(miss / 2), true);
    },
  };
}
