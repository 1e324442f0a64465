import { Fault } from '../../../base/errors.js';
import { readCluster } from '../../../policy/address.js';
import { type Engine, type EngineLimits, type Snapshot, withSnapshot } from '../engine.js';
import { type ServerSchema, serverSchema } from '../server-snapshot.js';
import type { NumberReadings, ShownTable } from '../shown-table.js';
import type { EngineSource } from '../source.js';
import { relationView } from '../structure.js';
import { timeLeft } from '../time-left.js';
import { engineWithout, type KeepTest, unlessNamed } from '../without-rows.js';
import { Client, type StatementRunner } from './client.js';
import { trino } from './dialect.js';
import { trinoFault } from './fault.js';
import { trinoRelationViews } from './relation.js';
import { TrinoSnapshot } from './snapshot.js';
import { describeTrinoTable, type TrinoTableName, trinoTableName } from './table.js';
import { atVersion, stabilityOf, stateOf, type TableStability, versionsOf, Watch } from './table-versions.js';

/** Opens a table of a Trino cluster: nothing is created there, and nothing but what a SELECT gives leaves it. */
export async function openTrino(source: EngineSource, limits: EngineLimits): Promise<Engine> {
  const address = readCluster(source.source);
  const data = source.table ?? address.table;
  if (data === undefined)
    throw new Fault('DATA_NOT_FOUND', 'A schema has many tables.', 'Choose one with data: {table: people}.');
  const client = new Client(address, limits.deadline);
  try {
    // Also if the data itself defines the ties: ties use the text, whatever else is read of those columns.
    const relations = [...new Set(source.relations.map(({ table }) => table))];
    const all: readonly Omit<SourceTable, 'place' | 'stability'>[] = [
      { named: data, readings: source },
      ...relations.map((named) => ({ named, readings: {} })),
      ...(source.tables ?? []).map((own) => ({ named: own.table!, readings: own, sideTable: own.name })),
    ];
    const tables = await Promise.all(
      all.map(async (own): Promise<SourceTable> => {
        const place = trinoTableName(address, own.named);
        return { ...own, place, stability: await stabilityOf(client, place) };
      }),
    );
    const engine = new TrinoEngine(source, limits, client, tables);
    // Unreadable data must show now, not during a release.
    await withSnapshot(engine, async (snapshot) => snapshot.columns());
    return engine;
  } catch (error) {
    client.close();
    throw trinoFault(error);
  }
}

/** A table of the data, of a relation or of a side table; the data first. */
interface SourceTable {
  readonly named: string;
  readonly readings: NumberReadings;
  readonly sideTable?: string;
  readonly place: TrinoTableName;
  readonly stability: TableStability;
}

type ShownTables = ReadonlyMap<SourceTable, ShownTable>;

class TrinoEngine implements Engine {
  readonly dialect = trino;
  readonly whole = this;
  readonly source: EngineSource;
  readonly room: number;
  readonly #client: Client;
  readonly #limits: EngineLimits;
  readonly #tables: readonly SourceTable[];
  /** Schema found when the tables were last in this state. */
  #known: { readonly state: string; readonly schema: ServerSchema } | undefined;

  constructor(source: EngineSource, limits: EngineLimits, client: Client, tables: readonly SourceTable[]) {
    this.source = source;
    this.room = limits.room ?? limits.memory;
    this.#client = client;
    this.#limits = limits;
    this.#tables = tables;
  }

  async snapshot(): Promise<Snapshot> {
    const client = this.#client;
    client.refuseClosed();
    const runner = client.within(timeLeft(this.#limits));
    try {
      const versioned = this.#tables.filter(({ stability }) => stability === 'version');
      const versions = await versionsOf(runner, versioned.map(({ place }) => place)); // biome-ignore format: one line
      const versionAt = new Map(versioned.map((own, i) => [own, versions[i]]));
      if (versions.includes(undefined)) throw new Fault('ENGINE_FAILED', 'A table of the cluster has lost its version.', 'Open the data again.'); // biome-ignore format: one line
      const describe = () => describeTables(runner, this.#tables, versionAt);
      const described = this.#tables.some(({ stability }) => stability === 'watched') ? await describe() : undefined;
      const watched = [...(described ?? [])].filter(([{ stability }]) => stability === 'watched').map(([, table]) => table);
      const contents = await stateOf(runner, watched);
      const content = [this.#tables.map((own) => [own.place, versionAt.get(own) ?? null]), contents];
      const state = JSON.stringify([content, [...(described ?? [])].map(([, table]) => table)]);
      const schema = this.#known?.state === state ? this.#known.schema : schemaOf(this.source, described ?? (await describe()));
      this.#known = { state, schema };
      const watch = new Watch(runner, watched, contents);
      return new TrinoSnapshot({ source: this.source, room: this.room, client, runner, schema, content, watch });
    } catch (error) {
      throw trinoFault(error);
    }
  }

  without(column: string, names: readonly string[]): Promise<Engine> {
    return engineWithout(this, column, () => notAmong(names));
  }

  async close(): Promise<void> {
    this.#client.close();
  }
}

async function describeTables(
  runner: StatementRunner,
  tables: readonly SourceTable[],
  versionAt: ReadonlyMap<SourceTable, string | undefined>,
): Promise<ShownTables> {
  const described = tables.map(async (own) => {
    const table = await describeTrinoTable(runner, own.place, atVersion(versionAt.get(own)), own.readings);
    return [own, table] as const;
  });
  return new Map(await Promise.all(described));
}

function schemaOf(source: EngineSource, tables: ShownTables): ServerSchema {
  const [[, data], ...rest] = [...tables] as [[SourceTable, ShownTable], ...[SourceTable, ShownTable][]];
  const sideTables = new Map(rest.flatMap(([own, table]) => (own.sideTable === undefined ? [] : [[own.sideTable, table]])));
  const related = new Map(rest.flatMap(([own, table]) => (own.sideTable === undefined ? [[own.named, table]] : [])));
  const relations = source.relations.map(
    (relation) => [relationView(relation.name), trinoRelationViews(related.get(relation.table)!, relation)] as const,
  );
  return serverSchema(data, new Map(relations), sideTables);
}

/** The list is written, as one text, into every statement: nothing of it stays in the cluster but its log. */
const notAmong = (names: readonly string[]): KeepTest =>
  unlessNamed(
    (bound) => `SELECT fugu_name FROM UNNEST(CAST(json_parse($${bound + 1}) AS ARRAY(VARCHAR))) AS fugu_left_out(fugu_name)`,
    [JSON.stringify(names)],
  );
