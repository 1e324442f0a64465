import { Fault } from '../../base/errors.js';
import { answerLayout, linearAnswer } from '../answer.js';
import { groupKeyOf, jointKeyOf } from '../keys.js';
import { type BindingScope, type BoundQuery, selectRows, withKey } from '../scope.js';
import { withShares } from '../shares.js';
import type { HistogramQuery } from './count.js';

/**
 * Table of a column from the joint histogram of its cluster: a count is the sum of the joint cells with that answer.
 * The joint histogram is measured once for all columns of the cluster; rows outside its support count as missing.
 */
export function bindMergedHistogram(query: HistogramQuery, scope: BindingScope): BoundQuery {
  const { policy } = scope;
  const shown = groupKeyOf(policy, query.column);
  const cluster = policy.merge?.find(({ columns }) => columns.includes(query.column));
  if (!cluster)
    throw new Fault(
      'QUERY_INVALID',
      `The policy merges column "${query.column}" with no other.`,
      'List its combinations under merge: in the policy, or leave out "merged".',
    );
  const selection = selectRows(policy, query);
  const joint = jointKeyOf(policy, cluster);
  const place = joint.key.keys.findIndex(({ column }) => column === query.column);
  const cellsWith = shown.labels.map((): number[] => []);
  joint.key.support.forEach((combination, cell) => {
    cellsWith[combination[place]!]!.push(cell);
  });
  cellsWith.at(-1)!.push(joint.key.size - 1);
  const tables = scope.batch.filter((q) => q.kind === 'histogram' && q.merged && cluster.columns.includes(q.column)).length;
  const term = scope.rowCount(withKey(selection, joint), tables);
  const width = shown.labels.length;
  const cells = (i: number): readonly number[] => {
    const group = Math.floor(i / width) * joint.key.size;
    return cellsWith[i % width]!.map((cell) => group + cell);
  };
  const rows = withKey(selection, shown);
  const countTerm = { ...term, cells };
  const layout = answerLayout(query, query.column, rows.cells, [query.column, query.name ?? 'count']);
  const bound = linearAnswer(layout, [countTerm]);
  return { ...bound, finish: (noisy) => withShares(bound.finish(noisy), rows.keys, countTerm, noisy) };
}
