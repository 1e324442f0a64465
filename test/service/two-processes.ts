import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Tokens } from '../../src/service/token.js';
import { running } from './process.js';
import { askOver, townFolder } from './served.js';

const quotas = { ann: 0.5, bob: 1 };
const each = 1 / 16;

/** Two analysts ask through two processes on one ledger until nothing more fits: what the quotas say holds, to the last piece. */
export async function askThroughTwo(ledger?: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const folder = townFolder(`{ epsilon: 4, analysts: { ann: ${quotas.ann}, bob: ${quotas.bob} } }`);
  const file = join(folder, 'town.yaml');
  if (ledger !== undefined) writeFileSync(file, `${readFileSync(file, 'utf8')}ledger: ${ledger}\n`);
  const tokens = new Tokens(join(folder, 'fugu-tokens'));
  const [ann, bob] = ['ann', 'bob'].map((name) => tokens.make({ name, role: 'analyst', days: 1 }).text);
  const root = tokens.make({ name: 'root', role: 'steward', days: 1 }).text;
  const services = await Promise.all(['one', 'two'].map((name) => running(folder, ['--name', name], env)));
  let asked = 0;
  const client = async (token: string, url: string) => {
    const statuses: number[] = [];
    for (let k = 0; k < 14; k++) {
      const body = {
        question: { kind: 'count', where: [{ column: 'age', op: '>', value: asked++ }] },
        epsilon: String(each),
        label: `${asked}`,
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
  for (const { child } of services) child.kill('SIGTERM');
  expect(await Promise.all(services.map(({ ended }) => ended))).toEqual([0, 0]);
  return folder;
}
