import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import type { HeldRows } from '../engine.js';
import { HeldResults } from './held-results.js';

const statement = { sql: 'SELECT 1 AS a', values: [] };
const found: HeldRows = { table: 'kept', rows: 1 };

describe('stored results', () => {
  it('a result is computed once for all callers, and again for those who waited for one that ran out of time', async () => {
    const kept = new HeldResults();
    let fail = (_: Error) => {};
    const late = new Promise<HeldRows>((_, reject) => (fail = reject));
    let begun = 0;
    const inTime = async () => {
      begun++;
      return found;
    };
    const first = kept.hold(statement, 1, 9, () => late);
    const others = [kept.hold(statement, 1, 9, inTime), kept.hold(statement, 1, 9, inTime)];
    expect(begun).toBe(0);
    fail(new Error('late'));
    await expect(first).rejects.toThrow('late');
    expect(await Promise.all(others)).toEqual([found, found]);
    expect(begun).toBe(1);
    expect(await kept.hold(statement, 1, 9, inTime)).toBe(found);
    expect(begun).toBe(1);
  });

  it('callers whose own computation fails all fail, and a later one succeeds', async () => {
    const kept = new HeldResults();
    const failing = async (): Promise<HeldRows> => {
      throw new Error('late');
    };
    const requested = [
      kept.hold(statement, 1, 9, failing),
      kept.hold(statement, 1, 9, failing),
      kept.hold(statement, 1, 9, failing),
    ];
    expect((await Promise.allSettled(requested)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await kept.hold(statement, 1, 9, async () => found)).toBe(found);
  });

  it('stored results share one capacity', async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      const kept = new HeldResults();
      const rows = (n: number) => ({ sql: `SELECT i, ${n} AS n FROM range(${n}) AS t(i)`, values: [] });
      const hold = (n: number) => kept.hold(rows(n), 2, 20, (write) => write(connection));
      expect((await hold(6))!.rows).toBe(6);
      expect(await hold(5)).toBeUndefined();
      expect((await hold(4))!.rows).toBe(4);
      expect(await hold(1)).toBeUndefined();
      expect((await hold(6))!.rows).toBe(6);
      const tables = await connection.runAndReadAll("SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'fugu_kept_%'");
      expect(Number(tables.getRows()[0]![0])).toBe(2);
      const both = new HeldResults();
      const found = await Promise.all([3, 4].map((n) => both.hold(rows(n), 2, 10, (write) => write(connection))));
      expect(found.filter((held) => held !== undefined)).toHaveLength(1);
      const wide = new HeldResults(8);
      const few = await Promise.all([1, 2].map((n) => wide.hold(rows(n), 2, 20, (write) => write(connection))));
      expect(few.filter((held) => held !== undefined)).toHaveLength(1);
      expect(await new HeldResults(8).hold(rows(1), 3, 20, (write) => write(connection))).toBeUndefined();
    } finally {
      instance.closeSync();
    }
  });
});
