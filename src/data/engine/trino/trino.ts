import { Fault } from '../../../base/errors.js';
import { readCluster } from '../../../policy/address.js';
import { viewInjector } from '../data-view.js';
import { type Engine, type EngineLimits, type Snapshot, withSnapshot } from '../engine.js';
import type { EngineSource } from '../source.js';
import { relationView } from '../structure.js';
import { timeLeft } from '../time-left.js';
import { type KeepTest, sourceColumnNamed, WithoutRows } from '../without-rows.js';
import { Client, type StatementRunner } from './client.js';
import { trino } from './dialect.js';
import { trinoFault } from './fault.js';
import { trinoRelationViews } from './relation.js';
import { type TrinoSchema, TrinoSnapshot } from './snapshot.js';
import { describeTrinoTable, shortTrinoTable, type TrinoTable, type TrinoTableName, trinoTableName } from './table.js';
import { atVersion, stabilityOf, stateOf, type TableStability, versionsOf, Watch } from './table-versions.js';

/** Opens a table of a Trino cluster: nothing is created there, and nothing but what a SELECT gives leaves it. */
export async function openTrino(source: EngineSource, limits: EngineLimits): Promise<Engine> {
  const address = readCluster(source.source);
  const named = source.table ?? address.table;
  if (named === undefined)
    throw new Fault('DATA_NOT_FOUND', 'A schema has many tables.', 'Choose one with data: {table: people}.');
  const client = new Client(address, limits.deadline);
  try {
    // Also if the data itself defines the ties: ties use the text, whatever else is read of those columns.
    const relations = [...new Set(source.relations.map(({ table }) => table))];
    const all: readonly Omit<SourceTable, 'place' | 'keeping'>[] = [
      { named, read: source },
      ...relations.map((own) => ({ named: own, read: {} })),
      ...(source.tables ?? []).map((own) => ({ named: own.table!, read: own, sideTable: own.name })),
    ];
    const tables = await Promise.all(
      all.map(async (own): Promise<SourceTable> => {
        const place = trinoTableName(address, own.named);
        return { ...own, place, keeping: await stabilityOf(client, place) };
      }),
    );
    const engine = new TrinoEngine(source, limits, client, tables);
    // Unreadable data must show now, not during a release.
    await withSnapshot(engine, async (data) => data.columns());
    return engine;
  } catch (error) {
    client.close();
    throw trinoFault(error);
  }
}

/** A table of the data, of a relation or of a side table, the data first, with its stability. */
interface SourceTable {
  readonly named: string;
  /** Properties of its cells. */
  readonly read: Pick<EngineSource, 'numbers' | 'commas' | 'dates'>;
  /** Name of the side table. */
  readonly sideTable?: string;
  readonly place: TrinoTableName;
  readonly keeping: TableStability;
}

class TrinoEngine implements Engine {
  readonly dialect = trino;
  readonly whole = this;
  readonly source: EngineSource;
  readonly room: number;
  readonly #client: Client;
  readonly #limits: EngineLimits;
  readonly #tables: readonly SourceTable[];
  /** Schema found when the tables were last in this state. */
  #known: { readonly content: string; readonly reading: TrinoSchema } | undefined;

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
    const asking = client.within(timeLeft(this.#limits));
    try {
      const versioned = this.#tables.filter(({ keeping }) => keeping === 'version');
      const versions = await versionsOf(asking, versioned.map(({ place }) => place)); // biome-ignore format: one line
      const at = new Map(versioned.map((kept, i) => [kept, versions[i]]));
      if (versions.includes(undefined)) throw new Fault('ENGINE_FAILED', 'A table of the cluster has lost its version.', 'Open the data again.'); // biome-ignore format: one line
      const found = this.#tables.some(({ keeping }) => keeping === 'watched') ? await this.#describe(asking, at) : undefined;
      const watched = [...(found ?? [])].filter(([{ keeping }]) => keeping === 'watched').map(([, table]) => table);
      const state = await stateOf(asking, watched);
      const content = [this.#tables.map((kept) => [kept.place, at.get(kept) ?? null]), state];
      const key = JSON.stringify([content, [...(found ?? [])].map(([, table]) => table)]);
      const reading =
        this.#known?.content === key ? this.#known.reading : this.#read(found ?? (await this.#describe(asking, at)), content);
      this.#known = { content: key, reading };
      const watch = new Watch(asking, watched, state);
      return new TrinoSnapshot({ source: this.source, room: this.room, client, asking, reading, watch });
    } catch (error) {
      throw trinoFault(error);
    }
  }

  async #describe(
    asking: StatementRunner,
    at: ReadonlyMap<SourceTable, string | undefined>,
  ): Promise<ReadonlyMap<SourceTable, TrinoTable>> {
    const found = this.#tables.map(async (kept) => {
      const table = await describeTrinoTable(asking, kept.place, atVersion(at.get(kept)), kept.read);
      return [kept, table] as const;
    });
    return new Map(await Promise.all(found));
  }

  #read(found: ReadonlyMap<SourceTable, TrinoTable>, content: unknown): TrinoSchema {
    const [data, ...rest] = this.#tables.map((kept) => found.get(kept)!);
    const named = this.#tables.slice(1).map((kept, i) => [kept, rest[i]!] as const);
    const tables = new Map(
      named.flatMap(([{ named, sideTable: sideTables }, table]) => (sideTables === undefined ? [[named, table]] : [])),
    );
    const sideTables = new Map(
      [...found].flatMap(([kept, table]) => (kept.sideTable === undefined ? [] : [[kept.sideTable, table]])),
    );
    const typed = ({ columns }: TrinoTable) => columns.map(({ name, type }) => ({ name, type }));
    const relations = new Map(
      this.source.relations.map((relation) => [
        relationView(relation.name),
        trinoRelationViews(tables.get(relation.table)!, relation),
      ]),
    );
    return {
      columns: typed(data!),
      tableColumns: new Map([...sideTables].map(([name, own]) => [name, typed(own)])),
      show: viewInjector(data!, relations, sideTables),
      showShort: viewInjector(
        shortTrinoTable(data!),
        relations,
        new Map([...sideTables].map(([name, own]) => [name, shortTrinoTable(own)])),
      ),
      content,
    };
  }

  async without(column: string, names: readonly string[]): Promise<Engine> {
    await withSnapshot(this, async (data) => sourceColumnNamed(await data.columns(), column));
    return new WithoutRows(this, column, notAmong(names));
  }

  async close(): Promise<void> {
    this.#client.close();
  }
}

/** The list is written, as one text, into every statement: nothing of it stays in the cluster but its log. No name is empty, so rows without one stay. */
function notAmong(names: readonly string[]): KeepTest {
  const list = JSON.stringify(names);
  return (own, bound) => ({
    test: `coalesce(${own}, '') NOT IN (SELECT fugu_name FROM UNNEST(CAST(json_parse($${bound + 1}) AS ARRAY(VARCHAR))) AS fugu_left_out(fugu_name))`,
    values: [list],
  });
}
