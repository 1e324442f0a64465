import type { Statement } from './engine.js';
import { quoteName, tableView } from './structure.js';
import { allRows } from './without-rows.js';

/** Contents of `fugu_data`: each column as an expression over the FROM clause. */
export interface SourceView {
  readonly from: string;
  readonly columns: readonly SourceViewColumn[];
}
export interface SourceViewColumn {
  readonly name: string;
  readonly expression: string;
  /** Expensive: computed once per row, also by a database that would otherwise compute it at every reference. */
  readonly costly?: boolean;
  /** FROM clause with fewer columns, for a statement all of whose columns are in it. */
  readonly from?: string;
}

/** The same cells under the same names, from where they are held. */
export const storedIn = (table: string, { columns }: SourceView): SourceView => ({
  from: table,
  columns: columns.map((c) => ({ name: c.name, expression: quoteName(c.name) })),
});

export const selectAll = ({ from, columns }: SourceView): string => `SELECT ${listed(columns)} FROM ${from}`;
const listed = (columns: readonly SourceViewColumn[]): string =>
  columns.map((c) => `${c.expression} AS ${quoteName(c.name)}`).join(', ') || '1 AS fugu_nothing';

/**
 * Injects the data into statements: only the columns that a statement names, or all for a star.
 * Relations become WITH clauses under the name of their view, side tables under their own.
 */
export function viewInjector(
  shown: SourceView,
  relations: ReadonlyMap<string, readonly string[]> = new Map(),
  tables: ReadonlyMap<string, SourceView> = new Map(),
): (statement: Statement) => Statement {
  const dataFor = columnsFor(shown, 'fugu_data');
  const tableViews = [...tables].map(([name, own]) => [tableView(name), columnsFor(own, tableView(name))] as const);
  return (statement) => {
    const { words, bare } = wordsIn(statement.sql);
    const data = [allRows, 'fugu_data'].find((view) => bare.has(view));
    const views = [...relations].flatMap(([view, given]) => (bare.has(view) ? given : []));
    if (data !== undefined) views.push(viewClause(data, dataFor(statement, words)));
    for (const [view, rowsFor] of tableViews) if (bare.has(view)) views.push(viewClause(view, rowsFor(statement, words)));
    if (views.length === 0) return statement;
    const rest = /^WITH /.test(statement.sql) ? `, ${statement.sql.slice('WITH '.length)}` : ` ${statement.sql}`;
    return { ...statement, sql: `WITH ${views.join(', ')}${rest}` };
  };
}
function columnsFor(shown: SourceView, view: string): (statement: Statement, words: ReadonlySet<string>) => string {
  const byName = new Map<string, SourceViewColumn[]>();
  for (const column of shown.columns) {
    const key = column.name.toLowerCase();
    byName.set(key, [...(byName.get(key) ?? []), column]);
  }
  const everything = new RegExp(`\\* FROM ${view}\\b`, 'i');
  return (statement, words) => {
    const columns = everything.test(statement.sql) ? shown.columns : [...words].flatMap((word) => byName.get(word) ?? []);
    const places = new Set(columns.map((column) => column.from));
    const from = (places.size === 1 ? [...places][0] : undefined) ?? shown.from;
    return `${selectAll({ from, columns })}${columns.some((c) => c.costly) ? ' OFFSET 0' : ''}`;
  };
}
export const viewClause = (view: string, sql: string): string => `${view} AS NOT MATERIALIZED (${sql})`;

/** Names and bare words, in lower case; text between single quotes names nothing. Views are always bare: a column may have the name of one. */
function wordsIn(sql: string): { readonly words: ReadonlySet<string>; readonly bare: ReadonlySet<string> } {
  const words = new Set<string>();
  const unquoted = new Set<string>();
  for (const [, quoted, bare] of sql.matchAll(/'(?:[^']|'')*'|"((?:[^"]|"")*)"|([\p{L}_][\p{L}\p{N}_]*)/gu)) {
    const word = quoted?.replaceAll('""', '"') ?? bare;
    if (word !== undefined) words.add(word.toLowerCase());
    if (bare !== undefined) unquoted.add(bare.toLowerCase());
  }
  return { words, bare: unquoted };
}
