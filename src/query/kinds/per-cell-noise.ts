import { one } from '../../base/exact/rational.js';
import { linearAnswer } from '../answer.js';
import { sumSensitivity } from '../count/sensitivity.js';
import { type BindingScope, type BoundQuery, rowCounting, withKey } from '../scope.js';
import { type CellRequest, errsLess } from './forest.js';

/** Cells of one key with independent noise, as in a histogram; undefined where the alternative errs less for some record class. */
export function noisePerCell(scope: BindingScope, { rows, key, layout, alternative }: CellRequest): BoundQuery | undefined {
  const { policy } = scope;
  if (rows.weight !== undefined || policy.known || policy.protect.pairs) return undefined;
  const by = withKey(rows, { key, labels: Array.from({ length: key.size }, (_, k) => `${k}`) });
  const isLess = [...sumSensitivity(policy, scope.counting(rowCounting(by)))].every(([of, own]) => {
    const other = alternative.sensitivity.get(of);
    return other !== undefined && errsLess(policy, [own, 1], [other, alternative.meanVariance]);
  });
  if (!isLess) return undefined;
  const width = layout.cells.length / rows.cells.length;
  const measure = scope.total(by, { kind: 'one' }, { grid: one, name: `rows by ${key.column}` });
  return linearAnswer(layout, [{ measure, factor: one, cells: (i) => [Math.floor(i / width) * key.size + (i % width)] }]);
}
