import { one, toNumber } from '../../base/exact/rational.js';
import { type AnswerLayout, linearAnswer } from '../answer.js';
import type { Axis } from '../count/measure.js';
import { sumSensitivity } from '../count/sensitivity.js';
import { type BindingScope, type BoundQuery, type RowSelection, withKey } from '../scope.js';
import type { Alternative } from './forest.js';

/**
 * Cells of one key with independent noise, as in a histogram; undefined where the alternative errs less for some record class.
 * `rows` exclude the key and rows without an answer.
 */
export function noisePerCell(
  scope: BindingScope,
  rows: RowSelection,
  key: Axis,
  layout: AnswerLayout,
  alternative: Alternative,
): BoundQuery | undefined {
  const { policy } = scope;
  if (rows.weight !== undefined || policy.known || policy.protect.pairs) return undefined;
  const by = withKey(rows, { key, labels: Array.from({ length: key.size }, (_, k) => `${k}`) });
  const sensitivity = sumSensitivity(
    policy,
    scope.counting({ filter: by.filter, keys: by.keys.map((own) => own.key), value: { kind: 'one' } }),
  );
  const squared = toNumber(policy.budget.delta) > 0;
  const isLess = [...sensitivity].every(([of, own]) => {
    const other = alternative.sensitivity.get(of);
    if (!other) return false;
    return squared
      ? Number(own.l2squared) < alternative.meanVariance * Number(other.l2squared)
      : Number(own.l1) ** 2 < alternative.meanVariance * Number(other.l1) ** 2;
  });
  if (!isLess) return undefined;
  const width = layout.cells.length / rows.cells.length;
  const measure = scope.total(by, { kind: 'one' }, one, `rows by ${key.column}`);
  return linearAnswer(layout, [{ measure, factor: one, cells: (i) => [Math.floor(i / width) * key.size + (i % width)] }]);
}
