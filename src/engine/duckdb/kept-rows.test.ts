import { describe, expect, it } from 'vitest';
import type { HeldRows } from '../engine.js';
import { KeptRows } from './kept-rows.js';

const statement = { sql: 'SELECT 1 AS a', values: [] };
const found: HeldRows = { table: 'kept', rows: 1 };

describe('rows that are kept', () => {
  it('are worked out once for all who ask, and again by those who waited for one that had no time left', async () => {
    const kept = new KeptRows();
    let fail = (_: Error) => {};
    const late = new Promise<HeldRows>((_, reject) => (fail = reject));
    let begun = 0;
    const inTime = async () => {
      begun++;
      return found;
    };
    const first = kept.hold(statement, 9, () => late);
    const others = [kept.hold(statement, 9, inTime), kept.hold(statement, 9, inTime)];
    expect(begun).toBe(0);
    fail(new Error('late'));
    await expect(first).rejects.toThrow('late');
    expect(await Promise.all(others)).toEqual([found, found]);
    expect(begun).toBe(1);
    expect(await kept.hold(statement, 9, inTime)).toBe(found);
    expect(begun).toBe(1);
  });

  it('fail for those who fail themselves', async () => {
    const kept = new KeptRows();
    const failing = async (): Promise<HeldRows> => {
      throw new Error('late');
    };
    const asked = [kept.hold(statement, 9, failing), kept.hold(statement, 9, failing), kept.hold(statement, 9, failing)];
    expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await kept.hold(statement, 9, async () => found)).toBe(found);
  });
});
