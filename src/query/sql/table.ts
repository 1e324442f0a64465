import type { QName } from 'pgsql-ast-parser';
import { basename } from '../../base/platform/paths.js';
import type { Policy } from '../../policy/policy.js';

/** Names of a policy's data in FROM: its table, its file with or without the extension, or `data`. */
export function tableNames({ source, table }: Policy['data']): readonly string[] {
  const file = basename(source);
  const stem = file.replace(/(\.(csv|tsv|txt)(\.gz)?|\.parquet|\.pq|\.duckdb|\.ddb|\.db|\.z?sav|\.dta|\.xpt|\.xlsx)$/i, '');
  const own = table === undefined ? [] : [table, table.split('.').at(-1)!];
  return [...new Set([...own, stem, file, 'data'])];
}

/** Names without quotes are folded by SQL, so letters are compared without their case. */
export const isNamed = (names: readonly string[], { schema, name }: QName): boolean => {
  const wanted = (schema === undefined ? name : `${schema}.${name}`).toLowerCase();
  return names.some((known) => known.toLowerCase() === wanted);
};
