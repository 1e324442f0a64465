import { Fault } from '../../base/errors.js';
import { databaseClosed, type Engine, type Snapshot, type SourceColumn, type Statement, withSnapshot } from './engine.js';
import { quoteName } from './structure.js';

/** Name under which a statement with a `fugu_data` of its own sees every row. */
export const allRows = 'fugu_all_rows';

/** Test if a row stays, by its name `own`. Its values are bound after the `bound` others of a statement. */
export type KeepTest = (own: string, bound: number) => { readonly test: string; readonly values: readonly string[] };

/** Keeps rows whose name is not in the query of `names`. No name is empty, so rows without one stay. */
export const unlessNamed =
  (names: (bound: number) => string, values: readonly string[] = []): KeepTest =>
  // The owner's name is computed outside of the query, where no other column can have its name.
  (own, bound) => ({ test: `coalesce(${own}, '') NOT IN (${names(bound)})`, values });

/** An engine without some rows of another: every statement reads its own `fugu_data`, and the database holds no trace of the list. */
export async function engineWithout(whole: Engine, column: string, keeping: () => KeepTest | Promise<KeepTest>): Promise<Engine> {
  await withSnapshot(whole, async (data) => unitColumn(await data.columns(), column));
  const keeps = await keeping();
  let closed = false;
  return {
    dialect: whole.dialect,
    room: whole.room,
    source: whole.source,
    whole,
    snapshot: async () => {
      if (closed) throw databaseClosed();
      return snapshotWithout(await whole.snapshot(), column, keeps);
    },
    without: (other, names) => whole.without(other, names),
    close: async () => {
      closed = true;
    },
  };
}

function snapshotWithout(whole: Snapshot, column: string, keeps: KeepTest): Snapshot {
  /** The stored type is looked up every time: it may change with the data. */
  const keptRows = async (values: Statement['values']) => {
    const { name, type } = unitColumn(await whole.columns(), column);
    const { test, values: more } = keeps(whole.dialect.name(quoteName(name), type), values.length);
    return { rows: `SELECT * FROM ${allRows} WHERE ${test}`, values: more.length > 0 ? [...values, ...more] : values };
  };
  const overKept = async ({ sql, values: own, numbered }: Statement): Promise<Statement> => {
    const { rows, values } = await keptRows(own);
    return { sql: `WITH fugu_data AS NOT MATERIALIZED (${rows}) ${sql}`, values, ...(numbered && { numbered }) };
  };
  const count = async (statement: Statement) => whole.count(await overKept(statement));
  return {
    dialect: whole.dialect,
    source: whole.source,
    room: whole.room,
    whole,
    get moment() {
      return whole.moment;
    },
    get queries() {
      return whole.queries;
    },
    id: () => whole.id(),
    columns: (table) => whole.columns(table),
    beneath: async (own) => {
      const { rows, values } = await keptRows(own);
      return { from: `(${rows})`, values };
    },
    size: () => count({ sql: 'SELECT 1 FROM fugu_data', values: [] }),
    count,
    rows: async (statement) => whole.rows(await overKept(statement)),
    stream: async function* (statement) {
      yield* whole.stream(await overKept(statement));
    },
    close: () => whole.close(),
  };
}

function unitColumn(columns: readonly SourceColumn[], own: string): SourceColumn {
  const found = columns.find((c) => c.name === own);
  if (found) return found;
  throw new Fault('COLUMN_UNKNOWN', `The data has no column "${own}".`, 'Check protect.unit in the policy.');
}
