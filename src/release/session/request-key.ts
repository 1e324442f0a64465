import { sha256 } from '../../base/platform/hash.js';
import { isAbsolute } from '../../base/platform/paths.js';
import { dataSource, placeOfData } from '../../policy/data-source.js';
import { type FullPath, fullPaths } from '../../policy/full-path.js';
import type { Column, Policy } from '../../policy/policy.js';
import { stableText } from '../../query/count/measure.js';

/** Keys of one request: the one it is recorded under, and those that version 0.2 recorded it under, by full paths. */
export interface RequestKeys {
  readonly key: string;
  readonly former: readonly string[];
}

/**
 * Key of a request: query, files and terms; files by place relative to the ledger, so that a moved folder keeps its answers. The content of
 * the files is left out: a key that depended on it would reveal changes in the data (docs/explanation/decisions/0008).
 */
export function requestKeys(policy: Policy, canonical: string): RequestKeys {
  const { data, ledger, relations, tables, movableDigest, digest } = policy;
  const keyParts = [
    'from the ledger',
    movableDigest ?? digest,
    dataSource(policy),
    [...relations.values()].map(({ name, table }) => [name, isAbsolute(table) ? placeOfData(table, policy) : table]),
    canonical,
    data.encoding ?? null,
    [...(tables?.values() ?? [])].map(({ name, ...location }) => [
      name,
      dataSource({ data: { ...location, source: location.source ?? data.source }, ledger }),
    ]),
  ];
  return { key: hashOf(keyParts), former: fullPaths(policy).map((path) => hashOf(formerKeyParts(policy, canonical, path))) };
}

const hashOf = (keyParts: readonly unknown[]): string => sha256(JSON.stringify(keyParts));

/** The form of version 0.2. */
function formerKeyParts(policy: Policy, canonical: string, path: FullPath): readonly unknown[] {
  const { source, table, encoding } = policy.data;
  return [
    policy.digest,
    path(source),
    table ?? null,
    [...policy.relations.values()].map((r) => [r.name, path(r.table)]),
    canonical,
    ...(encoding === undefined ? [] : [encoding]),
    ...[...(policy.tables?.values() ?? [])].map((t) => [t.name, path(t.source ?? source), t.table ?? null]),
  ];
}

/**
 * Definition of cells and tuples (domains, bounds, bins): not part of the terms,
 * but the same query on another domain is another request.
 */
export const readingText = ({ columns, relations, tables }: Policy): string =>
  stableText([
    [...columns.values()].map(bare),
    [...relations.values()].map((relation) => ({ ...relation, table: undefined })),
    ...[...(tables?.values() ?? [])].map((t) => [
      { ...t, source: undefined, table: undefined },
      [...t.columns.values()].map(bare),
    ]),
  ]);
const bare = (column: Column) => ({ ...column, label: undefined, labels: undefined });
