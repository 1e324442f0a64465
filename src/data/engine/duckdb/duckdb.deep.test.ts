import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEngine, inShortTime } from '../../../../test/engine-contract.js';
import { now, openNow } from '../../../../test/now.js';
import { number, samplePolicy } from '../../../../test/sample-policy.js';
import { Fault } from '../../../base/errors.js';
import { bindBatch } from '../../../query/bind.js';
import { countByDatabase } from '../../../query/count/count.js';
import { parseBatch } from '../../../query/parse.js';
import { openEngine } from '../../terms/open.js';
import type { Engine, Snapshot } from '../engine.js';
import { sweepTempFolders } from '../temp-folder.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-duckdb-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const quote = (cell: string | null) => (cell === null ? '' : `"${cell.replaceAll('"', '""')}"`);
const csv = (table: readonly (readonly (string | null)[])[]) => `${table.map((row) => row.map(quote).join(',')).join('\n')}\n`;
let made = 0;
function file(ending: string, content?: string | Buffer): string {
  const path = join(folder, `data-${made++}${ending}`);
  if (content !== undefined) writeFileSync(path, content);
  return path;
}
async function duck(path: string, ...statements: string[]): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const sql of statements) await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
}
async function fault(promise: Promise<unknown>): Promise<Fault> {
  const found = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(found).toBeInstanceOf(Fault);
  return found as Fault;
}
const scalar = async (engine: Snapshot, sql: string) => (await engine.rows({ sql, values: [] })).open()[0]![0];
const friendOf = (table: string) => [{ name: 'friend', table, columns: ['a', 'b'], symmetric: true }];

const paths = new WeakMap<Engine, string>();
const forbidden = [
  "SELECT * FROM read_csv('/etc/passwd')",
  "COPY (SELECT 1) TO '/tmp/fugu-should-not-exist.csv'",
  'SET memory_limit = $1',
  'INSTALL httpfs',
];
describeEngine('a csv file', {
  forbidden,
  open: async (table, friend, limits = {}) => {
    const source = file('.csv', csv(table));
    const engine = await openEngine({ source, relations: friendOf(file('.csv', csv(friend))) }, limits);
    paths.set(engine, source);
    return engine;
  },
  grow: async (engine) => appendFileSync(paths.get(engine)!, '6,20,dem,new\n'),
});
describeEngine('a csv file too large to hold', {
  forbidden,
  wide: 60,
  open: async (table, friend, limits = {}) => {
    // Empty lines, which are no records.
    const source = file('.csv', csv(table).replaceAll('\n', '\n'.repeat(2 ** 20)));
    const engine = await openEngine(
      { source, relations: friendOf(file('.csv', csv(friend))) },
      { memory: 32 * 2 ** 20, ...limits },
    );
    paths.set(engine, source);
    return engine;
  },
  grow: async (engine) => appendFileSync(paths.get(engine)!, '6,20,dem,new\n'),
});
describeEngine('a parquet file', {
  forbidden,
  open: async (table, friend, limits = {}) => {
    const source = file('.parquet');
    const parts = [file('.csv', csv(table)), file('.csv', csv(friend)), file('.parquet')];
    await duck(
      ':memory:',
      `COPY (FROM read_csv('${parts[0]}', all_varchar=true)) TO '${source}'`,
      `COPY (FROM read_csv('${parts[1]}')) TO '${parts[2]}'`,
    );
    const engine = await openEngine({ source, relations: friendOf(parts[2]!) }, limits);
    paths.set(engine, source);
    return engine;
  },
  grow: async (engine) => {
    const source = paths.get(engine)!;
    await duck(
      ':memory:',
      `CREATE TABLE t AS FROM '${source}'`,
      "INSERT INTO t VALUES (6, 1, 'a', 'b')",
      `COPY t TO '${source}'`,
    );
  },
});

describe('csv files', () => {
  const odd: [string, string, number][] = [
    ['CRLF line ends', 'a,b\r\n1,2\r\n3,4\r\n', 2],
    ['no last line end', 'a,b\n1,2\n3,4', 2],
    ['empty lines', 'a,b\n1,2\n\n\n3,4\n', 2],
    ['a line break in a cell', 'a,b\n1,"x\ny"\n3,4\n', 2],
    ['semicolons', 'a;b\n1,5;2\n3;4\n', 2],
    ['tabs', 'a\tb\n1\t2\n', 1],
    ['a byte order mark', '\uFEFFa,b\n1,2\n', 1],
    ['only a header', 'a,b\n', 0],
    ['a nameless first column', ',b\n1,2\n', 1],
    ['doubled quotes in the header', '"a ""x""",b\n1,2\n', 1],
  ];
  it.each(odd)('a CSV with %s is read', async (_name, content, rows) => {
    const engine = await openNow({ source: file('.csv', content) });
    expect((await engine.size()).open()).toBe(rows);
    expect(await engine.columns()).toHaveLength(2);
    await engine.close();
  });

  it.each(['.csv.gz', '.CSV.GZ', '.txt.Gz'])('packed CSV files are read (%s)', async (ending) => {
    const engine = await openNow({ source: file(ending, gzipSync('a,b\n1,2\n')) });
    expect((await engine.size()).open()).toBe(1);
    await engine.close();
  });

  it('codes of categories are normalised to one spelling, and other texts are not', async () => {
    const source = file('.csv', 'party,version\n 1.0 ,1.0\n2,2\n1,10\n10,1\n');
    const engine = await openNow({ source, codes: new Set(['party']) });
    expect(await scalar(engine, "SELECT string_agg(party, ' ' ORDER BY party) FROM fugu_data")).toBe('1 1 10 2');
    expect(await scalar(engine, "SELECT string_agg(version, ' ' ORDER BY version) FROM fugu_data")).toBe('1 1.0 10 2');
    await engine.close();
  });

  const broken: [string, string | Buffer, string, number | undefined][] = [
    ['too few cells', 'a,b\n1,2\nsecret\n', '.csv', undefined],
    ['too many cells', 'a,b\n1,2\nsecret,2,3\n', '.csv', undefined],
    ['an open quote', 'a,b\n1,"secret\n2,3\n', '.csv', undefined],
    ['an open quote before many lines', `a,b\n1,"secret\n${'2,3\n'.repeat(90_000)}`, '.csv', undefined],
    ['a stray line end', 'a,b\n1,2\rsecret\n', '.csv', undefined],
    ['names that are no text', Buffer.from([0x61, 0xff, 0x0a, 0x31, 0x0a]), '.csv', 1],
    ['two columns of one name', 'a,A\n1,2\n', '.csv', 1],
    ['zero bytes', Buffer.from([0x61, 0, 0x0a]), '.csv', 1],
    ['nothing in it', '', '.csv', undefined],
    ['something else in a .gz', 'a,b\n1,2\n', '.csv.gz', undefined],
    ['a cut .gz', gzipSync(`a,b\n${'1,2\n'.repeat(90000)}`).subarray(0, 120), '.csv.gz', undefined],
    ['something else in a .parquet', 'secret', '.parquet', undefined],
    ['something else in a .duckdb', 'secret', '.duckdb', undefined],
  ];
  it.each(broken)('a CSV with %s is refused without quoting its content', async (_name, content, ending, line) => {
    const f = await fault(openNow({ source: file(ending, content) }));
    expect(f.code).toBe('DATA_MALFORMED');
    expect(f.place?.line).toBe(line);
    expect(`${f.message} ${f.hint} ${JSON.stringify(f.details)}`).not.toMatch(/secret|CSV Error|Original Line/);
  });

  it('cells with line breaks are read alike from memory and from the file, by one thread or several', async () => {
    const cells = ['plain', '"line\nbreak"', '"quote "" and\r\n, comma"', '""', `"${'long '.repeat(300)}\n"`];
    let content = 'n,cell\n';
    for (let i = 0; i < 20_000; i++) content += `${i},${cells[(i * 7 + (i >> 3)) % cells.length]}\n`;
    const source = file('.csv', content);
    const sql = 'SELECT count(*), sum(CAST(n AS INTEGER)), sum(length(cell)), sum(hash(n, cell)) FROM fugu_data';
    const answers = [];
    for (const limits of [{ memory: 2 ** 30 }, { memory: 40 * 2 ** 20, threads: 1 }, { memory: 40 * 2 ** 20, threads: 2 }]) {
      const engine = await openNow({ source }, limits);
      answers.push((await engine.rows({ sql, values: [] })).open()[0]);
      await engine.close();
    }
    expect(answers[0]![0]).toBe(20_000n);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('files too large for memory are checked to the last line before any statement runs', async () => {
    const source = file('.csv', `a,b\n${'1,2\n'.repeat(1_200_000)}secret\n`);
    const f = await fault(openNow({ source }, { memory: 32 * 2 ** 20 }));
    expect([f.code, f.place?.line]).toEqual(['DATA_MALFORMED', undefined]);
  });

  it('files are read through links, and with any characters in their path', async () => {
    const odd = join(folder, "it's a ü folder");
    mkdirSync(odd);
    writeFileSync(join(odd, "it's.csv"), 'a,b\n1,2\n');
    symlinkSync(join(odd, "it's.csv"), join(folder, 'link.csv'));
    for (const source of [join(odd, "it's.csv"), join(folder, 'link.csv')]) {
      const engine = await openNow({ source });
      expect((await engine.size()).open()).toBe(1);
      await engine.close();
    }
  });

  it('missing files, folders, unreadable files and unknown kinds are refused', async () => {
    const sub = join(folder, 'folder.csv');
    mkdirSync(sub);
    for (const source of [join(folder, 'nowhere.csv'), sub, file('.xyz', 'x'), join(folder, '*.csv')])
      expect((await fault(openNow({ source }))).code).toBe('DATA_NOT_FOUND');
    const hidden = file('.csv', 'a\n1\n');
    chmodSync(hidden, 0);
    if (process.getuid?.() !== 0) expect((await fault(openNow({ source: hidden }))).code).toBe('DATA_NOT_FOUND');
  });
});

describe('a DuckDB file', () => {
  it('a file with one table is read, and one with several asks for a table', async () => {
    const source = file('.duckdb');
    await duck(source, 'CREATE TABLE people AS SELECT range AS id, range::VARCHAR AS party FROM range(7)');
    const engine = await openNow({ source });
    expect((await engine.size()).open()).toBe(7);
    await engine.close();
    await duck(source, 'CREATE TABLE visits AS SELECT 1 AS a, 2 AS b');
    const f = await fault(openNow({ source }));
    expect([f.code, f.hint]).toEqual(['DATA_NOT_FOUND', expect.stringMatching(/people, visits/)]);
    expect((await fault(openNow({ source, table: 'peeple' }))).hint).toMatch(/"people"/);
    const chosen = await openNow({ source, table: 'people', relations: friendOf('visits') });
    expect(await scalar(chosen, 'SELECT count(*) FROM fugu_relation_friend')).toBe(2n);
    await expect(chosen.rows({ sql: 'INSERT INTO fugu_source.main.people VALUES (1, 2)', values: [] })).rejects.toBeInstanceOf(
      Fault,
    );
    await chosen.close();
  });

  it('a file whose log holds unmerged changes counts as different data', async () => {
    const source = file('.duckdb');
    await duck(source, 'CREATE TABLE t AS SELECT range AS id FROM range(7)');
    const look = async () => {
      const engine = await openNow({ source });
      const seen = [await engine.id(), (await engine.size()).open()] as const;
      await engine.close();
      return seen;
    };
    const before = await look();
    const content = readFileSync(source);
    await duck(source, 'PRAGMA disable_checkpoint_on_shutdown', 'INSERT INTO t VALUES (7)');
    expect(existsSync(`${source}.wal`) && readFileSync(source).equals(content)).toBe(true);
    const after = await look();
    expect(after[1]).toBe(before[1] + 1);
    expect(after[0]).not.toBe(before[0]);
  });

  it('a file replaced while open is a fault: the old one is still attached', async () => {
    const [source, other] = [file('.duckdb'), file('.duckdb')];
    await duck(source, 'CREATE TABLE t AS SELECT range AS id FROM range(7)');
    await duck(other, 'CREATE TABLE t AS SELECT range AS id FROM range(9)');
    const engine = await openNow({ source });
    await engine.id();
    renameSync(other, source);
    const f = await fault(engine.id());
    expect([f.code, f.message]).toEqual(['ENGINE_FAILED', expect.stringMatching(/changed or replaced/)]);
    await engine.close();
  });

  it('every stored type is shown as text, integer, real or boolean', async () => {
    const source = file('.duckdb');
    await duck(
      source,
      `CREATE TABLE t AS SELECT 1::TINYINT a, 2::HUGEINT b, 1.5::DECIMAL(5,2) c, 2.0::DOUBLE d, true e, DATE '2020-01-02' f, 'x'::ENUM('x','y') g, [1, 2] h, NULL::INTEGER i, [1.5]::FLOAT[1] j, 7::DECIMAL(18,0) k`,
    );
    const engine = await openNow({ source });
    expect((await engine.columns()).map((c) => c.type)).toEqual([
      'integer',
      'text',
      'real',
      'real',
      'boolean',
      'text',
      'text',
      'text',
      'integer',
      'text',
      'integer',
    ]);
    expect((await engine.rows({ sql: 'SELECT * FROM fugu_data', values: [] })).open()).toEqual([
      [1, '2', 1.5, 2, true, '2020-01-02', 'x', '[1, 2]', null, '[1.5]', 7n],
    ]);
    await engine.close();
  });
});

describe('doubles', () => {
  it('doubles are distinguished by their bits, with both zeros as one and NaN as none', async () => {
    const cells = ['0', '-0', '1.5', '-1.5', '5e-324', '-5e-324', '1.7976931348623157e308', 'NaN', 'Infinity', '-Infinity'];
    const source = file('.parquet');
    await duck(':memory:', `COPY (SELECT * FROM (VALUES ${cells.map((x, k) => `(${k}, CAST('${x}' AS DOUBLE))`).join(', ')}) AS t(k, x)) TO '${source}'`); // biome-ignore format: one line
    const data = await openNow({ source });
    const bits = (x: number) => new BigInt64Array(Float64Array.of(x + 0).buffer)[0]!;
    const found = await data.rows({ sql: `SELECT ${data.dialect.bits('x')} FROM fugu_data ORDER BY k`, values: [] });
    expect(found.open().map(([x]) => x)).toEqual(cells.map((x) => (x === 'NaN' ? null : bits(Number(x)))));
    await data.close();
  });

  it('doubles decide which rows of a person are kept, whatever the order of rows', async () => {
    const rows = Array.from({ length: 80 }, (_, i) => `('p${i >> 1}', ${i % 2 === 0 ? i + 0.25 : i + 0.5})`);
    const policy = samplePolicy([number('x', '0', '100', '0.25')], { secret: 'person', unit: 'who', maxRows: 1 });
    const { measures } = bindBatch(parseBatch({ kind: 'sum', column: 'x' }), policy);
    const found: bigint[] = [];
    for (const list of [rows, [...rows].reverse(), [...rows].sort()]) {
      const source = file('.parquet');
      await duck(':memory:', `COPY (SELECT * FROM (VALUES ${list.join(', ')}) AS t(who, x)) TO '${source}'`);
      const data = await openNow({ source });
      found.push((await countByDatabase(data, policy, measures))[0]!.open()[0]!);
      await data.close();
    }
    expect(new Set(found).size).toBe(1);
  });
});

describe('limits of the engine', () => {
  it('a statement ends at its deadline', () =>
    inShortTime(3000, async (deadline) => {
      const engine = await openNow({ source: file('.csv', 'a\n1\n') }, { deadline });
      const f = await fault(
        engine.rows({ sql: 'SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b', values: [] }),
      );
      expect(f.code).toBe('ENGINE_DEADLINE');
      expect(await scalar(engine, 'SELECT count(*) FROM fugu_data')).toBe(1n);
      await engine.close();
    }));

  it('a statement that needs more memory and spill than allowed ends, and leaves nothing behind', async () => {
    const mine = () => readdirSync(tmpdir()).filter((n) => n.startsWith('fugu-engine-') && n.includes(`-${process.pid}-`)).length;
    const before = mine();
    const engine = await openNow({ source: file('.csv', 'a\n1\n') }, { memory: 48 * 2 ** 20, spill: 16 * 2 ** 20 });
    const sql = `SELECT count(*) FROM (SELECT DISTINCT range::VARCHAR || repeat('x', 35) FROM range(5000000))`;
    expect(['DISK_FULL', 'ENGINE_MEMORY']).toContain((await fault(engine.rows({ sql, values: [] }))).code);
    expect(await scalar(engine, 'SELECT count(*) FROM fugu_data')).toBe(1n);
    await engine.close();
    expect(mine()).toBe(before);
  });

  it('a partial stream is never taken for the whole', async () => {
    const source = file('.parquet');
    await duck(
      ':memory:',
      `COPY (SELECT range AS i, CASE WHEN range = 290000 THEN 'x' ELSE '1' END AS s FROM range(300000)) TO '${source}'`,
    );
    const drain = async (engine: Snapshot, sql: string, pause = 0) => {
      let rows = 0;
      for await (const block of engine.stream({ sql, values: [] })) {
        rows += block.open().rows;
        if (pause > 0) await new Promise((waited) => setTimeout(waited, pause));
      }
      return rows;
    };
    const engine = await openNow({ source });
    expect(await drain(engine, 'SELECT i FROM fugu_data')).toBe(300000);
    expect((await fault(drain(engine, 'SELECT CAST(s AS INTEGER) FROM fugu_data'))).code).toBe('ENGINE_FAILED');
    await engine.close();
    await inShortTime(150, async (deadline) => {
      const hurried = await openNow({ source }, { deadline });
      expect((await fault(drain(hurried, 'SELECT i, s FROM fugu_data', deadline / 30))).code).toBe('ENGINE_DEADLINE');
      await hurried.close();
    });
  });

  it('closing the engine stops running statements', async () => {
    const engine = await openNow({ source: file('.csv', 'a\n1\n') });
    const sql = 'SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b';
    const queried = fault(engine.rows({ sql, values: [] }));
    const streamed = fault(
      (async () => {
        for await (const block of engine.stream({ sql: 'SELECT * FROM range(1000000000)', values: [] }))
          expect(block.open().rows).toBeGreaterThan(0);
      })(),
    );
    await new Promise((begun) => setTimeout(begun, 100));
    await engine.close();
    expect((await Promise.all([queried, streamed])).map((f) => f.exit)).toEqual([5, 5]);
  });

  it('leftovers of dead processes are removed, and nothing else', async () => {
    const { hostname } = await import('node:os');
    const host = hostname().replace(/[^A-Za-z0-9]/g, '');
    const dead = join(folder, `fugu-engine-${host}-999999999-abc`);
    const alive = join(folder, `fugu-engine-${host}-${process.pid}-abc`);
    const elsewhere = join(folder, 'fugu-engine-otherhost-999999999-abc');
    for (const path of [dead, alive, elsewhere]) mkdirSync(path);
    expect(await sweepTempFolders(folder)).toBe(1);
    expect([dead, alive, elsewhere].map((p) => existsSync(p))).toEqual([false, true, true]);
  });

  it('data that changes while it is in use without having been loaded is detected', async () => {
    const source = file('.parquet');
    await duck(':memory:', `COPY (SELECT range AS a, hash(range) AS b FROM range(60000)) TO '${source}'`);
    const engine = await openNow({ source }, { memory: 32 * 2 ** 20 });
    const before = await engine.engine.snapshot();
    await duck(':memory:', `COPY (SELECT range AS a, hash(range) AS b FROM range(60001)) TO '${source}'`);
    expect((await fault(before.rows({ sql: 'SELECT count(*) FROM fugu_data', values: [] }))).message).toMatch(/changed/);
    await before.close();
    expect(await scalar(engine, 'SELECT count(*) FROM fugu_data')).toBe(60001n);
    await engine.close();
  });
});

describe('repeated statements', () => {
  const ask = {
    sql: 'SELECT sum(CAST(a AS INTEGER)) FROM fugu_data WHERE CAST(a AS INTEGER) < CAST($1 AS INTEGER)',
    values: [3],
  };
  it.each(['.csv', '.parquet'])('a repeated statement sees the current data and its own values (%s)', async (kind) => {
    const source = file(kind);
    const write = (rows: number) => duck(':memory:', `COPY (SELECT range AS a FROM range(${rows})) TO '${source}'`);
    await write(5);
    const engine = await openNow({ source });
    const answer = async (most: number) => Number((await engine.rows({ ...ask, values: [most] })).open()[0]![0]);
    expect([await answer(3), await answer(5), await answer(3)]).toEqual([3, 10, 3]);
    await write(2);
    expect(await answer(3)).toBe(1);
    const rest = await now(await engine.engine.without('a', ['1']));
    expect(Number((await rest.rows({ ...ask, values: [3] })).open()[0]![0])).toBe(0);
    expect(await answer(3)).toBe(1);
    await engine.close();
  });

  it('a statement still runs after another was stopped or left unread', () =>
    inShortTime(3000, async (deadline) => {
      const engine = await openNow({ source: file('.csv', 'a\n1\n') }, { deadline });
      const many = { sql: 'SELECT range FROM range(1000000)', values: [] };
      for (let k = 0; k < 3; k++) {
        for await (const _ of engine.stream(many)) break;
        expect(
          await fault(engine.rows({ sql: 'SELECT count(*) FROM range(100000) a, range(10000000) b', values: [] })),
        ).toMatchObject({
          code: 'ENGINE_DEADLINE',
        });
        expect(await scalar(engine, 'SELECT count(*) FROM fugu_data')).toBe(1n);
      }
      await engine.close();
    }));
});

describe('block reads', () => {
  it('block reads give the same cells as the driver, whatever their length, type and NULLs', async () => {
    const source = file('.duckdb');
    await duck(
      source,
      `CREATE TABLE t AS SELECT range AS id, CASE WHEN range % 3 = 0 THEN NULL ELSE (range % 7)::INTEGER END AS i, (range / 4)::DOUBLE AS d,
       CASE WHEN range % 5 = 0 THEN NULL ELSE repeat('é', (range % 9)::INTEGER) || (range % 100) END AS s, range % 2 = 0 AS b FROM range(5000)`,
    );
    const engine = await openNow({ source });
    let row = 0;
    for await (const block of engine.stream({ sql: 'SELECT * FROM fugu_data ORDER BY id', values: [] })) {
      const { rows, columns } = block.open();
      for (let k = 0; k < rows; k++, row++) {
        const expected = [
          BigInt(row),
          row % 3 === 0 ? null : row % 7,
          row / 4,
          row % 5 === 0 ? null : 'é'.repeat(row % 9) + (row % 100),
          row % 2 === 0,
        ];
        expect(columns.map((c) => c[k])).toEqual(expected);
      }
    }
    expect(row).toBe(5000);
    await engine.close();
  });

  it('each tie has its strongest odds ratio, and counts as a copy if that cannot be read', async () => {
    const source = file('.csv', 'id\n1\n');
    const table = file('.csv', 'a,b,odds\n1,2,3\n2,1,5\n1,3,\n3,4,nan\n');
    const engine = await openNow({
      source,
      relations: [{ name: 'friend', table, columns: ['a', 'b'], symmetric: true, odds: 'odds' }],
    });
    const found = (
      await engine.rows({ sql: 'SELECT c0, c1, odds FROM fugu_relation_friend WHERE c0 < c1 ORDER BY 1, 2', values: [] })
    ).open();
    expect(found).toEqual([
      ['1', '2', 5],
      ['1', '3', Number.POSITIVE_INFINITY],
      ['3', '4', Number.POSITIVE_INFINITY],
    ]);
    await engine.close();
  });
});
