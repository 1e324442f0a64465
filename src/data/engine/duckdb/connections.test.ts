import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { Connections } from './connections.js';

describe('a connection', () => {
  it('a connection that was stopped between two statements stops the next one, too', async () => {
    const connections = new Connections(await DuckDBInstance.create(':memory:'), 60_000);
    const lease = await connections.lease(1);
    // Its time passes while nothing is under way.
    await new Promise((waited) => setTimeout(waited, 60));
    const endless = { sql: 'SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b', values: [] };
    // A statement that nothing stops would never end: it is ended here, and the test fails.
    let unstopped = false;
    const end = setTimeout(() => {
      unstopped = true;
      lease.connection.interrupt();
    }, 60_000);
    const error = await lease.prepare(endless).then((prepared) => prepared.run()).catch((e: unknown) => e); // biome-ignore format: one line
    clearTimeout(end);
    expect(unstopped).toBe(false);
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
