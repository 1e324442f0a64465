import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/app/service/token.js';
import { askOver, openTown, type ServedTown, serveTown } from './served.js';

type Place = Awaited<ReturnType<typeof serveTown>>;
const limits = { bodyBytes: 50_000, fileBytes: 100_000, guesses: 1000 };
const stewardOf = ({ folder }: Place) =>
  new TokenStore(join(folder, 'tokens')).make({ name: 'ann', role: 'steward', days: 1 }).text;
let place: Place;
let ann: string;
beforeAll(async () => {
  place = await serveTown(undefined, { limits });
  ann = stewardOf(place);
});
afterAll(() => place.close());

/** Bytes received over a raw socket until the other side closes it. */
function raw(text: string, then: readonly string[] = [], at = place): Promise<string> {
  const { port } = new URL(at.serving.url);
  return new Promise((done) => {
    let got = '';
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(text);
      for (const more of then) socket.write(more);
    });
    socket.on('data', (bytes) => {
      got += bytes;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => done(got));
  });
}
const statusesOf = (text: string): readonly number[] => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, s]) => Number(s));

describe('attacks over the wire', () => {
  it('a client that sends a request a byte at a time, or half of one, is disconnected', async () => {
    // No other client connects here: on a busy machine a complete request may take longer than this, too.
    const hasty = await serveTown(undefined, { limits, patience: { headersTimeout: 400, requestTimeout: 800 } });
    expect(statusesOf(await raw('GET /v1/policies HTTP/1.1\r\nhost: x\r\nx-slow: ', [], hasty))).toEqual([408]);
    const half = `POST /v1/policies/town/plan HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${stewardOf(hasty)}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`;
    for (const status of statusesOf(await raw(half, [], hasty))) expect(status).toBeGreaterThanOrEqual(400);
    await hasty.close();
  });

  it('a request is one request, under any headers about its length', async () => {
    const inside = 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n';
    const smuggled: readonly string[] = [
      `POST /v1/session HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inside}`,
      `POST /v1/session HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\ncontent-length: 38\r\n\r\n${inside}`,
      `POST /v1/session HTTP/1.1\r\nhost: x\r\ntransfer-encoding: xchunked\r\n\r\n${inside}`,
      `POST /v1/session HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${inside}`,
      `GET /v1/policies HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\r\n b\r\n\r\n`,
      `GET /v1/policies HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n`,
      `GET /v1/policies\u0000 HTTP/1.1\r\nhost: x\r\n\r\n`,
      `GET /v1/policies HTTP/1.1\r\n\r\n`,
    ];
    for (const text of smuggled) {
      const got = await raw(text);
      expect([text, statusesOf(got)]).toEqual([text, [400]]);
      expect(got).not.toContain('"live"');
    }
    expect(statusesOf(await raw(`GET /v1/policies HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`))).toEqual([431]);
  });

  it('a body that is too large is refused, even without a stated length', async () => {
    const chunk = 'x'.repeat(30_000);
    const part = `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
    const head = (path: string, more = '') =>
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${ann}\r\n${more}transfer-encoding: chunked\r\n\r\n`;
    const json = 'content-type: application/json\r\n';
    expect(statusesOf(await raw(head('/v1/policies/town/plan', json), [part, part, part, '0\r\n\r\n']))).toEqual([413]);
    const file = 'x-file-name: big.csv\r\n';
    expect(statusesOf(await raw(head('/v1/drafts', file), [part, part, part, part, part, '0\r\n\r\n']))).toEqual([413]);
    expect((await askOver(place.serving.url, ann, '/v1/drafts')).body.drafts).toEqual([]);
  });
});

describe('attacks on the API of a service', () => {
  let town: ServedTown;
  afterEach(() => town?.close());

  it('SQL that is no question, and names that are no columns, reach no database', async () => {
    town = await openTown();
    const analyst = town.token('ann', 'analyst');
    const texts = [
      'DROP TABLE fugu_data',
      'SELECT count(*) FROM data; DROP TABLE fugu_data',
      "SELECT count(*) FROM read_csv('/etc/passwd')",
      'SELECT * FROM data',
      "COPY data TO '/tmp/x'",
      "SELECT count(*) FROM data WHERE party = 'x' OR 1=1 --",
      "ATTACH 'x.db'; SELECT 1",
      'SELECT count(*) FROM data UNION SELECT id FROM data',
      "SELECT count(*) FROM data WHERE id = '1'",
    ];
    for (const sql of texts)
      expect([sql, (await town.ask(analyst, '/v1/policies/town/plan', { question: { sql } })).status]).toEqual([sql, 422]);
    const names = ['party"; DROP TABLE fugu_data; --', "party' OR '1'='1", '../../etc/passwd', '__proto__', 'constructor', 'id'];
    for (const by of names) {
      const { status, body } = await town.ask(analyst, '/v1/policies/town/release', { question: { kind: 'count', by: [by] } });
      expect([by, status, body.outcome]).toEqual([by, 422, { state: 'not spent' }]);
    }
    const value = { column: 'party', op: '=', value: "left' OR '1'='1" };
    expect((await town.ask(analyst, '/v1/policies/town/plan', { question: { kind: 'count', where: [value] } })).status).toBe(422);
    expect((await town.ask(analyst, '/v1/policies/town/release', { question: { kind: 'count', by: ['party'] } })).status).toBe(
      200,
    );
  });

  it('paths lead only to declared files', async () => {
    town = await openTown();
    const root = town.token('root', 'steward');
    const paths = [
      '/assets/..%2f..%2fpackage.json',
      '/assets/../../package.json',
      '/assets/.env',
      '/assets/%2e%2e/index.html',
      '/v1/policies/..%2ftown',
      '/v1/policies/town%00',
      '/v1/policies/town.yaml',
      '/v1/policies/town/answers/1%2f..%2f..',
      '/v1/drafts/%2e%2e%2f%2e%2e',
      '/v1/jobs/__proto__',
      '/v1/policies/constructor',
      '//v1/policies',
    ];
    for (const path of paths) expect([path, (await town.ask(root, path)).status]).toEqual([path, 404]);
    const upload = (name: string) =>
      town.send('/v1/drafts', {
        method: 'POST',
        headers: { authorization: `Bearer ${root}`, 'x-file-name': name },
        body: 'a,b\n1,2\n',
      });
    for (const name of ['../evil.csv', '/etc/x.csv', '..csv', 'a/b.csv', 'a\\b.csv', '.csv', '', 'x'.repeat(200)])
      expect([name, (await upload(name)).status]).toEqual([name, 422]);
    expect((await upload('x.exe')).status).toBe(422);
    expect((await town.ask(root, '/v1/drafts')).body.drafts).toEqual([]);
    const narrow = town.token('eve', 'steward', { policies: ['town'] });
    expect((await town.ask(narrow, '/v1/drafts')).status).toBe(403);
    const kept = await town.send('/v1/drafts', {
      method: 'POST',
      headers: { authorization: `Bearer ${root}`, 'x-file-name': 'x.csv' },
      body: 'a,b\nred,2\nblue,3\n',
    });
    const { id } = kept.body;
    expect((await town.ask(root, `/v1/drafts/${id}/confirm`, { name: 'new' })).status).toBe(409);
    for (const name of ['../new', 'town', 'a/b', ''])
      expect((await town.ask(root, `/v1/drafts/${id}/confirm`, { name })).status).toBeGreaterThanOrEqual(409);
    const gone = await town.send(`/v1/drafts/${id}`, { method: 'DELETE', headers: { authorization: `Bearer ${root}` } });
    expect(gone.body).toEqual({ ended: true });
  });

  it('guesses of tokens are throttled, and all invalid ones get the same message', async () => {
    town = await openTown(undefined, { guesses: 5 });
    const texts = Array.from({ length: 40 }, (_, k) => `fugu_${k.toString(16).padStart(16, '0')}_${'A'.repeat(43)}`);
    const statuses = await Promise.all(texts.map(async (text) => (await town.ask(text, '/v1/policies')).status));
    expect(statuses.filter((s) => s === 401).length).toBeLessThanOrEqual(6);
    expect(statuses.filter((s) => s === 429).length).toBeGreaterThanOrEqual(34);
    // The holder of a token is not locked out by guesses from the same address.
    expect((await town.ask(town.token('ann', 'analyst'), '/v1/policies')).status).toBe(200);
  });
});
