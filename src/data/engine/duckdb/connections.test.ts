import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { Connections } from './connections.js';

describe('a connection', () => {
  it('a connection that was stopped between two statements stops the next one, too', async () => {
    const connections = new Connections(await DuckDBInstance.create(':memory:'), 60_000);
    const lease = await connections.lease(1);
    // Its time passes while nothing is under way.
    await new Promise((waited) => setTimeout(waited, 60));
    // Takes seconds to the end, where nothing stops it.
    const long = { sql: 'SELECT sum(a.range * b.range) FROM range(100000) a, range(40000) b', values: [] };
    const error = await lease.prepare(long).then((prepared) => prepared.run()).catch((e: unknown) => e); // biome-ignore format: one line
    expect(error).toBeInstanceOf(Error);
    expect(lease.fault(error).code).toBe('ENGINE_DEADLINE');
    lease.done(false);
    await connections.close();
  });

  it('a connection that is being made during close serves nobody', async () => {
    const connections = new Connections(await DuckDBInstance.create(':memory:'), 60_000);
    const requested = connections.lease().catch((e: unknown) => e);
    await connections.close();
    expect(await requested).toMatchObject({ name: 'Fault', message: 'The database is closed.' });
  });
});
