import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { verifyAuditLog } from '../../src/app/service/audit-log.js';
import { openTown, type ServedTown } from './served.js';

let town: ServedTown;
afterEach(() => town?.close());

const count = { question: { kind: 'count', by: ['party'] }, epsilon: '1/2' };

describe('the service', () => {
  it('the service plans for free, releases once, and returns the recorded answer for the same question', async () => {
    town = await openTown();
    const ann = town.token('ann', 'analyst');
    const plan = await town.ask(ann, '/v1/policies/town/plan', count);
    expect(plan).toMatchObject({ status: 200, body: { fits: true, epsilon: 0.5, budget: { spent: 0 } } });
    const first = await town.ask(ann, '/v1/policies/town/release', count);
    expect(first.body.tables[0].rows).toHaveLength(4);
    const bob = town.token('bob', 'analyst');
    const again = await town.ask(bob, '/v1/policies/town/release', count);
    expect(again.body.tables).toEqual(first.body.tables);
    expect(again.body.receipt.ledger.replayed).toBe(true);
    const { body } = await town.ask(bob, '/v1/policies/town/budget');
    expect(body.budget.spent).toBeCloseTo(0.5, 9);
    expect(body).not.toHaveProperty('ledger');
    expect((await town.ask(bob, '/v1/policies/town/ledger')).body.entries).toEqual([]);
    expect((await town.ask(ann, '/v1/policies/town/ledger')).body.entries).toMatchObject([{ analyst: 'ann', settled: true }]);
  });

  it('the service admits nobody without a valid token, and gives no reason', async () => {
    town = await openTown();
    const old = town.tokens.make({ name: 'old', role: 'steward', days: 1 }, new Date(Date.now() - 2 * 86_400_000)).text;
    const gone = town.token('gone', 'steward');
    expect((await town.ask(gone, '/v1/policies')).status).toBe(200);
    town.tokens.end(/fugu_([0-9a-f]+)_/.exec(gone)![1]!);
    const changed = gone.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const answers = await Promise.all(
      [undefined, 'x', old, gone, changed, `fugu_${'0'.repeat(16)}_${'A'.repeat(43)}`].map((token) =>
        town.ask(token, '/v1/policies'),
      ),
    );
    for (const { status, body, headers } of answers) {
      expect(status).toBe(401);
      expect({ ...body, request: '' }).toEqual({ ...answers[0]!.body, request: '' });
      expect(headers.get('content-type')).toContain('application/problem+json');
    }
  });

  it('the service bars roles from the routes of others, and tokens from policies they do not open', async () => {
    town = await openTown();
    const auditor = town.token('eve', 'auditor');
    expect((await town.ask(auditor, '/v1/policies/town/release', count)).status).toBe(403);
    expect((await town.ask(town.token('ann', 'analyst'), '/v1/policies/town/ledger/verify')).status).toBe(403);
    expect((await town.ask(auditor, '/v1/policies/town/ledger/verify')).body).toMatchObject({ ok: true });
    const narrow = town.token('ann', 'analyst', { policies: ['village'] });
    expect((await town.ask(narrow, '/v1/policies')).body.policies).toEqual([
      { name: 'village', population: 'village', steps: false },
    ]);
    const barred = await town.ask(narrow, '/v1/policies/town/plan', count);
    const missing = await town.ask(narrow, '/v1/policies/nowhere/plan', count);
    expect(barred.status).toBe(404);
    expect({ ...barred.body, request: '' }).toEqual({ ...missing.body, request: '' });
  });

  it('the service reports a fault as a problem, with the state of the budget', async () => {
    town = await openTown('{ epsilon: 1 }');
    const ann = town.token('ann', 'analyst');
    expect((await town.ask(ann, '/v1/policies/town/release', { ...count, epsilon: 1 })).status).toBe(200);
    const over = await town.ask(ann, '/v1/policies/town/release', { question: { kind: 'count' }, epsilon: '1/2' });
    expect(over).toMatchObject({ status: 409, body: { code: 'BUDGET_EXCEEDED', outcome: { state: 'not spent' } } });
    const bad: readonly [unknown, number][] = [
      [{ question: { kind: 'count', by: ['nothing'] } }, 422],
      [{ question: { sql: 'DROP TABLE fugu_data' } }, 422],
      [{ question: { kind: 'count' }, epsilon: 'a lot' }, 422],
      [{ question: { kind: 'count' }, unknown: 1 }, 422],
      ['{', 422],
      ['[', 422],
    ];
    for (const [body, status] of bad) expect(await town.ask(ann, '/v1/policies/town/release', body)).toMatchObject({ status });
    expect((await town.ask(ann, '/v1/policies/town/release', 'x=1', { 'content-type': 'text/plain' })).status).toBe(422);
    expect((await town.ask(ann, '/v1/policies/..%2f..%2fetc%2fpasswd/plan', count)).status).toBe(404);
    expect((await town.ask(ann, '/v1/nothing')).status).toBe(404);
  });

  it('the service refuses requests that are too large, too often or too many at once, and names the time to retry', async () => {
    town = await openTown(undefined, { bodyBytes: 10_000, burst: 3, perSecond: 0.001, guesses: 2 });
    const ann = town.token('ann', 'analyst');
    const large = await town.ask(ann, '/v1/policies/town/plan', { question: { sql: 'x'.repeat(20_000) } });
    expect(large.status).toBe(413);
    const often = await Promise.all(Array.from({ length: 6 }, () => town.ask(ann, '/v1/policies')));
    expect(often.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(3);
    expect(Number(often.find(({ status }) => status === 429)!.headers.get('retry-after'))).toBeGreaterThan(0);
    const guesses = await Promise.all(
      Array.from({ length: 4 }, () => town.ask(`fugu_${'0'.repeat(16)}_${'A'.repeat(43)}`, '/v1/policies')),
    );
    expect(guesses.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(2);
  });

  it('the service answers 503 with Retry-After if too many wait, or none gets a turn in time, and has begun nothing', async () => {
    town = await openTown(undefined, { working: 1, waiting: 1, waitMilliseconds: 50 });
    const ann = town.token('ann', 'analyst');
    const back = await town.service.turns.take();
    const answers = await Promise.all([1, 2, 3].map(() => town.ask(ann, '/v1/policies/town/release', count)));
    for (const { status, body, headers } of answers)
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'BUSY', '1']);
    back!();
    expect((await town.ask(ann, '/v1/policies/town/ledger')).body.entries).toEqual([]);
    expect((await town.ask(ann, '/v1/policies/town/release', count)).status).toBe(200);
  });

  it('the service treats a request sent twice under one key as one, even if it is fresh', async () => {
    town = await openTown();
    const ann = town.token('ann', 'analyst');
    const fresh = { ...count, fresh: true };
    const send = (key: string, body: unknown = fresh) =>
      town.ask(ann, '/v1/policies/town/release', body, { 'idempotency-key': key });
    const first = await send('a');
    const again = await send('a');
    expect(again.body.tables).toEqual(first.body.tables);
    expect(again.body.receipt.ledger).toMatchObject({ entry: first.body.receipt.ledger.entry, replayed: true });
    const other = await send('b');
    expect(other.body.receipt.ledger).toMatchObject({ replayed: false });
    expect((await send('a', { ...fresh, epsilon: '1/4' })).status).toBe(422);
    expect((await send('no key')).status).toBe(422);
    expect((await town.ask(ann, '/v1/policies/town/budget')).body.budget.spent).toBeCloseTo(1, 9);
  });

  it('the audit log records who did what with which outcome, in lines that cannot be changed unnoticed, without values', async () => {
    town = await openTown();
    const ann = town.token('ann', 'analyst');
    await town.ask(ann, '/v1/policies/town/release', count);
    await town.ask(ann, '/v1/policies/town/release', { question: { kind: 'count', by: ['secret-thing'] } });
    await town.ask(undefined, '/v1/policies/town/release', count);
    const log = join(town.folder, 'log');
    const file = join(log, '00000001.jsonl');
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { action: 'release', name: 'ann', policy: 'town', status: 200, entry: expect.any(Number) },
      { action: 'release', name: 'ann', status: 422, fault: 'COLUMN_UNKNOWN' },
      { action: 'release', status: 401 },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret-thing');
    expect(verifyAuditLog(log).events).toBe(3);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"ann"', '"eve"'));
    expect(() => verifyAuditLog(log)).toThrow('does not follow');
  });
});
