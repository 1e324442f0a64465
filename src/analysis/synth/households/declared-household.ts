import { Fault } from '../../../base/errors.js';
import { groupsBy } from '../../../data/ties/groups.js';
import type { Policy } from '../../../policy/policy.js';
import type { CodedColumn, ModelColumn } from '../../learn/network/read-coded.js';
import { columnPlaces } from '../candidates.js';
import type { SynthForm } from '../form.js';
import type { Household } from './measure-pairs.js';
import { memberDistances } from './member-distance.js';

/** Number of household members, as a column of the model. */
export const membersColumn = ({ by, most }: NonNullable<SynthForm['households']>): ModelColumn => ({
  name: `members of ${by}`,
  size: most,
  labels: Array.from({ length: most }, (_, k) => (k + 1 < most ? `${k + 1}` : `${most} or more`)),
});

/**
 * Columns of a household. Requires a tie that makes households public knowledge: then replacing a record leaves them unchanged, and
 * the promise covers what members reveal about one another.
 */
export function declaredHousehold(
  policy: Policy,
  coded: readonly CodedColumn[],
  request: NonNullable<SynthForm['households']>,
): Household {
  const { by } = request;
  const tie = groupsBy(policy.dependence, by);
  if (!tie)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Households by "${by}" are made where the policy declares how their members are tied.`,
      `Declare dependence: [{ kind: groups, by: ${by} }], or leave households out.`,
    );
  if (tie.maxSize !== undefined || tie.maxUsed !== undefined)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `The tie by "${by}" hides who lives with whom, or leaves members out; synthetic households have all of them.`,
      'Leave maxSize and maxUsed out of the tie, or leave households out.',
    );
  if (policy.protect.secret === 'person' && policy.protect.maxRows > 1)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Synthetic households have one row per member.',
      'Declare maxRows: 1, or leave households out.',
    );
  const shared = columnPlaces(coded, request.shared, 'households');
  const own = [...coded.keys()].filter((c) => !shared.includes(c));
  if (own.length === 0)
    throw new Fault('QUERY_INVALID', 'All columns are shared by households.', 'Leave out of shared what members may differ in.');
  return { members: coded.length, shared, own, distances: memberDistances(coded, own) };
}
