import type { Engine, Snapshot } from '../src/data/engine/engine.js';
import { withSnapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';

/** The data at the time of each query, for tests that look at an engine from outside. Closing it closes the engine. */
export interface Now extends Snapshot {
  readonly engine: Engine;
}

export async function now(engine: Engine): Promise<Now> {
  const { dialect, room } = await withSnapshot(engine, async (data) => data);
  const ask =
    <A extends unknown[], T>(what: (data: Snapshot, ...args: A) => Promise<T>) =>
    (...args: A): Promise<T> =>
      withSnapshot(engine, (data) => what(data, ...args));
  const all: Now = {
    engine,
    dialect,
    room,
    source: engine.source,
    get whole() {
      return all;
    },
    id: ask((data) => data.id()),
    columns: ask((data, table?: string) => data.columns(table)),
    beneath: ask((data, values) => data.beneath(values)),
    size: ask((data) => data.size()),
    rows: ask((data, statement) => data.rows(statement)),
    count: ask((data, statement) => data.count(statement)),
    async *stream(statement) {
      const data = await engine.snapshot();
      try {
        yield* data.stream(statement);
      } finally {
        await data.close();
      }
    },
    close: () => engine.close(),
  };
  return all;
}

export const openNow = async (...what: Parameters<typeof openEngine>): Promise<Now> => now(await openEngine(...what));
