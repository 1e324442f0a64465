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
export function requestKeys(policy: Policy): (canonical: string) => RequestKeys {
  const { data, ledger, relations, tables, movableDigest, digest } = policy;
  const terms = ['from the ledger', movableDigest ?? digest, dataSource(policy)];
  const related = [...relations.values()].map(({ name, table }) => [
    name,
    isAbsolute(table) ? placeOfData(table, policy) : table,
  ]);
  const others = [...(tables?.values() ?? [])].map(({ name, ...location }) => [
    name,
    dataSource({ data: { ...location, source: location.source ?? data.source }, ledger }),
  ]);
  const former = fullPaths(policy).map((path) => formerKeyParts(policy, path));
  return (canonical) => ({
    key: hashOf([...terms, related, canonical, data.encoding ?? null, others]),
    former: former.map(([before, after]) => hashOf([...before, canonical, ...after])),
  });
}

const hashOf = (keyParts: readonly unknown[]): string => sha256(JSON.stringify(keyParts));

/** The form of version 0.2: what stands before the text of the request, and after it. */
function formerKeyParts({ data, digest, relations, tables }: Policy, path: FullPath): readonly [unknown[], unknown[]] {
  const { source, table, encoding } = data;
  const related = [...relations.values()].map((r) => [r.name, path(r.table)]);
  const others = [...(tables?.values() ?? [])].map((t) => [t.name, path(t.source ?? source), t.table ?? null]);
  return [
    [digest, path(source), table ?? null, related],
    [...(encoding === undefined ? [] : [encoding]), ...others],
  ];
}

/** Domains, bounds, bins: no part of the terms, but the same query on another domain is another request. */
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
