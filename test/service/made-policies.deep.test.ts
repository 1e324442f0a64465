import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/app/service/token.js';
import { builtOnce, fugu } from '../fugu.js';
import { type ServiceProcess, startService } from './process.js';
import { type Answered, askOver, townFolder } from './served.js';

/** Policies that stewards make in the console, on a service of its own over HTTP, which is killed and started again. */
beforeAll(builtOnce);
const folders: string[] = [];
const services: ServiceProcess[] = [];
afterEach(async () => {
  for (const { child, ended } of services.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The registry of the service's own folder: the user's is that of a home of its own. */
async function started(folder: string, words: readonly string[] = []): Promise<ServiceProcess> {
  const service = await startService(folder, words, { FUGU_REGISTRY: join(folder, 'home') });
  services.push(service);
  return service;
}
async function killed(service: ServiceProcess): Promise<void> {
  service.child.kill('SIGKILL');
  await service.ended;
}
function scene(): { readonly folder: string; readonly root: string } {
  const folder = townFolder();
  folders.push(folder);
  return { folder, root: new TokenStore(join(folder, 'fugu-tokens')).make({ name: 'root', role: 'steward', days: 1 }).text };
}

const csv = `house,colour\n${Array.from({ length: 40 }, (_, k) => `h${k % 20},${k % 3 ? 'red' : 'blue'}\n`).join('')}`;
const sent = async ({ url }: ServiceProcess, root: string, bytes: string, name: string): Promise<Answered> => {
  const answer = await fetch(`${url}/v1/drafts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${root}`, 'content-type': 'application/octet-stream', 'x-file-name': name },
    body: bytes,
  });
  return { status: answer.status, body: await answer.json(), headers: answer.headers };
};

interface Sending {
  readonly policy: string;
  readonly file?: string;
  readonly bytes?: string;
  readonly newBudget?: string;
}
async function made(service: ServiceProcess, root: string, { policy, file = 'colours.csv', bytes = csv, newBudget }: Sending) {
  const draft = (await sent(service, root, bytes, file)).body;
  await askOver(service.url, root, `/v1/drafts/${draft.id}/answers`, { dependence: 'none' });
  const confirmed = await askOver(service.url, root, `/v1/drafts/${draft.id}/confirm`, {
    name: policy,
    ...(newBudget !== undefined && { newBudget }),
  });
  return { draft, confirmed };
}
const question = { question: { kind: 'count', by: ['colour'] }, epsilon: '0.1' };
const names = async ({ url }: ServiceProcess, root: string): Promise<readonly string[]> =>
  (await askOver(url, root, '/v1/policies')).body.policies.map((p: { name: string }) => p.name);

describe('a policy that was made in the console', () => {
  it('the policy is served again after the service was killed, with its budget and its answers', async () => {
    const { folder, root } = scene();
    const first = await started(folder);
    expect((await made(first, root, { policy: 'colours' })).confirmed.status).toBe(200);
    const paid = await askOver(first.url, root, '/v1/policies/colours/release', question);
    expect(paid.body.receipt.ledger).toMatchObject({ entry: 2, replayed: false });
    await killed(first);
    const second = await started(folder);
    expect(await names(second, root)).toEqual(['town', 'colours']);
    expect((await askOver(second.url, root, '/v1/policies/colours/answers/2')).body.tables).toEqual(paid.body.tables);
    const again = await askOver(second.url, root, '/v1/policies/colours/release', question);
    expect(again.body.receipt.ledger).toMatchObject({ entry: 2, replayed: true });
    // Named on the command line as well, it is served once.
    await killed(second);
    expect(await names(await started(folder, ['colours.yaml']), root)).toEqual(['town', 'colours']);
  });

  it('a policy that cannot be served any more keeps no other from being served', async () => {
    const { folder, root } = scene();
    const first = await started(folder);
    await made(first, root, { policy: 'colours' });
    await killed(first);
    rmSync(join(folder, 'colours.yaml'));
    const second = await started(folder);
    expect(await names(second, root)).toEqual(['town']);
    await killed(second);
    writeFileSync(join(folder, 'fugu-policies', 'colours.json'), '{');
    await expect(started(folder)).rejects.toThrow(/list of policies made in the console cannot be read/);
  });

  it('the policy is in the backup of the service, and its answers are available after a restore', async () => {
    const { folder, root } = scene();
    const first = await started(folder);
    await made(first, root, { policy: 'colours' });
    await made(first, root, { policy: 'idle', bytes: csv.replaceAll('red', 'green') });
    await askOver(first.url, root, '/v1/policies/town/release', { question: { kind: 'count', by: ['party'] }, epsilon: '0.1' });
    const paid = await askOver(first.url, root, '/v1/policies/colours/release', question);
    const backups = mkdtempSync(join(tmpdir(), 'fugu-backups-'));
    folders.push(backups);
    const env = { FUGU_REGISTRY: join(folder, 'home') };
    const done = await fugu({ cwd: folder, env }, 'ledger', 'town.yaml', 'backup', join(backups, 'ledgers'), '--made', '--json');
    expect([done.code, done.err]).toEqual([0, '']);
    const { ledgers } = JSON.parse(done.out) as { ledgers: { policy: string; ledger: string; file: string }[] };
    expect(ledgers.map(({ policy, file }) => [policy.slice(folder.length + 1), file.slice(backups.length + 9)])).toEqual([
      ['town.yaml', 'town.fugu'],
      ['colours.yaml', 'colours.fugu'],
      ['idle.yaml', 'idle.fugu'],
    ]);
    expect(readdirSync(join(backups, 'ledgers')).sort()).toEqual(['colours.fugu', 'idle.fugu', 'town.fugu']);
    // Everything but the ledgers is copied as files are, to another place; the ledgers come from their backups.
    await killed(first);
    const elsewhere = `${folder}-restored`;
    folders.push(elsewhere);
    cpSync(folder, elsewhere, { recursive: true, filter: (path) => !path.includes('.fugu/') });
    const policy = join(elsewhere, 'colours.yaml');
    const old = ledgers[1]!.ledger.replace(/\/\.fugu\/ledger\.db$/, '');
    writeFileSync(policy, `${readFileSync(policy, 'utf8')}\npopulation: "data:${join(old, 'colours.csv')}"\n`);
    const at = { cwd: elsewhere, env: { FUGU_REGISTRY: join(elsewhere, 'home') } };
    for (const name of ['town', 'colours']) {
      const file = join(backups, 'ledgers', `${name}.fugu`);
      expect((await fugu(at, 'ledger', `${name}.yaml`, 'restore', file, '--reason', 'the disk failed')).err).toBe('');
      expect((await fugu(at, 'ledger', `${name}.yaml`, 'amend', '--reason', 'nothing was released since')).err).toBe('');
    }
    const second = await started(elsewhere);
    expect((await askOver(second.url, root, '/v1/policies/colours/answers/2')).body.tables).toEqual(paid.body.tables);
    const again = await askOver(second.url, root, '/v1/policies/colours/release', question);
    expect(again.body.receipt.ledger).toMatchObject({ entry: 2, replayed: true });
  });
});

describe('data that is sent to a service twice', () => {
  it('the data gets a second budget only for a reason, even under another name and after a restart', async () => {
    const { folder, root } = scene();
    const first = await started(folder);
    expect((await made(first, root, { policy: 'colours' })).draft.hasBudget).toBeUndefined();
    const twice = await made(first, root, { policy: 'again', file: 'other-name.csv' });
    expect(twice.draft.hasBudget).toBe(true);
    expect(twice.confirmed).toMatchObject({
      status: 409,
      body: { code: 'LEDGER_MISMATCH', title: 'This data has a budget already: that of the policy colours.' },
    });
    // The data of a served policy has a budget, whether or not anything was released.
    const town = readFileSync(join(folder, 'town.csv'), 'utf8');
    expect((await made(first, root, { policy: 'copied', bytes: town })).confirmed.body.title).toContain('the policy town');
    await killed(first);
    const second = await started(folder);
    expect(await names(second, root)).toEqual(['town', 'colours']);
    expect((await made(second, root, { policy: 'again' })).confirmed.status).toBe(409);
    expect((await made(second, root, { policy: 'again', newBudget: ' ' })).confirmed.status).toBe(422);
    expect((await made(second, root, { policy: 'again', newBudget: 'two juries' })).confirmed.status).toBe(200);
    // The reason outlasts a restart before the first release.
    await killed(second);
    const third = await started(folder);
    expect((await askOver(third.url, root, '/v1/policies/again/release', question)).status).toBe(200);
    const chains = readdirSync(join(folder, 'fugu-drafts'), { recursive: true, encoding: 'utf8' }).filter((f) =>
      f.endsWith('.chain'),
    );
    const reasons = chains.filter((f) => readFileSync(join(folder, 'fugu-drafts', f), 'utf8').includes('"reason":"two juries"'));
    expect(reasons).toHaveLength(1);
  });

  it('the data is refused to a service that is started with a copy of it', async () => {
    const { folder, root } = scene();
    const first = await started(folder);
    await killed(first);
    writeFileSync(join(folder, 'copy.csv'), readFileSync(join(folder, 'town.csv')));
    writeFileSync(join(folder, 'copy.yaml'), readFileSync(join(folder, 'town.yaml'), 'utf8').replaceAll('town', 'copy'));
    await expect(started(folder, ['copy.yaml'])).rejects.toThrow(/This data has a budget already/);
    expect(await names(await started(folder, ['copy.yaml', '--new-budget', 'two juries']), root)).toEqual(['town', 'copy']);
  });
});
