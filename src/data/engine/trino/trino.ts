import { Fault } from '../../../base/errors.js';
import { readCluster } from '../../../policy/address.js';
import { type Engine, type EngineLimits, type Pinned, pinned } from '../engine.js';
import { shower } from '../shown.js';
import type { EngineSource } from '../source.js';
import { relationView } from '../structure.js';
import { timeLeft } from '../time-left.js';
import { columnNamed, type Staying, WithoutRows } from '../without.js';
import { type Asking, Client } from './client.js';
import { trino } from './dialect.js';
import { trinoFault } from './fault.js';
import { atVersion, type Keeping, keepingOf, stateOf, versionsOf, Watch } from './moment.js';
import { type Reading, TrinoPin } from './pin.js';
import { relationViews } from './relation.js';
import { describeTable, type Place, placeOf, shortened, type Table } from './table.js';

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
    const all: readonly Omit<Kept, 'place' | 'keeping'>[] = [
      { named, read: source },
      ...relations.map((own) => ({ named: own, read: {} })),
      ...(source.tables ?? []).map((own) => ({ named: own.table!, read: own, beside: own.name })),
    ];
    const tables = await Promise.all(
      all.map(async (own): Promise<Kept> => {
        const place = placeOf(address, own.named);
        return { ...own, place, keeping: await keepingOf(client, place) };
      }),
    );
    const engine = new TrinoEngine(source, limits, client, tables);
    // Unreadable data must show now, not during a release.
    await pinned(engine, async (data) => data.columns());
    return engine;
  } catch (error) {
    client.close();
    throw trinoFault(error);
  }
}

/** A table of the data, of a relation or of a side table, the data first, with its stability. */
interface Kept {
  readonly named: string;
  /** Properties of its cells. */
  readonly read: Pick<EngineSource, 'numbers' | 'commas' | 'dates'>;
  /** Name of the side table. */
  readonly beside?: string;
  readonly place: Place;
  readonly keeping: Keeping;
}

class TrinoEngine implements Engine {
  readonly dialect = trino;
  readonly whole = this;
  readonly source: EngineSource;
  readonly room: number;
  readonly #client: Client;
  readonly #limits: EngineLimits;
  readonly #tables: readonly Kept[];
  /** Schema found when the tables were last in this state. */
  #known: { readonly content: string; readonly reading: Reading } | undefined;

  constructor(source: EngineSource, limits: EngineLimits, client: Client, tables: readonly Kept[]) {
    this.source = source;
    this.room = limits.room ?? limits.memory;
    this.#client = client;
    this.#limits = limits;
    this.#tables = tables;
  }

  async pin(): Promise<Pinned> {
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
      return new TrinoPin({ source: this.source, room: this.room, client, asking, reading, watch });
    } catch (error) {
      throw trinoFault(error);
    }
  }

  async #describe(asking: Asking, at: ReadonlyMap<Kept, string | undefined>): Promise<ReadonlyMap<Kept, Table>> {
    const found = this.#tables.map(async (kept) => {
      const table = await describeTable(asking, kept.place, atVersion(at.get(kept)), kept.read);
      return [kept, table] as const;
    });
    return new Map(await Promise.all(found));
  }

  #read(found: ReadonlyMap<Kept, Table>, content: unknown): Reading {
    const [data, ...rest] = this.#tables.map((kept) => found.get(kept)!);
    const named = this.#tables.slice(1).map((kept, i) => [kept, rest[i]!] as const);
    const tables = new Map(named.flatMap(([{ named, beside }, table]) => (beside === undefined ? [[named, table]] : [])));
    const beside = new Map([...found].flatMap(([kept, table]) => (kept.beside === undefined ? [] : [[kept.beside, table]])));
    const typed = ({ columns }: Table) => columns.map(({ name, type }) => ({ name, type }));
    const relations = new Map(
      this.source.relations.map((relation) => [
        relationView(relation.name),
        relationViews(tables.get(relation.table)!, relation),
      ]),
    );
    return {
      columns: typed(data!),
      tableColumns: new Map([...beside].map(([name, own]) => [name, typed(own)])),
      show: shower(data!, relations, beside),
      showShort: shower(shortened(data!), relations, new Map([...beside].map(([name, own]) => [name, shortened(own)]))),
      content,
    };
  }

  async without(column: string, names: readonly string[]): Promise<Engine> {
    await pinned(this, async (data) => columnNamed(await data.columns(), column));
    return new WithoutRows(this, column, notAmong(names));
  }

  async close(): Promise<void> {
    this.#client.close();
  }
}

/** The list is written, as one text, into every statement: nothing of it stays in the cluster but its log. No name is empty, so rows without one stay. */
function notAmong(names: readonly string[]): Staying {
  const list = JSON.stringify(names);
  return (own, bound) => ({
    test: `coalesce(${own}, '') NOT IN (SELECT fugu_name FROM UNNEST(CAST(json_parse($${bound + 1}) AS ARRAY(VARCHAR))) AS fugu_left_out(fugu_name))`,
    values: [list],
  });
}
