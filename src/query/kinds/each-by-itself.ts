import { one, toNumber } from '../../base/exact/rational.js';
import { type Layout, linearAnswer } from '../answer.js';
import { sumEffects } from '../count/effects.js';
import type { Axis } from '../count/measure.js';
import { type BoundQuery, furtherBy, type Rows, type Scope } from '../scope.js';
import type { Rival } from './forest.js';

/**
 * Cells of one key with independent noise, as in a histogram; undefined where the alternative errs less for some record class.
 * `rows` exclude the key and rows without an answer.
 */
export function eachByItself(scope: Scope, rows: Rows, key: Axis, layout: Layout, rival: Rival): BoundQuery | undefined {
  const { policy } = scope;
  if (rows.weight !== undefined || policy.known || policy.protect.pairs) return undefined;
  const by = furtherBy(rows, { key, labels: Array.from({ length: key.size }, (_, k) => `${k}`) });
  const effects = sumEffects(
    policy,
    scope.counting({ filter: by.filter, keys: by.keys.map((own) => own.key), value: { kind: 'one' } }),
  );
  const squared = toNumber(policy.budget.delta) > 0;
  const isLess = [...effects].every(([of, own]) => {
    const other = rival.effects.get(of);
    if (!other) return false;
    return squared
      ? Number(own.l2squared) < rival.meanVariance * Number(other.l2squared)
      : Number(own.l1) ** 2 < rival.meanVariance * Number(other.l1) ** 2;
  });
  if (!isLess) return undefined;
  const width = layout.cells.length / rows.cells.length;
  const measure = scope.total(by, { kind: 'one' }, one, `rows by ${key.column}`);
  return linearAnswer(layout, [{ measure, factor: one, cells: (i) => [Math.floor(i / width) * key.size + (i % width)] }]);
}
