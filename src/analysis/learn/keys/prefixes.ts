import type { Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import type { CategoryColumn, Policy } from '../../../policy/policy.js';
import { Binder, boundedRowsSql } from '../../../query/count/contribution-bound.js';
import { rawCell, sourceColumn } from '../../../query/count/read-column.js';
import { countedViewOf } from '../../../query/view/view-snapshot.js';

/** Mark after the end of a text; it is no byte. */
export const endMark = '';
const twoDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
/** Every possible continuation of a known prefix. */
export const continuationsOf = (prefix: string): readonly string[] => (prefix === '' ? twoDigits : [...twoDigits, endMark]);

/** Location of the texts: a column of the data, or of a side table. */
export interface KeyColumn {
  readonly column: string;
  readonly table?: string;
  /** Texts of more bytes than this are left out. */
  readonly longest: number;
}

/**
 * Number of kept rows for each continuation of one of these prefixes, in the order of `continuationsOf`. Each row counts at most
 * once.
 */
export async function countContinuations(
  engine: Snapshot,
  policy: Policy,
  { column, table, longest }: KeyColumn,
  prefixes: readonly string[],
): Promise<Exact<readonly bigint[]>> {
  const { data, declared } = rowsOf(engine, policy, column, table);
  const { dialect } = data;
  const binder = new Binder(dialect);
  const source = await data.columns();
  const own = sourceColumn(source, column);
  const text = dialect.trimmed(own.type === 'text' ? rawCell(own) : dialect.text(rawCell(own)));
  const rows = boundedRowsSql({ dialect, policy: declared, columns: source }, binder, [[dialect.bytes(text), 'bytes']]);
  const known = prefixes[0]!.length;
  const list = prefixes.map((prefix) => binder.text(prefix)).join(', ');
  const sql = `SELECT substr(bytes, 1, ${known + 2}), count(*) FROM (${rows}) AS texts WHERE length(bytes) BETWEEN 2 AND ${2 * longest} AND substr(bytes, 1, ${known}) IN (${list}) GROUP BY substr(bytes, 1, ${known + 2})`;
  const found = new Map(
    (await data.rows({ sql, values: binder.values })).open().map(([begin, count]) => [String(begin), BigInt(count as bigint)]),
  );
  return new Exact(prefixes.flatMap((prefix) => continuationsOf(prefix).map((next) => found.get(prefix + next) ?? 0n)));
}

/** Rows kept as if the text column were a link: it has no codes yet by which rows could be distinguished. */
function rowsOf(engine: Snapshot, policy: Policy, name: string, table: string | undefined) {
  const column: CategoryColumn = { type: 'category', name, values: [], labels: new Map(), missing: [] };
  const linked = <T extends { readonly links?: readonly string[] }>(of: T) => ({ ...of, links: [...(of.links ?? []), name] });
  if (table === undefined)
    return {
      data: engine,
      declared: { ...policy, data: linked(policy.data), columns: new Map([...policy.columns, [name, column]]) },
    };
  const own = policy.tables!.get(table)!;
  const columns = new Map([...own.columns, [name, column]]);
  const all: Policy = { ...policy, tables: new Map([...policy.tables!, [table, { ...linked(own), columns }]]) };
  const seen = countedViewOf(all, { parts: [{ as: table, rows: { form: 'table', table }, on: [], optional: false }] });
  return { data: seen.over(engine), declared: seen.policy };
}
