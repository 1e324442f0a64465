import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../src/base/errors.js';
import { type Cell, type Engine, type Snapshot, withSnapshot } from '../src/data/engine/engine.js';

/**
 * Contract of every engine. `open` receives a table (first row = names, null = NULL) under the policy's data view,
 * and a symmetric relation `friend` given as rows (a, b).
 */
export interface EngineUnderTest {
  readonly open: (
    table: readonly (readonly (string | null)[])[],
    friend: readonly (readonly (string | null)[])[],
    limits?: { readonly deadline?: number; readonly release?: number },
  ) => Promise<Engine>;
  /** Milliseconds in which the data can be opened here, and a statement that never ends is still waited for. */
  readonly deadline?: number;
  /** Columns of a wide table: a thousand, where memory is not little. */
  readonly wide?: number;
  /** Makes the data under an open engine have one more row. */
  readonly grow: (engine: Engine) => Promise<void>;
  /** Statements that would write, read something else or change limits. */
  readonly forbidden: readonly string[];
}

const people = [
  ['id', 'age', 'party', 'note'],
  ['1', '30', 'dem', 'plain'],
  ['2', null, 'rep', 'quote " and, comma'],
  ['3', 'NaN', null, "apostrophe '"],
  ['4', '1e999', 'dem', 'línea ünïcode 試験'],
  ['5', 'secret-value', 'other', null],
] as const;
const friends = [
  ['a', 'b'],
  ['1', '2'],
  ['2', '1'],
  ['1', '2'],
  ['3', null],
  ['4', '4'],
  ['4', ' 4.0\t'],
  ['2.0', '3'],
] as const;

const readings = async (data: Snapshot) => {
  let streamed = 0;
  for await (const block of data.stream({ sql: 'SELECT id FROM fugu_data', values: [] })) streamed += block.open().rows;
  const counted = (await data.rows({ sql: 'SELECT count(*) FROM fugu_data', values: [] })).open()[0]![0];
  return [streamed, Number(counted), (await data.size()).open()];
};

/** Works within a short deadline; a machine that is too busy for it is given a longer one. */
export async function inShortTime(deadline: number, work: (deadline: number) => Promise<void>): Promise<void> {
  for (const given of [deadline, 4 * deadline, 16 * deadline, 64 * deadline])
    try {
      return await work(given);
    } catch (error) {
      if (!(error instanceof Fault && error.code === 'ENGINE_DEADLINE') || given > 16 * deadline) throw error;
    }
}

export function describeEngine(
  kind: string,
  { open, grow, forbidden, deadline = 1500, wide: most = 1000 }: EngineUnderTest,
): void {
  describe(`${kind} as an engine`, () => {
    let whole: Engine;
    let engine: Snapshot;
    beforeAll(async () => {
      whole = await open(people, friends);
      engine = await whole.snapshot();
    });
    afterAll(async () => {
      await engine.close();
      await whole.close();
    });
    const rows = async (sql: string, values: readonly (string | number | bigint | boolean | null)[] = []) =>
      (await engine.rows({ sql, values })).open();

    it('the engine names its columns in order', async () => {
      expect((await engine.columns()).map((c) => c.name)).toEqual(['id', 'age', 'party', 'note']);
    });

    it('the engine knows its number of rows', async () => {
      expect((await engine.size()).open()).toBe(5);
    });

    it('the engine binds values and never pastes them into statements', async () => {
      const sql = 'SELECT count(*) FROM fugu_data WHERE note = $1';
      expect(await rows(sql, ["apostrophe '"])).toEqual([[1n]]);
      expect(await rows(sql, ["x' OR '1'='1"])).toEqual([[0n]]);
    });

    it('the engine returns NULL, text and wide integers unchanged', async () => {
      const found = await rows('SELECT id, party FROM fugu_data ORDER BY id');
      expect(found.map((r) => r[1])).toEqual(['dem', 'rep', null, 'dem', 'other']);
      expect(await rows('SELECT CAST(9007199254740993 AS BIGINT)')).toEqual([[9007199254740993n]]);
    });

    it('a stream holds the same cells as a result', async () => {
      const sql = 'SELECT id, note FROM fugu_data';
      const streamed: Cell[][] = [];
      for await (const block of engine.stream({ sql, values: [] })) {
        const { rows: n, columns } = block.open();
        for (let i = 0; i < n; i++) streamed.push(columns.map((c) => c[i]!));
      }
      const sorted = (list: readonly (readonly Cell[])[]) => [...list].sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
      expect(sorted(streamed)).toEqual(sorted(await rows(sql)));
    });

    it('a stream can be left in the middle', async () => {
      for await (const block of engine.stream({ sql: 'SELECT id FROM fugu_data', values: [] })) {
        expect(block.open().rows).toBeGreaterThan(0);
        break;
      }
      expect((await engine.size()).open()).toBe(5);
    });

    it('the engine answers several statements at once', async () => {
      const sql = 'SELECT count(*) FROM fugu_data WHERE party = $1';
      const found = await Promise.all(['dem', 'rep', 'other', 'none'].map((p) => rows(sql, [p])));
      expect(found.map((r) => r[0]![0])).toEqual([2n, 1n, 1n, 0n]);
    });

    it('a symmetric relation is shown as names, without repeats, NULLs and self-loops, closed under reversal', async () => {
      expect(await rows('SELECT c0, c1 FROM fugu_relation_friend ORDER BY 1, 2')).toEqual([
        ['1', '2'],
        ['2', '1'],
        ['2', '3'],
        ['3', '2'],
      ]);
    });

    it('the engine never repeats messages of the driver about the data', async () => {
      const failed = await engine
        .rows({ sql: 'SELECT CAST(age AS INTEGER) FROM fugu_data', values: [] })
        .catch((e: unknown) => e);
      expect(failed).toBeInstanceOf(Fault);
      expect(JSON.stringify(failed)).not.toMatch(/secret-value|1e999|Conversion|CAST/i);
      const broken = await engine.rows({ sql: 'SELECT nothing FROM nowhere', values: [] }).catch((e: unknown) => e);
      expect((broken as Fault).code).toBe('ENGINE_FAILED');
      expect((broken as Fault).message).not.toMatch(/nowhere/);
    });

    it('the engine cannot write, read other files or change its limits', async () => {
      for (const sql of forbidden) await expect(engine.rows({ sql, values: [] })).rejects.toBeInstanceOf(Fault);
    });

    it('the engine has one id while the data stays, and another with other data', async () => {
      const fresh = await open(people, friends);
      try {
        const before = await withSnapshot(fresh, (data) => data.id());
        expect(await withSnapshot(fresh, readings)).toEqual([5, 5, 5]);
        expect(await withSnapshot(fresh, (data) => data.id())).toBe(before);
        await grow(fresh);
        expect(await withSnapshot(fresh, (data) => data.id())).not.toBe(before);
        expect(await withSnapshot(fresh, readings)).toEqual([6, 6, 6]);
      } finally {
        await fresh.close();
      }
    });

    it('a snapshot shows one moment to its holder, or a fault, independent of other users', async () => {
      const fresh = await open(people, friends);
      try {
        const [early, other] = [await fresh.snapshot(), await fresh.snapshot()];
        const id = await early.id();
        await grow(fresh);
        const late = await fresh.snapshot();
        expect(await late.id()).not.toBe(id);
        expect(await readings(late)).toEqual([6, 6, 6]);
        await other.close();
        const seen = await readings(early).catch((e: unknown) => e);
        if (!(seen instanceof Fault)) expect(seen).toEqual([5, 5, 5]);
        const ties = 'SELECT count(*) FROM fugu_relation_friend';
        expect((await late.rows({ sql: ties, values: [] })).open()).toEqual([[4n]]);
        await early.close();
        await early.close();
        expect(await readings(late)).toEqual([6, 6, 6]);
        await late.close();
        expect(await withSnapshot(fresh, readings)).toEqual([6, 6, 6]);
      } finally {
        await fresh.close();
      }
    });

    it('rows are left out for one user and no other, and rows without a name are kept, even after the data grew', async () => {
      const fresh = await open(people, friends);
      try {
        const ids = (user: Engine) =>
          withSnapshot(user, async (data) =>
            (await data.rows({ sql: 'SELECT id FROM fugu_data ORDER BY id', values: [] })).open().map(([id]) => id),
          );
        const dems = await fresh.without('party', ['rep', 'other']);
        const others = await dems.without('id', ['1', '3', '4', '6']);
        const all = await fresh.without('party', []);
        expect(await ids(dems)).toEqual(['1', '3', '4']);
        expect(await ids(others)).toEqual(['2', '5']);
        expect(await ids(all)).toEqual(['1', '2', '3', '4', '5']);
        expect(await ids(fresh)).toEqual(['1', '2', '3', '4', '5']);
        for (const user of [dems, others, fresh]) expect(user.whole).toBe(fresh);
        await grow(fresh);
        expect(await withSnapshot(others, (data) => data.id())).toBe(await withSnapshot(fresh, (data) => data.id()));
        expect(await withSnapshot(others, readings)).toEqual([2, 2, 2]);
        expect(await withSnapshot(others, (data) => readings(data.whole))).toEqual([6, 6, 6]);
        await dems.close();
        await expect(ids(dems)).rejects.toBeInstanceOf(Fault);
        expect(await ids(fresh)).toHaveLength(6);
        await expect(fresh.without('nowhere', [])).rejects.toBeInstanceOf(Fault);
      } finally {
        await fresh.close();
      }
    });

    it('text is compared by code points, for any language of the database', async () => {
      const sorted = ['B', 'Z', 'a', 'Å', 'é', '日本', 'ﬁ', '🦑'];
      const fresh = await open([['id', 'word'], ...sorted.map((word, i) => [`${7 - i}`, word])], friends);
      try {
        const found = await withSnapshot(fresh, async (data) =>
          (await data.rows({ sql: 'SELECT word FROM fugu_data ORDER BY word', values: [] })).open().map(([word]) => word),
        );
        expect(found).toEqual(sorted);
        const below = { sql: 'SELECT count(*) FROM fugu_data WHERE word < $1', values: ['a'] };
        expect(await withSnapshot(fresh, async (data) => (await data.rows(below)).open())).toEqual([[2n]]);
      } finally {
        await fresh.close();
      }
    });

    it('the engine reads the number in any text and fails at none', async () => {
      const expected: Record<string, number | null> = { '1e400': Infinity, '-1e400': -Infinity, '1e-400': 0, '5e-324': 5e-324, '-0': 0, '9223372036854775808': 2 ** 63, 'NaN': null, 'inf': null, '0x1F': null, 'ten': null, '3,5': null, '+7.50': 7.5 }; // biome-ignore format: one line
      const fresh = await open([['id', 'cell'], ...Object.keys(expected).map((cell, i) => [`${10 + i}`, cell])], friends);
      try {
        await withSnapshot(fresh, async (data) => {
          const sql = `SELECT ${data.dialect.numberInText('cell')} FROM fugu_data ORDER BY id`;
          const found = (await data.rows({ sql, values: [] })).open().map(([x]) => (x === null ? null : Number(x) + 0));
          expect(found).toEqual(Object.values(expected));
        });
      } finally {
        await fresh.close();
      }
    });

    it('the engine shows a table without rows, and one of many columns', async () => {
      const empty = await open([people[0]], friends);
      const many = Array.from({ length: most }, (_, c) => `q${c}`);
      const wide = await open([many, many.map((_, c) => (c % 7 === 0 ? null : `${c}`)), many], friends);
      try {
        expect(await withSnapshot(empty, readings)).toEqual([0, 0, 0]);
        await withSnapshot(wide, async (data) => {
          expect((await data.columns()).map(({ name }) => name)).toEqual(many);
          const blocks: (readonly Cell[])[] = [];
          for await (const block of data.stream({
            sql: `SELECT ${many.join(', ')} FROM fugu_data`,
            values: [],
            everyRow: true,
          })) {
            const { rows, columns } = block.open();
            for (let i = 0; i < rows; i++) blocks.push(columns.map((cells) => cells[i]!));
          }
          const rows = blocks.sort((a, b) => `${a[1]}`.length - `${b[1]}`.length);
          expect(rows).toEqual([many.map((_, c) => (c % 7 === 0 ? null : `${c}`)), many]);
        });
      } finally {
        await empty.close();
        await wide.close();
      }
    });

    /** More rows than anybody waits for. */
    const endless = {
      sql: `SELECT count(*) FROM ${Array.from({ length: 16 }, (_, i) => `fugu_data AS t${i}`).join(' CROSS JOIN ')} WHERE ${Array.from({ length: 15 }, (_, i) => `t${i}.note < t${i + 1}.note`).join(' OR ')}`,
      values: [],
    };
    it('a deadline ends a statement, and the engine answers the next one', async () => {
      await inShortTime(deadline, async (given) => {
        const fresh = await open(people, friends, { deadline: given });
        try {
          const found = await withSnapshot(fresh, (data) => data.rows(endless)).catch((e: unknown) => e);
          expect((found as Fault).code).toBe('ENGINE_DEADLINE');
          expect(await withSnapshot(fresh, readings)).toEqual([5, 5, 5]);
        } finally {
          await fresh.close();
        }
      });
    });

    it('a time limit ends a release with any number of statements, and the next release can run', async () => {
      await inShortTime(deadline, async (given) => {
        const fresh = await open(people, friends, { release: given });
        try {
          const data = await fresh.snapshot();
          const pending = async () => {
            for (;;) await data.rows({ sql: 'SELECT count(*) FROM fugu_data', values: [] });
          };
          expect(((await pending().catch((e: unknown) => e)) as Fault).code).toBe('ENGINE_DEADLINE');
          // A timer may fire slightly early: a statement that finishes in that moment is answered.
          const read = async () => {
            for (;;) for await (const _ of data.stream({ sql: 'SELECT id FROM fugu_data', values: [] }));
          };
          expect(((await read().catch((e: unknown) => e)) as Fault).code).toBe('ENGINE_DEADLINE');
          await data.close();
          const slow = await fresh.snapshot();
          expect(((await slow.rows(endless).catch((e: unknown) => e)) as Fault).code).toBe('ENGINE_DEADLINE');
          await slow.close();
          expect(await withSnapshot(fresh, readings)).toEqual([5, 5, 5]);
        } finally {
          await fresh.close();
        }
      });
    });

    it('closing the engine ends the work under way', async () => {
      const fresh = await open(people, friends);
      const held = await fresh.snapshot();
      const pending = held.rows(endless).catch((e: unknown) => e);
      await new Promise((waited) => setTimeout(waited, 500));
      await fresh.close();
      expect(await pending).toBeInstanceOf(Fault);
      await held.close();
    });

    it('a closed engine refuses to answer', async () => {
      const fresh = await open(people, friends);
      const held = await fresh.snapshot();
      await fresh.close();
      await fresh.close();
      await expect(held.rows({ sql: 'SELECT 1', values: [] })).rejects.toBeInstanceOf(Fault);
      await held.close();
      await expect(fresh.snapshot()).rejects.toBeInstanceOf(Fault);
    });
  });
}
