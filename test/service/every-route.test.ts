import { afterEach, describe, expect, it } from 'vitest';
import { routes } from '../../src/app/service/routes/routes.js';
import { type Answered, openTown, type ServedTown } from './served.js';

let town: ServedTown;
afterEach(() => town?.close());

const count = { question: { kind: 'count', by: ['party'] }, epsilon: '1/2' };
const csv = (rows: number) =>
  `id,house,colour,weight\n${Array.from({ length: rows }, (_, k) => `${k},h${k >> 1},${['red', 'blue', 'green'][k % 3]},${40 + (k % 37)}`).join('\n')}\n`;

describe('every route of the API', () => {
  it('every route answers in its declared form, and no answer may be framed or cached', async () => {
    town = await openTown();
    const root = town.token('root', 'steward');
    const get = { headers: { authorization: `Bearer ${root}` } };
    const post = (body: unknown) => ({
      method: 'POST',
      headers: { ...get.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const file = { method: 'POST', headers: { ...get.headers, 'x-file-name': 'new.csv' }, body: csv(200) };
    const remove = { ...get, method: 'DELETE' };
    const at = '/v1/policies/village';
    const answers = new Map<string, Answered>();
    const requests: readonly [name: string, path: () => string, init: () => RequestInit][] = [
      ['signIn', () => '/v1/session', () => ({ ...post({ token: root }), headers: { 'content-type': 'application/json' } })],
      ['session', () => '/v1/session', () => get],
      ['signOut', () => '/v1/session', () => remove],
      ['policies', () => '/v1/policies', () => get],
      ['policy', () => at, () => get],
      ['check', () => `${at}/check`, () => get],
      ['plan', () => `${at}/plan`, () => post(count)],
      ['release', () => `${at}/release`, () => post(count)],
      ['begin', () => `${at}/jobs`, () => post({ ...count, epsilon: '1/4' })],
      ['job', () => `/v1/jobs/${answers.get('begin')!.body.job}`, () => get],
      ['events', () => `/v1/jobs/${answers.get('begin')!.body.job}/events`, () => get],
      ['cancel', () => `/v1/jobs/${answers.get('begin')!.body.job}`, () => remove],
      ['budget', () => `${at}/budget`, () => get],
      ['entries', () => `${at}/ledger`, () => get],
      ['verify', () => `${at}/ledger/verify`, () => get],
      ['receipt', () => `${at}/receipts/${entry('release')}`, () => get],
      ['answer', () => `${at}/answers/${entry('release')}`, () => get],
      ['report', () => `${at}/reports/${entry('release')}`, () => get],
      ['belief', () => `${at}/belief`, () => get],
      ['leakage', () => `${at}/leakage`, () => get],
      ['whatIf', () => `${at}/what-if`, () => post({ epsilon: '2', ties: [{ index: 0, oddsRatio: 9 }] })],
      ['ties', () => `${at}/ties?most=30`, () => get],
      ['attack', () => `${at}/attack`, () => post({ entry: entry('release') })],
      ['draft', () => '/v1/drafts', () => file],
      ['drafts', () => '/v1/drafts', () => get],
      ['drafted', () => `/v1/drafts/${answers.get('draft')!.body.id}`, () => get],
      ['answerDraft', () => `/v1/drafts/${answers.get('draft')!.body.id}/answers`, () => post({ dependence: 'house' })],
      ['confirmDraft', () => `/v1/drafts/${answers.get('draft')!.body.id}/confirm`, () => post({ name: 'colours' })],
      ['verifyLog', () => '/v1/log/verify', () => get],
      ['metrics', () => '/metrics', () => get],
    ];
    const entry = (name: string): number => answers.get(name)!.body.receipt.ledger.entry;
    // These have tests of their own: predict needs a classifier, time a sequence, and the last draft was confirmed.
    expect([...requests.map(([name]) => name), 'predict', 'time', 'endDraft'].sort()).toEqual(routes.map((r) => r.name).sort());
    const document = (await town.send('/openapi.json', {})).body;
    expect(Object.values<object>(document.paths).flatMap((path) => Object.keys(path))).toHaveLength(routes.length);
    for (const [name, path, init] of requests) {
      const route = routes.find((r) => r.name === name)!;
      const answered = await town.send(path(), init());
      answers.set(name, answered);
      const { status, body, headers } = answered;
      expect([name, status, status < 300 ? '' : body]).toEqual([name, route.status ?? 200, '']);
      expect([name, route.answer.safeParse(body).error?.issues]).toEqual([name, undefined]);
      expect(headers.get('content-type')).toContain(route.mediaType ?? 'application/json');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toMatch(/frame-ancestors '(none|self)'/);
    }
    expect(answers.get('metrics')!.body).toContain('fugu_requests_total{action="plan",status="200"} 1');
    expect(answers.get('events')!.body).toMatch(/^event: (progress|done)\ndata: \{/);
    expect(answers.get('report')!.body).toContain('What is promised');
    expect(answers.get('answer')!.body.tables).toEqual(answers.get('release')!.body.tables);
    expect(answers.get('receipt')!.body.ledger).toMatchObject({ entry: entry('release'), replayed: true });
    expect(answers.get('attack')!.body.attackers.length).toBeGreaterThan(1);
    expect((await town.ask(root, '/v1/policies/colours/release', { question: { kind: 'count', by: ['colour'] } })).status).toBe(
      200,
    );
  });

  it('another method gets the list of valid ones, and an unknown path does not exist', async () => {
    town = await openTown();
    const put = await town.send('/v1/policies', { method: 'PUT' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET']);
    const root = town.token('root', 'steward');
    for (const path of ['receipts/1', 'answers/99', 'reports/x', 'answers/..%2f1'])
      expect((await town.ask(root, `/v1/policies/town/${path}`)).status).toBe(404);
    expect((await town.ask(root, '/v1/jobs/nothing')).status).toBe(404);
    expect((await town.ask(root, '/v1/drafts/..%2f..%2ftokens')).status).toBe(404);
    expect((await town.ask(root, '/v1/policies/town/time')).status).toBe(422);
  });
});
