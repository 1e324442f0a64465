import { Fault } from '../../../base/errors.js';
import type { Statement } from '../engine.js';
import { quoteName, quoteText } from '../structure.js';
import { tooLong } from './fault.js';

/** Longest statement, in letters (the default of `query.max-length`). */
const longest = 1_000_000;

function literal(value: Statement['values'][number]): string {
  if (value === null) return 'NULL';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return quoteText(value);
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return `CAST('${value}' AS DOUBLE)`;
  return BigInt.asIntN(64, BigInt(value)) === BigInt(value) ? `(${value})` : `DECIMAL '${value}'`;
}

/** Text in quotes, names in quotes, places for values, and the one word for others that is not known here. */
const token = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)|\bAS NOT MATERIALIZED\b/g;

/**
 * A statement in the cluster's syntax. It has no bound values, so each is
 * written as a literal that ends where the value does; only SELECT is ever sent.
 */
export function spelt({ sql, values }: Statement): string {
  if (!/^\s*(SELECT|WITH)\b/.test(sql))
    throw new Fault('ENGINE_FAILED', 'Only statements that read are sent to the cluster.', 'Please report this.');
  const text = sql.replace(token, (found, place: string | undefined) => {
    if (place !== undefined) return literal(values[Number(place) - 1]!);
    return found === 'AS NOT MATERIALIZED' ? 'AS' : found;
  });
  if (text.length > longest) throw tooLong(text.length, longest);
  return text;
}

export const tableName = ({ catalog, schema, table }: Record<'catalog' | 'schema' | 'table', string>): string =>
  [catalog, schema, table].map(quoteName).join('.');
