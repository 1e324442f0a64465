import type { Chunk, Engine, Snapshot, Statement } from '../../src/data/engine/engine.js';
import type { Exact } from '../../src/data/engine/exact.js';
import { nothingSpent, spend } from '../../src/privacy/mechanism/privacy-cost.js';
import type { Ledger, SpendEntry } from '../../src/release/ledger/ledger.js';

/** A ledger without memory: it admits everything that fits an empty account. */
export const forgetful: Ledger = {
  spent: async () => nothingSpent,
  replay: async () => undefined,
  spentUnder: async () => nothingSpent,
  reserve: async ({ admit, profile, ...rest }) => {
    admit(spend(nothingSpent, profile), nothingSpent, nothingSpent);
    return { ...rest, profile, sequence: 1, at: 0, settled: false, hash: '' } as SpendEntry;
  },
  commit: async (_entry, answer) => answer,
  entries: async () => [],
} as Partial<Ledger> as Ledger;

/** An engine that reads everything once. */
export async function remembering(engine: Engine): Promise<Engine & { readonly rows: Snapshot }> {
  const data = await engine.snapshot();
  const known = new Map<string, Promise<unknown>>();
  const once = <T>(key: unknown, make: () => Promise<T>): Promise<T> => {
    const text = JSON.stringify(key);
    if (!known.has(text)) known.set(text, make());
    return known.get(text) as Promise<T>;
  };
  const chunks = async (statement: Statement) => {
    const list: Exact<Chunk>[] = [];
    for await (const chunk of data.stream(statement)) list.push(chunk);
    return list;
  };
  const rows: Snapshot = {
    dialect: data.dialect,
    columns: (table) => once(['columns', table], () => data.columns(table)),
    beneath: (values) => data.beneath(values),
    size: () => once('size', () => data.size()),
    id: () => once('id', () => data.id()),
    rows: (statement) => once(['rows', statement], () => data.rows(statement)),
    async *stream(statement) {
      yield* await once(['stream', statement], () => chunks(statement));
    },
    count: (statement) => once(['count', statement], () => data.count(statement)),
    room: data.room,
    source: data.source,
    get whole(): Snapshot {
      return rows;
    },
    close: async () => undefined,
  };
  return {
    rows,
    dialect: engine.dialect,
    room: engine.room,
    snapshot: async () => rows,
    source: engine.source,
    whole: engine.whole,
    without: (column, names) => engine.without(column, names),
    close: () => engine.close(),
  };
}
