import type { Column, Policy } from '../../../policy/policy.js';

/** The declared questions that rows can be asked about; none where the rows are no secret of the policy. */
export const askable = ({ protect, columns }: Policy): readonly Column[] =>
  protect.secret === 'edge' ? [] : [...columns.values()].filter((c) => c.type !== 'weight' && c.name !== protect.unit);

/** Those with a single answer, where every person has one row: what goes together can be learned from them. */
export const answersTogether = (policy: Policy): readonly Column[] =>
  policy.protect.maxRows > 1 ? [] : askable(policy).filter((c) => c.type !== 'multi');
