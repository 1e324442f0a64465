import { cliques } from '../../policy/pairs/cliques.js';
import type { Policy } from '../../policy/policy.js';
import type { Effect, Effects } from '../../privacy/mechanism/effect.js';
import { type Forest, moveAmong, presenceIn } from '../../privacy/mechanism/ordered/forest.js';
import { insideGroups } from './effects.js';
import { cellPieces } from './forest-cells.js';
import type { Axis, Counting } from './measure.js';

const larger = (a: Effect, b: Effect): Effect => (a.l1 > b.l1 ? a : b);

/** Replace-one sensitivity of the sums along a forest of the last key's cells, group by group. */
export function forestEffects(policy: Policy, counting: Counting, forest: Forest): Effects {
  const most = presenceIn(forest);
  const range = larger(most, moveAmong(forest, forest.parent.keys()));
  const { pieces, missing } = cellPieces(policy, counting.keys.at(-1) as Axis);
  return insideGroups(policy, counting, { most, range }, (pairs) => {
    let far: Effect = { l1: 0n, l2squared: 0n };
    for (const set of cliques(pairs, pieces, missing)) {
      const cells = [...set].filter((cell) => cell >= 0);
      far = larger(far, moveAmong(forest, cells));
    }
    return far;
  });
}
