import { pairCliques } from '../../policy/pairs/cliques.js';
import type { Policy } from '../../policy/policy.js';
import { type CellForest, forestMove, forestPresence } from '../../privacy/mechanism/ordered/forest.js';
import type { RecordSensitivity, Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import { cellPieces } from './forest-cells.js';
import type { Axis, Counting } from './measure.js';
import { withinGroupSensitivity } from './sensitivity.js';

const largerSensitivity = (a: Sensitivity, b: Sensitivity): Sensitivity => (a.l1 > b.l1 ? a : b);

/** Replace-one sensitivity of the sums along a forest of the last key's cells, group by group. */
export function forestSensitivity(policy: Policy, counting: Counting, forest: CellForest): RecordSensitivity {
  const most = forestPresence(forest);
  const range = largerSensitivity(most, forestMove(forest, forest.parent.keys()));
  const { pieces, missing } = cellPieces(policy, counting.keys.at(-1) as Axis);
  return withinGroupSensitivity(policy, counting, { most, range }, (pairs) => {
    let far: Sensitivity = { l1: 0n, l2squared: 0n };
    for (const set of pairCliques(pairs, pieces, missing)) {
      const cells = [...set].filter((cell) => cell >= 0);
      far = largerSensitivity(far, forestMove(forest, cells));
    }
    return far;
  });
}
