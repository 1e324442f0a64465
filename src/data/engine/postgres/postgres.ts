import { Fault } from '../../../base/errors.js';
import { readAddress } from '../../../policy/address.js';
import { type Engine, type EngineLimits, type Snapshot, withSnapshot } from '../engine.js';
import { serverSchema } from '../server-snapshot.js';
import type { NumberReadings } from '../shown-table.js';
import type { EngineSource } from '../source.js';
import { relationView, tableView } from '../structure.js';
import { type TimeLeft, timeLeft } from '../time-left.js';
import { engineWithout, type KeepTest, unlessNamed } from '../without-rows.js';
import { readCatalogMarks, sameObjects } from './catalog-marks.js';
import type { PostgresConnection } from './connection.js';
import { postgres } from './dialect.js';
import { beginSnapshot, exportedSnapshot } from './exported-snapshot.js';
import { postgresFault } from './fault.js';
import { Pool } from './pool.js';
import { postgresRelationViews } from './relation.js';
import { refuseServer } from './server.js';
import { type PostgresSchema, PostgresSnapshot } from './snapshot.js';
import { describePostgresTable, findTable, type PostgresTable } from './table.js';

const instead =
  "Use one who may read the data and nothing else: CREATE ROLE reader LOGIN PASSWORD '…'; GRANT SELECT ON TABLE … TO reader.";

/** Opens a table of a PostgreSQL database: nothing is created there, and nothing but what a SELECT gives leaves it. */
export async function openPostgres(source: EngineSource, limits: EngineLimits): Promise<Engine> {
  const pool = new Pool(readAddress(source.source), limits.deadline);
  try {
    const connection = await pool.take();
    try {
      await connection.within(limits.deadline, (open) => refuseServer(open, instead));
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
  #known: { readonly state: string | undefined; readonly schema: PostgresSchema } | undefined;

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
    let data: PostgresSnapshot;
    try {
      holder = await pool.take();
      data = await holder.within(left(), (held) => this.#pinned(held, left));
    } catch (error) {
      if (holder) pool.drop(holder);
      pool.pins.leave();
      throw postgresFault(error);
    }
    try {
      // Every row of a view is computed once, so that a row that fails does so here.
      if (data.viewed) await data.id();
      return data;
    } catch (error) {
      await data.close();
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
      const marks = before && (await readCatalogMarks(holder, before.schema));
      const { snapshot, state } = exportedSnapshot(await holder.begin(beginSnapshot));
      const schema = state !== undefined && before?.state === state ? before.schema : await this.#readSchema(holder);
      this.#known = { state, schema };
      if (marks !== undefined && sameObjects(before!.schema, schema))
        return new PostgresSnapshot({ source, room, pool: this.#pool, holder, snapshot, schema, marks, left });
      await holder.run('ROLLBACK');
    }
    throw new Fault('ENGINE_FAILED', 'The tables of the database are being made anew.', 'Try again later.');
  }

  /** Leaves no lock behind: a session waiting for such a lock would block our own statements. */
  async #readSchema(holder: PostgresConnection): Promise<PostgresSchema> {
    await holder.run('SAVEPOINT fugu_looking');
    const schema = await schemaOf(this.source, holder);
    await holder.run('ROLLBACK TO SAVEPOINT fugu_looking');
    return schema;
  }

  without(column: string, names: readonly string[]): Promise<Engine> {
    return engineWithout(this, column, () => notAmong(names));
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

async function schemaOf(source: EngineSource, connection: PostgresConnection): Promise<PostgresSchema> {
  if (source.table === undefined)
    throw new Fault('DATA_NOT_FOUND', 'A database has many tables.', 'Choose one with data: {table: schema.table}.');
  const tables = new Map<string, PostgresTable>();
  const describe = async (named: string, readings: NumberReadings) => {
    const found = await describePostgresTable(connection, await findTable(connection, named), readings);
    tables.set(named, found);
    return found;
  };
  const data = await describe(source.table, source);
  const relations = new Map<string, readonly string[]>();
  for (const relation of source.relations)
    relations.set(relationView(relation.name), postgresRelationViews(await describe(relation.table, {}), relation));
  const sideTables = new Map<string, PostgresTable>();
  for (const own of source.tables ?? []) sideTables.set(own.name, await describe(own.table!, own));
  const all = [...tables.values()];
  return {
    ...serverSchema(data, relations, sideTables),
    sideViews: [...relations.keys(), ...[...sideTables.keys()].map(tableView)],
    viewed: all.some(({ view }) => view),
    made: all.some(({ made }) => made),
    oids: [...new Set(all.flatMap(({ oids }) => oids))].sort((a, b) => a - b),
  };
}

/** The list is bound, as one text, to every statement: nothing of it stays in the database. */
const notAmong = (names: readonly string[]): KeepTest =>
  unlessNamed((bound) => `SELECT jsonb_array_elements_text(CAST($${bound + 1} AS JSONB))`, [JSON.stringify(names)]);
