import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readCluster } from '../../../policy/address.js';
import { Client } from './client.js';
import { trinoFault } from './fault.js';
import { readPage, trinoChunk, trinoRows } from './page.js';
import { spelt } from './spelling.js';

/** A coordinator whose replies the test chooses. */
type Say = (request: IncomingMessage, answer: ServerResponse, turn: number) => void;
const open: { server: Server; client: Client }[] = [];
const lines: string[] = [];
async function coordinator(say: Say, deadline = 600_000): Promise<Client> {
  let turn = 0;
  const server = createServer((request, answer) => {
    lines.push(`${request.method} ${request.url}`);
    request.resume();
    request.on('end', () => (request.method === 'DELETE' ? answer.writeHead(204).end() : say(request, answer, turn++)));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const client = new Client(readCluster(`trino://reader@127.0.0.1:${port}/memory/town`), deadline);
  open.push({ server, client });
  return client;
}
afterEach(() => {
  for (const { server, client } of open.splice(0)) {
    client.close();
    server.closeAllConnections();
    server.close();
  }
  lines.length = 0;
});

const columns = [{ name: 'n', type: 'bigint' }];
const page = (more: object) => JSON.stringify({ id: 'q1', stats: { state: 'RUNNING' }, ...more });
const next = (n: number) => `http://elsewhere.example:9/v1/next/${n}?slug=x`;
const last = (more: object = {}) => page({ stats: { state: 'FINISHED' }, columns, ...more });
const fault = async (work: Promise<unknown>) => {
  const found = await work.then(() => 'no fault').catch((error: unknown) => trinoFault(error));
  return found as ReturnType<typeof trinoFault>;
};
const rowsOf = async (client: Client) => (await client.all('SELECT 1')).rows;

describe('responses of a coordinator', () => {
  it('cells of any length and content are read', () => {
    const cells = [
      'x'.repeat(2 ** 24),
      '\\'.repeat(2 ** 21),
      '"'.repeat(2 ** 21),
      '"12345678901234567',
      '\\"',
      '\\\\',
      '1234567890123456789',
      '',
    ];
    const long = ['12345678901234567', '-9223372036854775808', '9223372036854775807'];
    const data = cells.map(
      (cell, i) => `[${JSON.stringify(cell)}, ${long[i % 3]}, 0.0123456789012345, 1.0123456789012345E22, 7]`,
    );
    const text = page({ data: [] }).replace('[]', `[${data.join()}]`);
    const { rows } = readPage(text);
    for (const [i, row] of rows.entries())
      expect([row[0] === cells[i], ...row.slice(1)]).toEqual([
        true,
        long[i % 3],
        0.0123456789012345,
        Number('1.0123456789012345E22'),
        7,
      ]);
    expect(rows).toHaveLength(cells.length);
  });

  it('an answer is read page by page, from the configured address and no other', async () => {
    const client = await coordinator((_, answer, turn) =>
      answer.end(turn < 2 ? page({ columns, data: [[turn]], nextUri: next(turn) }) : last({ data: [[2]] })),
    );
    expect(await rowsOf(client)).toEqual([[0], [1], [2]]);
    expect(lines).toEqual(['POST /v1/statement', 'GET /v1/next/0?slug=x', 'GET /v1/next/1?slug=x']);
  });

  it('pages are fetched no faster than they are read', async () => {
    const client = await coordinator((_, answer, turn) => answer.end(page({ columns, data: [[turn]], nextUri: next(turn) })));
    for await (const { rows } of client.parts('SELECT 1')) {
      await new Promise((waited) => setTimeout(waited, 50));
      if (rows[0]![0] === 2) break;
    }
    await expect.poll(() => lines.filter((line) => !line.startsWith('DELETE')).length).toBe(3);
    await expect.poll(() => lines.at(-1)).toBe('DELETE /v1/next/2?slug=x');
  });

  it('whole numbers keep every digit, and text and doubles stay unchanged', async () => {
    const fields = ['bigint', 'bigint', 'varchar', 'double', 'double', 'decimal(38,0)', 'double'].map((type) => ({
      name: 'x',
      type,
    }));
    const data = `[[9007199254740993,-9223372036854775808,"a \\"12345678901234567 b",1.2345678901234567E15,-0.0,"123456789012345678901234567890","NaN"]]`;
    const client = await coordinator((_, answer) =>
      answer.end(last({ columns: fields, data: 0 }).replace('"data":0', `"data":${data}`)),
    );
    const found = await client.all('SELECT 1');
    const expected = [9007199254740993n, -9223372036854775808n, 'a "12345678901234567 b', 1234567890123456.8, -0, 123456789012345678901234567890n, Number.NaN]; // biome-ignore format: one line
    expect(trinoRows(found.fields, found.rows)).toEqual([expected]);
    expect(trinoChunk(found.fields, found.rows).columns.map((c) => c[0])).toEqual(expected);
  });

  it.each([
    [
      'an error at the end of many rows',
      page({ stats: { state: 'FAILED' }, error: { errorName: 'REMOTE_HOST_GONE', message: 'secret-value' } }),
      'ENGINE_FAILED',
    ],
    ['an end that is not finished', page({ stats: { state: 'RUNNING' } }), 'ENGINE_FAILED'],
    ['half a page', last().slice(0, 30), 'ENGINE_FAILED'],
    ['something else', '<html>secret-value</html>', 'ENGINE_FAILED'],
    ['no memory', page({ error: { errorName: 'EXCEEDED_LOCAL_MEMORY_LIMIT', message: 'secret-value' } }), 'ENGINE_MEMORY'],
    ['no right', page({ error: { errorName: 'PERMISSION_DENIED', message: 'secret-value' } }), 'ACCESS_DENIED'],
    ['an error without a name', page({ error: 'secret-value' }), 'ENGINE_FAILED'],
  ])('an answer is refused after %s', async (_, ending, code) => {
    const client = await coordinator((_, answer, turn) =>
      answer.end(turn === 0 ? page({ columns, data: [[1]], nextUri: next(0) }) : ending),
    ); // biome-ignore format: one line
    const found = await fault(rowsOf(client));
    expect(found.code).toBe(code);
    expect(JSON.stringify([found, found.message, found.hint])).not.toContain('secret-value');
  });

  it.each<[string, (turn: number) => string]>([
    ['whose page leads back to itself', () => page({ columns, data: [[1]], nextUri: next(0) })],
    ['that goes round in a circle', (turn) => page({ columns, data: [[1]], nextUri: next(turn % 3) })],
    [
      'of which a page belongs to another statement',
      (turn) => (turn < 2 ? page({ columns, data: [[1]], nextUri: next(turn) }) : last({ id: 'q2', data: [[1]] })),
    ],
    [
      'whose columns change their types',
      (turn) => (turn < 2 ? page({ columns, data: [[1]], nextUri: next(turn) }) : last({ columns: [{ name: 'n', type: 'varchar' }], data: [['1']] })), // biome-ignore format: one line
    ],
    [
      'whose columns become more',
      (turn) => (turn < 2 ? page({ columns, data: [[1]], nextUri: next(turn) }) : last({ columns: [...columns, ...columns], data: [[1]] })), // biome-ignore format: one line
    ],
  ])('an answer %s is refused, and nothing is counted twice', async (_, say) => {
    // Whoever follows such an answer comes to an end, and fails here.
    const client = await coordinator((_, answer, turn) => answer.end(turn < 20 ? say(turn) : last()));
    expect((await fault(rowsOf(client))).message).toMatch(/did not answer to the end/);
    expect(lines.filter((line) => line.startsWith('GET')).length).toBeLessThan(5);
  });

  it('a request ends at the deadline while a page arrives letter by letter', async () => {
    const client = await coordinator((_, answer, turn) => {
      if (turn === 0) return void answer.end(page({ nextUri: next(0) }));
      const drip = setInterval(() => answer.write(' '), 20);
      answer.on('close', () => clearInterval(drip));
    }, 300);
    expect((await fault(rowsOf(client))).code).toBe('ENGINE_DEADLINE');
  });

  it('a page is fetched again where that is safe, and a statement is never sent twice', async () => {
    const client = await coordinator((_, answer, turn) => {
      if (turn === 0) answer.end(page({ nextUri: next(0) }));
      else if (turn < 4) answer.writeHead(501 + turn).end('busy');
      else if (turn === 4) answer.destroy();
      else answer.end(last({ data: [[7]] }));
    });
    expect(await rowsOf(client)).toEqual([[7]]);
    expect(lines.filter((line) => line.startsWith('POST'))).toHaveLength(1);
    const refusing = await coordinator((_, answer) => answer.writeHead(503).end());
    expect((await fault(rowsOf(refusing))).code).toBe('ENGINE_FAILED');
    expect(lines.filter((line) => line.startsWith('POST'))).toHaveLength(2);
    const failing = await coordinator((_, answer, turn) =>
      turn === 0 ? answer.end(page({ nextUri: next(0) })) : answer.writeHead(500).end('secret'),
    );
    expect((await fault(rowsOf(failing))).code).toBe('ENGINE_FAILED');
    expect(lines.filter((line) => line.startsWith('GET /v1/next/0')).length).toBe(6);
  });

  it.each([
    ['the first word', 0],
    ['the next page', 1],
  ])('a request ends at the deadline when %s never comes, and the cluster is notified without waiting', async (_, silent) => {
    const client = await coordinator((_, answer, turn) => void (turn < silent && answer.end(page({ nextUri: next(0) }))), 2000);
    expect((await fault(rowsOf(client))).code).toBe('ENGINE_DEADLINE');
    if (silent > 0) await expect.poll(() => lines.at(-1)).toBe('DELETE /v1/next/0?slug=x');
  });

  it('a request ends at the deadline while its rows are being read, and when the client is closed', async () => {
    const endless: Say = (_, answer, turn) => answer.end(page({ columns, data: [[turn]], nextUri: next(turn) }));
    const read = async (client: Client) => {
      for await (const _ of client.parts('SELECT 1')) await new Promise((waited) => setTimeout(waited, 20));
    };
    expect((await fault(read(await coordinator(endless, 200)))).code).toBe('ENGINE_DEADLINE');
    const client = await coordinator(endless);
    const reading = fault(read(client));
    setTimeout(() => client.close(), 100);
    expect((await reading).message).toMatch(/closed/);
  });

  it('the client never sends a password without encryption', async () => {
    const { TRINO_PASSWORD } = process.env;
    process.env.TRINO_PASSWORD = 'secret-word';
    try {
      let headers = '';
      const client = await coordinator((request, answer) => {
        headers = JSON.stringify(request.headers);
        answer.writeHead(401).end();
      });
      expect(await fault(rowsOf(client))).toMatchObject({
        code: 'ACCESS_DENIED',
        hint: expect.stringMatching(/TRINO_PASSWORD.*TLS/),
      });
      expect(headers).toContain('"x-trino-user":"reader"');
      expect(headers).not.toMatch(/authorization|secret-word|c2VjcmV0/);
    } finally {
      if (TRINO_PASSWORD === undefined) delete process.env.TRINO_PASSWORD;
      else process.env.TRINO_PASSWORD = TRINO_PASSWORD;
    }
  });
});

describe('a statement for a cluster', () => {
  it('values in a statement are literals that end where the values end', () => {
    const sql = `SELECT '$1', "a$2" FROM t WHERE a = $1 AND b = $2 AND c IN ($3, $4, $5, $10)`;
    const values = ["x' OR '1'='1", null, -5, 0.1, 2n ** 70n, 6, 7, 8, 9, '$1'];
    expect(spelt({ sql, values })).toBe(
      `SELECT '$1', "a$2" FROM t WHERE a = 'x'' OR ''1''=''1' AND b = NULL AND c IN ((-5), CAST('0.1' AS DOUBLE), DECIMAL '1180591620717411303424', '$1')`,
    );
    expect(spelt({ sql: 'WITH a AS NOT MATERIALIZED (SELECT 1) SELECT * FROM a', values: [] })).toBe(
      'WITH a AS (SELECT 1) SELECT * FROM a',
    );
  });
  it('a statement that does not read, or is too long, is not sent', () => {
    for (const sql of ['DELETE FROM t', 'SET SESSION a = 1', 'CALL x()'])
      expect(() => spelt({ sql, values: [] })).toThrow(/Only statements that read/);
    expect(() => spelt({ sql: 'SELECT $1', values: ['x'.repeat(1_000_000)] })).toThrow(/1000009 letters; it takes 1000000/);
  });
});

describe('an address of a cluster', () => {
  it('an address names catalog and schema, perhaps a table, in any case', () => {
    expect(readCluster('trino://reader@Lake.example.org/Hive/Town/People')).toEqual({ host: 'lake.example.org', port: 443, user: 'reader', tls: 'verify-full', catalog: 'hive', schema: 'town', table: 'people' }); // biome-ignore format: one line
    expect(readCluster('trino://localhost/hive/town')).toEqual({ host: 'localhost', port: 8080, tls: 'disable', catalog: 'hive', schema: 'town' }); // biome-ignore format: one line
  });
  it.each([
    ['trino://a:b@host/c/s', /holds a password/],
    ['trino://a@host/c/s?password=b', /holds a password/],
    ['trino://a@host/c', /no schema/],
    ['trino://a@host/c/s/t/u', /no schema/],
    ['trino://a@host/c/s?sslmode=prefer', /fall back/],
    ['trino://a@host/c/s?user=b', /not known/],
  ])('the address %s is refused', (source, message) => expect(() => readCluster(source)).toThrow(message));
});
