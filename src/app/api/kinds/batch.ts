import { isNumber } from '../../../policy/domain.js';
import { batchForms } from '../../../query/parse.js';
import { defineKind } from '../kind.js';
import { askable } from './askable.js';

/** Tables: one query, a list of them, or {queries: [...]}; together they share one budget and one ledger entry. */
export const batch = defineKind({
  name: 'queries',
  tidies: true,
  question: batchForms,
  hint: 'Ask for example {"kind": "count", "by": ["party"]}.',
  example(policy) {
    const all = askable(policy);
    const key = all.find((c) => c.type === 'category');
    const number = all.find(isNumber);
    if (!key) return undefined;
    return {
      queries: [{ kind: 'count' as const, by: [key.name] }, ...(number ? [{ kind: 'mean' as const, column: number.name }] : [])],
    };
  },
  plan: (session, question, options) => session.plan(question, options),
  release: (session, question, options) => session.release(question, options),
});
