import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appOf } from '../../src/app/service/app.js';
import { routes } from '../../src/app/service/routes/routes.js';
import { Service } from '../../src/app/service/service.js';
import { TokenStore } from '../../src/app/service/token.js';
import { checkPolicy } from '../../src/index.js';
import { documentedPolicies } from '../documented-policies.js';

const { policies: documented, remove } = documentedPolicies();
/** Everything that can be read of a policy without naming more than it. */
const reading = routes.filter(({ method, path }) => method === 'get' && /^\/v1\/policies\/\{policy\}(\/\w+)*$/.test(path));

const folder = mkdtempSync(join(tmpdir(), 'fugu-documented-service-'));
let service: Service;
let ask: (path: string, body?: unknown) => Promise<{ readonly status: number; readonly body: unknown }>;
beforeAll(async () => {
  const at = (name: string) => join(folder, name);
  const places = { tokens: at('tokens'), log: at('log'), drafts: at('drafts'), made: at('policies'), registry: at('known-data') };
  service = await Service.begin({ ...places, policies: documented.map(({ file }) => file) });
  const token = new TokenStore(places.tokens).make({ name: 'root', role: 'steward', days: 1 }).text;
  const app = appOf(service, () => '127.0.0.1');
  ask = async (path, body) => {
    const headers = { host: 'fugu.test', authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
    const answer = await app.request(`http://fugu.test${path}`, sent);
    const text = await answer.text();
    return { status: answer.status, body: answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text };
  };
});
afterAll(async () => {
  service?.stop();
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
  remove();
});

describe('every documented policy', () => {
  it("the test finds at least today's policies", () => {
    expect(documented.length).toBeGreaterThanOrEqual(30);
    expect(documented.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['time-0', 'time-1', 'relationships-0', 'tables-0']),
    );
    expect(reading.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['policy', 'check', 'budget', 'entries', 'verify', 'belief', 'leakage', 'ties', 'time']),
    );
  });

  it.each(documented)('the policy $name passes check', async ({ file }) => {
    expect(await checkPolicy(file)).toMatchObject({ ready: true });
  });

  it.each(documented)('every endpoint that reads answers for $name or explains why not', async ({ name }) => {
    for (const route of reading) {
      const { status, body } = await ask(route.path.replace('{policy}', name));
      expect([route.name, status, status < 500 ? '' : body]).toEqual([
        route.name,
        expect.toSatisfy((s) => s === 200 || s === 422),
        '',
      ]);
      if (status === 200) expect([route.name, route.answer.safeParse(body).error?.issues]).toEqual([route.name, undefined]);
      if (status !== 200) expect(body).toMatchObject({ code: 'QUERY_UNSUPPORTED' });
    }
    for (const body of [{ epsilon: '1/2' }, { ties: [{ index: 0, oddsRatio: 3 }] }])
      expect((await ask(`/v1/policies/${name}/what-if`, body)).status).toBeLessThan(500);
    const { columns, secret } = (await ask(`/v1/policies/${name}`)).body as { columns: { name: string }[]; secret: string };
    const question = secret === 'edge' ? { pattern: 'triangles' } : { kind: 'count', by: columns.slice(0, 1).map((c) => c.name) };
    expect((await ask(`/v1/policies/${name}/plan`, { question, epsilon: '1/10' })).status).toBeLessThan(500);
  });

  it('the guide to time draws the policy of steps: its ties and what they disclose', async () => {
    const ties = (await ask('/v1/policies/time-0/ties')).body as { ties: number };
    expect(ties.ties).toBe(120);
    expect((await ask('/v1/policies/time-0/leakage')).status).toBe(200);
  });
});
