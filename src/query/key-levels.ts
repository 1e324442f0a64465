import { toText } from '../base/exact/rational.js';
import { declaredNumber } from '../policy/domain.js';
import { gridNumber, gridOf } from '../policy/grid.js';
import type { Policy } from '../policy/policy.js';
import type { ValueLevels } from '../privacy/dependence/model/value-levels.js';
import type { GroupKey } from './count/measure.js';

/** Levels into which a key groups the values of its column, position by position: what a table by this key reveals. */
export function levelsOfKey(policy: Policy, key: GroupKey): ValueLevels {
  if (key.kind === 'code' && key.missing === 'cell') return [...key.groups.map((codes) => [...codes]), [null]];
  if (key.kind !== 'bin') throw new RangeError(`a ${key.kind} key does not place every answer`);
  const grid = gridOf(declaredNumber(policy, key.column));
  const text = (p: number): string => toText(gridNumber(grid, p));
  const firsts = [0, ...key.edges];
  const runs = firsts.map((from, i) => {
    const to = (firsts[i + 1] ?? grid.last + 1) - 1;
    return [from === to ? text(from) : { from: text(from), to: text(to) }];
  });
  return [...runs, [null]];
}
