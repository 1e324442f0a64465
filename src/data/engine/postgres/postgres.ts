import { Fault } from '../../../base/errors.js';
import { readAddress } from '../../../policy/address.js';
import { viewInjector } from '../data-view.js';
import { type Engine, type EngineLimits, type Snapshot, withSnapshot } from '../engine.js';
import type { EngineSource } from '../source.js';
import { relationView, tableView } from '../structure.js';
import { type TimeLeft, timeLeft } from '../time-left.js';
import { type KeepTest, sourceColumnNamed, WithoutRows } from '../without-rows.js';
import { readCatalogMarks, sameObjects } from './catalog-marks.js';
import { inTime, type PostgresConnection } from './connection.js';
import { postgres } from './dialect.js';
import { beginSnapshot, exportedSnapshot } from './exported-snapshot.js';
import { postgresFault } from './fault.js';
import { Pool } from './pool.js';
import { postgresRelationViews } from './relation.js';
import { refuseServer } from './server.js';
import { type PostgresSchema, PostgresSnapshot } from './snapshot.js';
import { describePostgresTable, findTable, type PostgresTable, shortPostgresTable } from './table.js';

const reading =
  "Use one who may read the data and nothing else: CREATE ROLE reader LOGIN PASSWORD '…'; GRANT SELECT ON TABLE … TO reader.";

/** Opens a table of a PostgreSQL database: nothing is created there, and nothing but what a SELECT gives leaves it. */
export async function openPostgres(source: EngineSource, limits: EngineLimits): Promise<Engine> {
  const pool = new Pool(readAddress(source.source), limits.deadline);
  try {
    const connection = await pool.take();
    try {
      await inTime(
        limits.deadline,
        () => connection.destroy(),
        () => refuseServer(connection, reading),
      );
    } catch (error) {
      pool.drop(connection);
      throw postgresFault(error);
    }
    await pool.giveBack(connection);
    const engine = new PostgresEngine(source, limits, pool);
    // Unreadable data must show now, not during a release.
    await withSnapshot(engine, async (data) => data.columns());
    return engine;
  } catch (error) {
    await pool.close();
    throw error;
  }
}

class PostgresEngine implements Engine {
  readonly dialect = postgres;
  readonly whole = this;
  readonly source: EngineSource;
  readonly room: number;
  readonly #pool: Pool;
  readonly #limits: EngineLimits;
  /** Schema found when the database was last in this state. */
  #known: { readonly state: string | undefined; readonly reading: PostgresSchema } | undefined;

  constructor(source: EngineSource, limits: EngineLimits, pool: Pool) {
    this.source = source;
    this.room = limits.room ?? limits.memory;
    this.#pool = pool;
    this.#limits = limits;
  }

  async snapshot(): Promise<Snapshot> {
    const pool = this.#pool;
    pool.refuseClosed();
    const left = timeLeft(this.#limits);
    await pool.pins.enter(left());
    let holder: PostgresConnection | undefined;
    let pin: PostgresSnapshot;
    try {
      const held = await pool.take();
      holder = held;
      pin = await inTime(
        left(),
        () => held.destroy(),
        () => this.#pinned(held, left),
      );
    } catch (error) {
      if (holder) pool.drop(holder);
      pool.pins.leave();
      throw postgresFault(error);
    }
    try {
      // Every row of a view is computed once, so that a row that fails does so here.
      if (pin.viewed) await pin.id();
      return pin;
    } catch (error) {
      await pin.close();
      throw error;
    }
  }

  /**
   * The tables are determined before the snapshot is taken, so that replacing one of them is
   * detected. The connection that holds the snapshot reads the current catalog, not the snapshot.
   */
  async #pinned(holder: PostgresConnection, left: TimeLeft): Promise<PostgresSnapshot> {
    const { source, room } = this;
    for (let k = 0; k < 3; k++) {
      const before = this.#known;
      const marks = before && (await readCatalogMarks(holder, before.reading));
      const { snapshot, state } = exportedSnapshot(await holder.begin(beginSnapshot));
      const reading = state !== undefined && before?.state === state ? before.reading : await this.#looked(holder);
      this.#known = { state, reading };
      if (marks !== undefined && sameObjects(before!.reading, reading))
        return new PostgresSnapshot({ source, room, pool: this.#pool, holder, snapshot, reading, marks, left });
      await holder.run('ROLLBACK');
    }
    throw new Fault('ENGINE_FAILED', 'The tables of the database are being made anew.', 'Try again later.');
  }

  /** Inspection leaves no lock behind: a session waiting for such a lock would block our own statements. */
  async #looked(holder: PostgresConnection): Promise<PostgresSchema> {
    await holder.run('SAVEPOINT fugu_looking');
    const reading = await this.#read(holder);
    await holder.run('ROLLBACK TO SAVEPOINT fugu_looking');
    return reading;
  }

  async #read(connection: PostgresConnection): Promise<PostgresSchema> {
    const { source } = this;
    if (source.table === undefined)
      throw new Fault('DATA_NOT_FOUND', 'A database has many tables.', 'Choose one with data: {table: schema.table}.');
    const tables = new Map<string, PostgresTable>();
    const table = async (named: string, options: Pick<EngineSource, 'numbers' | 'commas' | 'dates'>) => {
      const found = await describePostgresTable(connection, await findTable(connection, named), options);
      tables.set(named, found);
      return found;
    };
    const data = await table(source.table, source);
    const relations = new Map<string, readonly string[]>();
    for (const relation of source.relations)
      relations.set(relationView(relation.name), postgresRelationViews(await table(relation.table, {}), relation));
    const sideTables = new Map<string, PostgresTable>();
    for (const own of source.tables ?? []) sideTables.set(own.name, await table(own.table!, own));
    const typed = ({ columns }: PostgresTable) => columns.map(({ name, type }) => ({ name, type }));
    return {
      columns: typed(data),
      tableColumns: new Map([...sideTables].map(([name, own]) => [name, typed(own)])),
      show: viewInjector({ from: data.from, columns: data.columns }, relations, sideTables),
      showShort: viewInjector(
        shortPostgresTable(data),
        relations,
        new Map([...sideTables].map(([name, own]) => [name, shortPostgresTable(own)])),
      ),
      sideViews: [...relations.keys(), ...[...sideTables.keys()].map(tableView)],
      viewed: [...tables.values()].some(({ view }) => view),
      made: [...tables.values()].some(({ made }) => made),
      oids: [...new Set([...tables.values()].flatMap(({ oids }) => oids))].sort((a, b) => a - b),
    };
  }

  async without(column: string, names: readonly string[]): Promise<Engine> {
    await withSnapshot(this, async (data) => sourceColumnNamed(await data.columns(), column));
    return new WithoutRows(this, column, notAmong(names));
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** The list is bound, as one text, to every statement: nothing of it stays in the database. No name is empty, so rows without one stay. */
function notAmong(names: readonly string[]): KeepTest {
  const list = JSON.stringify(names);
  return (own, bound) => ({
    // The owner's name is computed outside of the list, where no other column can have its name.
    test: `coalesce(${own}, '') NOT IN (SELECT jsonb_array_elements_text(CAST($${bound + 1} AS JSONB)))`,
    values: [list],
  });
}
