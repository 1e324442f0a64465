import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../src/base/errors.js';
import type { Snapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';
import type { Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countByDatabase, countStreaming } from '../src/query/count/count.js';
import { parseBatch } from '../src/query/parse.js';
import { openLedger } from '../src/release/ledger/open.js';
import { createSession } from '../src/release/session/session.js';
import { openNow } from './now.js';
import { category, multi, number, samplePolicy } from './sample-policy.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-files-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
function file(ending: string, content: Uint8Array): string {
  const path = join(folder, `data-${made++}${ending}`);
  writeFileSync(path, content);
  return path;
}
type Bytes = string | Uint8Array;
const joined = (...parts: readonly Bytes[]): Buffer => Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)));
const byte = (...bytes: readonly number[]): Buffer => Buffer.from(bytes);

const columns = [
  category('party', ['dem', 'rep', 'other', 'é']),
  number('age', '0', '99'),
  multi('media', ['tv', 'web']),
  category('g', ['a', 'b']),
];
const policyOn = (source: string): Policy => ({ ...samplePolicy(columns), data: { source } });
const questions = parseBatch([
  { kind: 'count' },
  ...columns.map(({ name }) => ({ kind: 'histogram', column: name })),
  { kind: 'sum', column: 'age', by: ['g'] },
  { kind: 'count', where: [{ column: 'media', op: 'missing' }] },
]);
const little = { memory: 40 * 2 ** 20, threads: 2 };

/** The exact integers behind the questions, by both ways of counting; or the fault. */
async function counted(source: string, limits = {}): Promise<readonly (readonly bigint[])[]> {
  const policy = policyOn(source);
  const engine = await openNow(policy, limits);
  try {
    return await countsOf(engine, policy);
  } finally {
    await engine.close();
  }
}
async function countsOf(engine: Snapshot, policy: Policy): Promise<readonly (readonly bigint[])[]> {
  const { measures } = bindBatch(questions, policy);
  const counts = (await countByDatabase(engine, policy, measures)).map((cells) => cells.open());
  expect((await countStreaming(engine, policy, measures)).map((cells) => cells.open())).toEqual(counts);
  return counts;
}
const thrown = async (promise: Promise<unknown>): Promise<Fault> => {
  const error = await promise.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
};

const head = 'party,age,media,g,note\n';
/** A note that is long, but not too long to be read, and one that is: other records' cells, which nothing may change. */
const others = `dem,20,tv,a,x\nrep,30,"tv;web",b,"${'y'.repeat(60_000)}"\n"é",40,,a,"line\nend, ""quoted"""\n`;
const record = (...cells: readonly Bytes[]): Buffer =>
  joined(...cells.flatMap((cell, i) => (i === 0 ? [cell] : [',', cell])), '\n');
const usual = ['dem', '50', 'web', 'b', 'z'] as const;
const long = (text: string): string => `"${text.repeat(Math.ceil(3e6 / text.length))}"`;

const uglyCells: readonly [string, Bytes][] = [
  ['a byte that is no UTF-8', byte(0xff)],
  ['Latin-1', Buffer.from('d\xe9m', 'latin1')],
  ['half a character', byte(0xe2, 0x82)],
  ['an overlong character', byte(0xc0, 0x80)],
  ['half a surrogate pair', byte(0xed, 0xa0, 0x80)],
  ['a byte that is no UTF-8 before a quote', joined('"', byte(0xe9), '"')],
  ['a zero byte', byte(0)],
  ['three million letters', 'x'.repeat(3e6)],
  ['three million blanks and a code', `"${' '.repeat(3e6)}dem"`],
  ['a number of three million digits', `${'0'.repeat(3e6)}50`],
  ['three million quotes', long('""')],
  ['a million lines', long('a\n,')],
  ['three million letters and a byte that is no UTF-8', joined('"', 'x'.repeat(3e6), byte(0xff), '"')],
];

describe('a record with an ugly cell in a CSV', () => {
  it.each(uglyCells)('the record counts as one without an answer there, and changes no other answer: %s', async (_, ugly) => {
    const all = joined(head, others, record(ugly, ugly, ugly, 'b', 'z'));
    const empty = await counted(file('.csv', joined(head, others, record('', '', '', 'b', 'z'))));
    expect(await counted(file('.csv', all), little)).toEqual(empty);
    expect(await counted(file('.csv.gz', gzipSync(all, { level: 1 })))).toEqual(empty);
    const one = await counted(file('.csv', joined(head, record('', ...usual.slice(1)), others)));
    expect(await counted(file('.csv', joined(head, record(ugly, ...usual.slice(1, 4), ugly), others)))).toEqual(one);
  });

  it('the record may stand far behind in a file that is not held', async () => {
    const many = 'dem,20,tv,a,x\n'.repeat(400_000);
    const [count, parties] = await counted(file('.csv', joined(head, many, record(byte(0xe9), ...usual.slice(1)))), little);
    expect([count, parties]).toEqual([[400_001n], [400_000n, 0n, 0n, 0n, 1n]]);
  });

  it('the record would be a fault of the database if that read the file directly', async () => {
    const source = file('.csv', joined(head, others, record(byte(0xff), ...usual.slice(1))));
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const read = `read_csv('${source}', auto_detect=false, header=true, delim=',', quote='"', escape='"', columns={${['party', 'age', 'media', 'g', 'note'].map((n) => `${n}: 'VARCHAR'`).join()}})`;
    await expect(connection.run(`SELECT count(*) FROM ${read} WHERE party = 'dem'`)).rejects.toThrow();
    connection.closeSync();
    instance.closeSync();
  });

  it('the record is read alike after the file changed under an open engine', async () => {
    const source = file('.csv', joined(head, others, record(...usual)));
    const policy = policyOn(source);
    const engine = await openNow(policy);
    const before = await countsOf(engine, policy);
    for (const ugly of [byte(0xff), byte(0xfe, 0xff)]) {
      writeFileSync(source, joined(head, others, record(ugly, ...usual.slice(1))));
      await engine.id();
      expect((await countsOf(engine, policy))[1]).toEqual([1n, 1n, 0n, 1n, 1n]);
    }
    writeFileSync(source, joined(head, others, record(...usual)));
    await engine.id();
    expect(await countsOf(engine, policy)).toEqual(before);
    await engine.close();
  });

  it('the record leaves no copy of the data behind', async () => {
    const mine = () => readdirSync(tmpdir()).filter((n) => n.startsWith('fugu-engine-') && n.includes(`-${process.pid}-`));
    const before = mine();
    await counted(file('.csv', joined(head, others, record(byte(0xff), ...usual.slice(1)))));
    expect(mine()).toEqual(before);
  });

  it('the record may be the last of a file without a final line end', async () => {
    const start = 'party,age,media,g\ndem,30,tv,a\n';
    const tame = await counted(file('.csv', joined(`${start}rep,31,tv,"b"`)));
    const ugly = await counted(file('.csv', joined(`${start}rep,31,tv,"${'x'.repeat(70_000)}"`)));
    expect(ugly[0]).toEqual(tame[0]);
  });

  it('the record may look like many lines where several threads would begin to read', async () => {
    const line = 'dem,30,tv,a\n';
    const cell = `"${'""\nrep,31,web,""'.repeat(3500)}"`;
    const at = Math.floor((2 ** 22 - cell.length / 2) / line.length);
    const text = joined('party,age,media,g\n', line.repeat(at), `dem,30,${cell},a\n`, line.repeat(110_000));
    const [rows] = await counted(file('.csv', text), { ...little, threads: 1 });
    expect(rows).toEqual([BigInt(at + 1 + 110_000)]);
  });

  it('the record does not decide how a long cell of another record is read', async () => {
    // 70,000 blanks fit a line: without a limit on cells this would be "dem", until another record makes a copy necessary.
    const padded = record(`"${' '.repeat(70_000)}dem"`, ...usual.slice(1));
    const alone = await counted(file('.csv', joined(head, others, padded, record(...usual))));
    const copied = await counted(file('.csv', joined(head, others, padded, record(...usual.slice(0, 4), byte(0xff)))));
    expect(alone).toEqual(copied);
    expect(alone[1]!.at(-1)).toBe(1n);
  });
});

describe('a relation with an ugly cell', () => {
  it('the relation is read too', async () => {
    const source = file('.csv', joined('id\n1\n2\n'));
    const table = file('.csv', joined('a,b\n1,2\n', byte(0xe9), ',2\n', '1,"', 'x'.repeat(3e6), '"\n'));
    const engine = await openNow({ source, relations: [{ name: 'friend', table, columns: ['a', 'b'], symmetric: true }] });
    expect((await engine.rows({ sql: 'SELECT count(*) FROM fugu_relation_friend', values: [] })).open()).toEqual([[4n]]);
    await engine.close();
  });
});

describe('a file that cannot be read as a whole', () => {
  const canary = 'zanzibar7731';
  const forms: readonly [string, string][] = [
    ['too few cells', `${canary},1\n`],
    ['too many cells', `${canary},1,tv,a,x,y\n`],
    ['an open quote', `"${canary},1,tv,a,x\n`],
    ['a stray quote', `"${canary}"x,1,tv,a,x\n`],
    ['a stray line end', `${canary}\rx,1,tv,a,x\n`],
  ];
  const refusal = async (source: string, limits = {}) => {
    const fault = await thrown(counted(source, limits));
    expect(JSON.stringify(fault)).not.toContain(canary);
    expect(fault.place?.line).toBeUndefined();
    return `${fault.code}: ${fault.message}`;
  };

  it('the file is refused when it is opened, with one fault for any bad line at any place', async () => {
    const messages = new Set<string>();
    for (const [, line] of forms)
      for (const content of [joined(head, line, others), joined(head, others.repeat(3), line)])
        for (const limits of [{}, little]) messages.add(await refusal(file('.csv', content), limits));
    expect([...messages]).toEqual(['DATA_MALFORMED: The lines of the data do not all have the form of the first.']);
  });

  it('the file is refused before anything is reserved', async () => {
    const source = file('.csv', joined(head, others, record(...usual)));
    const policy = { ...policyOn(source), ledger: join(folder, 'ledger.db') };
    const engine = await openEngine(policy);
    const ledger = await openLedger(policy.ledger);
    const session = await createSession({ policy, engine, ledger });
    writeFileSync(source, joined(head, forms[0]![1], others));
    expect((await thrown(session.release({ kind: 'count' }))).code).toBe('DATA_MALFORMED');
    expect(await ledger.entries(policy.population)).toEqual([]);
    await ledger.close();
    await engine.close();
  });

  const parquet = async (): Promise<Buffer> => {
    const path = join(folder, `made-${made++}.parquet`);
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(
      `COPY (SELECT CASE WHEN i = 7 THEN '${canary}' ELSE 'dem' END AS party, i AS age, 'tv' AS media, 'a' AS g, 'n' AS note FROM range(100) AS t(i)) TO '${path}' (COMPRESSION uncompressed)`,
    );
    connection.closeSync();
    instance.closeSync();
    return readFileSync(path);
  };
  it('a Parquet file with text that is not UTF-8 is refused, held or not', async () => {
    const bytes = await parquet();
    await counted(file('.parquet', bytes), little);
    for (let at = bytes.indexOf(canary); at >= 0; at = bytes.indexOf(canary, at)) bytes[at + 1] = 0xff;
    const source = file('.parquet', bytes);
    const wide = { memory: 2 ** 20 * 8 };
    expect(await refusal(source)).toBe('DATA_MALFORMED: A text in the data is not written in UTF-8.');
    expect(await refusal(source, wide)).toBe('DATA_MALFORMED: A text in the data is not written in UTF-8.');
  });

  it('a database whose view fails on a record is refused', async () => {
    const source = join(folder, `made-${made++}.duckdb`);
    const instance = await DuckDBInstance.create(source);
    const connection = await instance.connect();
    await connection.run(
      `CREATE SCHEMA s; CREATE TABLE s.t AS SELECT 'dem' AS party, '${canary}' AS age, 'tv' AS media, 'a' AS g`,
    );
    await connection.run('CREATE VIEW people AS SELECT party, CAST(age AS INTEGER) AS age, media, g FROM s.t');
    connection.closeSync();
    instance.closeSync();
    const policy = { ...policyOn(source), data: { source, table: 'people' } };
    const fault = await thrown(openEngine(policy));
    expect([fault.code, JSON.stringify(fault).includes(canary)]).toEqual(['DATA_MALFORMED', false]);
  });
});
