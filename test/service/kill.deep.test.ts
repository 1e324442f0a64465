import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { verifyAuditLog } from '../../src/app/service/audit-log.js';
import { TokenStore } from '../../src/app/service/token.js';
import { builtOnce } from '../fugu.js';
import { startService, tried } from './process.js';
import { askOver, townFolder } from './served.js';

beforeAll(() => builtOnce());
let folder: string;
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** FUGU_KILLS=20 is the whole torture; the suite does two. */
const kills = Number(process.env.FUGU_KILLS ?? 2);
const clients = 6;

interface ReleaseReply {
  readonly body: { readonly question: object; readonly epsilon: string };
  readonly entry: number;
  readonly hash: string;
  readonly tables: unknown;
}

describe('a service that is killed', () => {
  it(
    `the ledger of a killed service holds every answered release and no other, ${kills} times`,
    async () => {
      folder = townFolder();
      const tokens = new TokenStore(join(folder, 'fugu-tokens'));
      const ann = tokens.make({ name: 'ann', role: 'analyst', days: 1 }).text;
      const root = tokens.make({ name: 'root', role: 'steward', days: 1 }).text;
      const answers: ReleaseReply[] = [];
      const restarts: number[] = [];
      let sent = 0;
      for (let round = 0; round < kills; round++) {
        const service = await startService(folder);
        restarts.push(service.startedIn);
        let answered = 0;
        let enough: () => void = () => undefined;
        const some = new Promise<void>((go) => {
          enough = go;
        });
        const client = async () => {
          for (;;) {
            const body = {
              question: { kind: 'count', where: [{ column: 'age', op: '>', value: sent++ % 90 }] },
              epsilon: `1/${2000 + sent}`,
            };
            const answer = await tried(service.url, ann, '/v1/policies/town/release', body);
            if (!answer) return;
            if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
            const { receipt, tables } = answer.body;
            answers.push({ body, entry: receipt.ledger.entry, hash: receipt.ledger.hash, tables });
            // So that it dies in the middle of others.
            if (++answered > 10 + (round % 5)) enough();
          }
        };
        const all = Array.from({ length: clients }, client);
        await Promise.race([some, Promise.all(all)]);
        service.child.kill('SIGKILL');
        expect(await service.ended).toBe('SIGKILL');
        await Promise.all(all);
      }
      const service = await startService(folder);
      restarts.push(service.startedIn);
      const entries = new Map<number, { hash: string; settled: boolean; analyst: string }>();
      for (let after = 0, more = true; more; ) {
        const page = (await askOver(service.url, root, `/v1/policies/town/ledger?after=${after}&most=1000`)).body;
        for (const entry of page.entries) entries.set(entry.sequence, entry);
        after = Math.max(after, ...page.entries.map((e: { sequence: number }) => e.sequence));
        more = page.more;
      }
      expect(answers.length).toBeGreaterThan(10 * kills);
      for (const { entry, hash } of answers) expect([entry, entries.get(entry)]).toMatchObject([entry, { hash, settled: true }]);
      // At most the request under way at the kill was reserved without being answered.
      expect(entries.size).toBeGreaterThanOrEqual(answers.length);
      expect(entries.size).toBeLessThanOrEqual(answers.length + kills * clients);
      for (const { body, entry, tables } of answers.filter((_, k) => k % 7 === 0)) {
        const again = await askOver(service.url, ann, '/v1/policies/town/release', body);
        expect(again.body).toMatchObject({ tables, receipt: { ledger: { entry, replayed: true } } });
      }
      expect((await askOver(service.url, root, '/v1/policies/town/ledger/verify')).body).toMatchObject({ ok: true });
      expect((await askOver(service.url, root, '/v1/log/verify')).body.events).toBeGreaterThanOrEqual(answers.length);
      if (process.env.FUGU_KILLS)
        console.log(`restarts: ${restarts.map((ms) => ms.toFixed(0)).join(', ')} ms; ${answers.length} answers`);
      service.child.kill('SIGTERM');
      expect(await service.ended).toBe(0);
      expect(verifyAuditLog(join(folder, 'fugu-log', 'service')).events).toBeGreaterThan(answers.length);
    },
    Math.max(300_000, 60_000 * kills),
  );

  it('a service that is stopped finishes or records the work under way', async () => {
    folder = townFolder();
    const ann = new TokenStore(join(folder, 'fugu-tokens')).make({ name: 'ann', role: 'analyst', days: 1 }).text;
    const service = await startService(folder);
    const releases = Array.from({ length: 12 }, (_, k) =>
      tried(service.url, ann, '/v1/policies/town/release', {
        question: { kind: 'count', by: ['party'] },
        epsilon: `1/${100 + k}`,
      }),
    );
    const job = await askOver(service.url, ann, '/v1/policies/town/jobs', { question: { survey: true }, epsilon: '1/3' });
    expect(job.status).toBe(202);
    await Promise.race(releases);
    service.child.kill('SIGTERM');
    const answers = await Promise.all(releases);
    expect(await service.ended).toBe(0);
    expect(answers.filter((a) => a?.status === 200).length).toBeGreaterThan(0);
    for (const answer of answers) expect([200, 503, undefined]).toContain(answer?.status);
    const again = await startService(folder);
    const { entries } = (await askOver(again.url, ann, '/v1/policies/town/ledger')).body;
    for (const entry of entries) expect(entry).toMatchObject({ settled: true });
    again.child.kill('SIGTERM');
    await again.ended;
  });
});

describe('the audit log after a restart', () => {
  it('the next process detects a changed line, and reports a log that was cut short', async () => {
    folder = townFolder();
    const root = new TokenStore(join(folder, 'fugu-tokens')).make({ name: 'root', role: 'auditor', days: 1 }).text;
    const first = await startService(folder);
    for (let k = 0; k < 3; k++) await askOver(first.url, root, '/v1/policies');
    first.child.kill('SIGKILL');
    await first.ended;
    const log = join(folder, 'fugu-log', 'service', '00000001.jsonl');
    const sound = readFileSync(log, 'utf8');
    writeFileSync(log, `${sound}{"at":"half a li`);
    const second = await startService(folder);
    expect((await askOver(second.url, root, '/v1/log/verify')).body.torn).toEqual(['00000001.jsonl']);
    second.child.kill('SIGTERM');
    await second.ended;
    for (const changed of [sound.replace('"status":200', '"status":401'), sound.split('\n').slice(1).join('\n')]) {
      writeFileSync(log, changed);
      await expect(startService(folder)).rejects.toThrow('does not follow');
    }
  });
});
