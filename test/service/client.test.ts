import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../scripts/client.mjs';
import { pageOf } from '../../scripts/service-api.mjs';
import { FuguClient, FuguProblem } from '../../src/app/client/client.js';
import { openapi } from '../../src/app/service/openapi.js';
import { routes } from '../../src/app/service/routes/routes.js';
import { openTown, type ServedTown } from './served.js';

let town: ServedTown;
afterEach(() => town?.close());

describe('the page of the API', () => {
  it('the page equals the API document', () => {
    const committed = readFileSync(join(import.meta.dirname, '../../docs/reference/service-api.md'), 'utf8');
    expect(committed).toBe(pageOf(openapi(routes)));
  });
});

describe('the generated client', () => {
  it('the client equals the API document (npm run client writes it)', () => {
    const written = readFileSync(join(import.meta.dirname, '../../src/app/client/client.ts'), 'utf8');
    expect(written).toBe(clientOf(openapi(routes)));
  });

  it('the client speaks to a service: plans, releases, waits for a job, and throws the fault of a refusal', async () => {
    town = await openTown();
    const own = ((url: string, init: RequestInit) => town.app.request(url, init)) as typeof fetch;
    const client = new FuguClient({ url: 'http://fugu.test/', token: town.token('ann', 'analyst'), fetch: own });
    expect((await client.policies()).policies.map(({ name }) => name)).toEqual(['town', 'village']);
    const body = { question: { kind: 'count', by: ['party'] }, epsilon: '1/4' };
    expect((await client.plan('town', body)).fits).toBe(true);
    const first = await client.release('town', body, { idempotencyKey: 'a' });
    expect(first.tables?.[0]?.rows).toHaveLength(4);
    const { job } = await client.begin('town', body);
    await (await client.events(job)).text();
    expect((await client.job(job)).answer?.tables).toEqual(first.tables);
    expect((await client.entries('town', { most: 1 })).entries).toHaveLength(1);
    expect(await client.report('town', first.receipt!.ledger.entry)).toContain('<html');
    const refused = await client.release('town', { ...body, epsilon: 9 }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(FuguProblem);
    expect(refused).toMatchObject({ status: 409, code: 'BUDGET_EXCEEDED', outcome: { state: 'not spent' } });
    await expect(client.verifyLog()).rejects.toMatchObject({ status: 403 });
  });
});
