import type { Cell, Chunk, Snapshot, SourceColumn, Statement } from '../../data/engine/engine.js';
import { Exact } from '../../data/engine/exact.js';
import type { Column, Policy } from '../../policy/policy.js';
import { Binder } from '../count/contribution-bound.js';
import type { CountedView } from '../count/measure.js';
import { columnsTested } from '../count/row-test.js';
import { compileView } from './compile.js';
import { columnsOfView, jsonValue, policyOfView } from './declared.js';
import { holdViewRows } from './held-rows.js';
import type { ViewTables } from './limits.js';
import { rowsPerPerson } from './rows-per-person.js';
import type { View } from './view.js';

/** Measures over a view are counted as if its rows were the data's. */
export const countedViewOf = (policy: Policy, view: View): CountedView => ({
  policy: policyOfView(policy, view),
  text: JSON.stringify(
    [
      view,
      [...(policy.tables?.values() ?? [])].map(({ columns, ...table }) => [table, [...columns.values()]]),
      ...dataRead(policy, view),
    ],
    jsonValue,
  ),
  tables: [...(policy.tables?.keys() ?? [])].filter((name) => readsTable(view, name)),
  over: (data) => new ViewSnapshot(data, policy, view),
});
/** Declared columns of the data that rows per person read: the counting over a view does not name them. */
const dataRead = (policy: Policy, { parts }: View): readonly Column[] =>
  parts.flatMap(({ rows }) => {
    if (rows.form === 'table') return [];
    const { of, filter, features } = rows;
    const names = new Set([
      ...columnsTested(filter),
      ...features.flatMap((f) => ('column' in f ? [f.column, 'by' in f ? f.by : f.column] : [])),
    ]);
    const own = new Set(
      of.parts.filter((part) => part.rows.form === 'table' && part.rows.table === undefined).map(({ as }) => as),
    );
    const read = columnsOfView(policy, of).filter(({ as, name }) => own.has(as) && names.has(name));
    return [...read.map(({ column }) => column), ...dataRead(policy, of)];
  });

/** View as one more `fugu_data`: every statement defines it, and nothing is stored in the database. */
class ViewSnapshot implements Snapshot {
  readonly #data: Snapshot;
  readonly #policy: Policy;
  readonly #view: View;

  constructor(data: Snapshot, policy: Policy, view: View) {
    this.#data = data;
    this.#policy = policy;
    this.#view = view;
  }

  get dialect() {
    return this.#data.dialect;
  }
  get source() {
    return this.#data.source;
  }
  get room() {
    return this.#data.room;
  }
  get whole() {
    return this.#data.whole;
  }
  id(): Promise<string> {
    return this.#data.id();
  }
  beneath(values: Statement['values']) {
    return this.#data.beneath(values);
  }

  async columns(table?: string): Promise<readonly SourceColumn[]> {
    if (table !== undefined) return this.#data.columns(table);
    return compileView(await this.#described(), new Binder(this.dialect), this.#view, 'fugu_data').columns;
  }

  /** Upper bound: the number of persons times the rows each may have. */
  async size(): Promise<Exact<number>> {
    const persons = (await this.#data.size()).open();
    return new Exact(persons * rowsPerPerson(this.#policy, this.#view));
  }
  async count(statement: Statement): Promise<Exact<number>> {
    return this.whole.count(await this.#over(statement));
  }
  async rows(statement: Statement): Promise<Exact<readonly (readonly Cell[])[]>> {
    return this.whole.rows(await this.#over(statement));
  }
  async *stream(statement: Statement): AsyncIterable<Exact<Chunk>> {
    yield* this.whole.stream(await this.#over(statement));
  }
  async close(): Promise<void> {}

  async #over({ sql, values, numbered }: Statement): Promise<Statement> {
    const { from, values: bound } = await this.#data.beneath(values);
    const binder = new Binder(this.dialect, bound);
    const view = compileView(await this.#tables(), binder, this.#view, from).sql;
    return {
      sql: `WITH fugu_data AS NOT MATERIALIZED (${view}) ${sql}`,
      values: binder.values,
      ...(numbered && { numbered }),
    };
  }

  async #described(): Promise<ViewTables> {
    const policy = this.#policy;
    const names = [undefined, ...(policy.tables?.keys() ?? [])];
    const columns = new Map(await Promise.all(names.map(async (name) => [name, await this.#data.columns(name)] as const)));
    return { dialect: this.dialect, policy, columns: (table) => columns.get(table)! };
  }

  async #tables(): Promise<ViewTables> {
    const tables = await this.#described();
    const held = await holdViewRows(this.#data, tables, this.#view);
    return { ...tables, ...(held && { held }) };
  }
}

const readsTable = ({ parts }: View, name: string): boolean =>
  parts.some(({ rows }) => (rows.form === 'table' ? rows.table === name : readsTable(rows.of, name)));
