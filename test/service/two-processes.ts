import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { TokenStore } from '../../src/app/service/token.js';
import { startService } from './process.js';
import { askOver, townFolder } from './served.js';

const quotas = { ann: 0.5, bob: 1 };
const each = 1 / 16;

/** A request sent under one key to both processes at once, and then again, is charged once even if fresh; another key is charged again. */
async function payOnceUnderAKey([one, two]: readonly string[], root: string): Promise<void> {
  const before = (await askOver(one!, root, '/v1/policies/town/ledger?most=1000')).body.entries.length;
  const send = async (url: string, key: string) =>
    askOver(
      url,
      root,
      '/v1/policies/town/release',
      { question: { kind: 'count', by: ['party'] }, epsilon: '1/64', fresh: true },
      { 'idempotency-key': key },
    );
  for (const key of ['a', 'b', 'c', 'd']) {
    const answers = await Promise.all([send(one!, key), send(two!, key), send(two!, key), send(one!, key)]);
    const again = await send(two!, key);
    const entries = [...answers, again].map(({ status, body }) => [status, body.receipt?.ledger.entry, body.tables]);
    for (const entry of entries) expect(entry).toEqual(entries[0]);
    expect(entries[0]![0]).toBe(200);
  }
  expect((await askOver(two!, root, '/v1/policies/town/ledger?most=1000')).body.entries.length).toBe(before + 4);
}

/** Two analysts spend through two processes on one ledger until nothing more fits: the quotas hold to the last piece. */
export async function askThroughTwo(ledger?: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const folder = townFolder(`{ epsilon: 4, analysts: { ann: ${quotas.ann}, bob: ${quotas.bob} } }`);
  const file = join(folder, 'town.yaml');
  if (ledger !== undefined) writeFileSync(file, `${readFileSync(file, 'utf8')}ledger: ${ledger}\n`);
  const tokens = new TokenStore(join(folder, 'fugu-tokens'));
  const [ann, bob] = ['ann', 'bob'].map((name) => tokens.make({ name, role: 'analyst', days: 1 }).text);
  const root = tokens.make({ name: 'root', role: 'steward', days: 1 }).text;
  const services = await Promise.all(['one', 'two'].map((name) => startService(folder, ['--name', name], env)));
  let sent = 0;
  const client = async (token: string, url: string) => {
    const statuses: number[] = [];
    for (let k = 0; k < 14; k++) {
      const body = {
        question: { kind: 'count', where: [{ column: 'age', op: '>', value: sent++ }] },
        epsilon: String(each),
        label: `${sent}`,
      };
      statuses.push((await askOver(url, token, '/v1/policies/town/release', body)).status);
    }
    return statuses;
  };
  const statuses = (await Promise.all(services.flatMap(({ url }) => [client(ann!, url), client(bob!, url)]))).flat();
  expect(new Set(statuses)).toEqual(new Set([200, 409]));
  for (const { url } of services) {
    const { body } = await askOver(url, root, '/v1/policies/town/budget');
    expect(body.quotas).toMatchObject([
      { analyst: 'ann', total: 0.5, spent: 0.5 },
      { analyst: 'bob', total: 1, spent: 1 },
    ]);
    expect(body.budget.spent).toBeCloseTo(1.5, 9);
    expect((await askOver(url, ann!, '/v1/policies/town/budget')).body.quotas).toMatchObject([{ analyst: 'ann' }]);
    expect((await askOver(url, root, '/v1/policies/town/ledger/verify')).body).toMatchObject({ ok: true, entries: 24 });
  }
  await payOnceUnderAKey(
    services.map(({ url }) => url),
    root,
  );
  for (const { child } of services) child.kill('SIGTERM');
  expect(await Promise.all(services.map(({ ended }) => ended))).toEqual([0, 0]);
  return folder;
}
