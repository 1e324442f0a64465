import type { Column, Policy } from '../../../policy/policy.js';

/** Declared columns that questions may use; none where rows are not the privacy unit (`secret: edge`). */
export const askable = ({ protect, columns }: Policy): readonly Column[] =>
  protect.secret === 'edge' ? [] : [...columns.values()].filter((c) => c.type !== 'weight' && c.name !== protect.unit);

/** Columns with a single answer, if every person has one row: joint distributions can be learned from them. */
export const answersTogether = (policy: Policy): readonly Column[] =>
  policy.protect.maxRows > 1 ? [] : askable(policy).filter((c) => c.type !== 'multi');
