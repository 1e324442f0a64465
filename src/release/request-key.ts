import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { textOf } from '../count/measure.js';
import type { Column, Policy } from '../policy/policy.js';
import { canonicalPath } from '../policy/population.js';

/**
 * What is asked of which files under which terms. What the files hold does not enter: a key that changed with the data would tell everybody who asks twice,
 * and everybody who reads the ledger, whether anything had changed in between (docs/decisions/0008).
 */
export function requestKey(policy: Policy, canonical: string): string {
  const { source, table, encoding } = policy.data;
  const relations = [...policy.relations.values()].map((r) => [r.name, placeOf(r.table)]);
  const asked = [
    policy.digest,
    canonicalPath(source),
    table ?? null,
    relations,
    canonical,
    ...(encoding === undefined ? [] : [encoding]),
    ...[...(policy.tables?.values() ?? [])].map((t) => [t.name, placeOf(t.source ?? source), t.table ?? null]),
  ];
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex');
}

/** A table of the data's own database has no path. */
export const placeOf = (table: string): string => (isAbsolute(table) ? canonicalPath(table) : table);

/** How cells and tuples are read (domains, bounds, bins): not part of the terms, but the same words about another domain are another request. */
export const readingOf = ({ columns, relations, tables }: Policy): string =>
  textOf([
    [...columns.values()].map(bare),
    [...relations.values()].map((relation) => ({ ...relation, table: undefined })),
    ...[...(tables?.values() ?? [])].map((t) => [
      { ...t, source: undefined, table: undefined },
      [...t.columns.values()].map(bare),
    ]),
  ]);
const bare = (column: Column) => ({ ...column, label: undefined, labels: undefined });
