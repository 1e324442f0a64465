import * as z from 'zod';
import { readsRelations } from '../../../analysis/pattern/query/sql.js';
import { Fault } from '../../../base/errors.js';
import { readSql } from '../../../query/sql/sql.js';
import { tableNames } from '../../../query/sql/table.js';
import { notSpent } from '../../../release/session/outcome.js';
import type { Release } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import { defineKind } from '../kind.js';
import { field } from '../request.js';
import { askable } from './askable.js';
import { type PatternAnswer, pattern, patternFields } from './pattern.js';

const question = z.strictObject({
  sql: field(z.string(), 'SQL text.', { value: 'text', help: 'the same as SQL text' }),
  ...patternFields,
});

/** SQL text: parsed and compiled to queries, never run. Over declared relations it is a pattern. */
export const sql = defineKind({
  name: 'sql',
  tidies: true,
  question,
  hint: 'Write {"sql": "SELECT party, COUNT(*) FROM survey GROUP BY party"}.',
  example(policy) {
    const key = askable(policy).find((c) => c.type === 'category')?.name;
    const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
    return key === undefined
      ? undefined
      : { sql: `SELECT ${quoted(key)}, COUNT(*) FROM ${quoted(tableNames(policy.data)[0]!)} GROUP BY ${quoted(key)}` };
  },
  plan: (session, request, options) =>
    isPattern(session, request)
      ? pattern.plan(session, asPattern(request), options)
      : session.plan(...sqlArguments(session, request, options)),
  release: async (session, request, options): Promise<Release | PatternAnswer> =>
    isPattern(session, request)
      ? pattern.release(session, asPattern(request), options)
      : session.release(...sqlArguments(session, request, options)),
});

type SqlQuestion = z.input<typeof question>;

const isPattern = ({ policy }: PrivacySession, { sql }: SqlQuestion): boolean => readsRelations(sql, policy.relations);
const asPattern = ({ sql, ...more }: SqlQuestion) => ({ pattern: sql, ...more });
function sqlArguments({ policy }: PrivacySession, { sql, ...ofPattern }: SqlQuestion, options: ReleaseOptions) {
  const [unread] = Object.entries(ofPattern).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (unread !== undefined)
    throw new Fault('QUERY_UNSUPPORTED', `${unread} goes with SQL over declared relations, or --pattern.`, 'Leave it out.', {
      outcome: notSpent,
    });
  const { batch, instead } = readSql(sql, policy);
  const label = shortened(sql.replace(/\s+/g, ' ').trim());
  return [batch, { label, ...options, ...(instead.length > 0 && { instead }) }] as const;
}
/** Label of a long SQL text, marked as shortened. */
const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest - 2)} …` : text);
const longest = 120;
