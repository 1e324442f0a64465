import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { verifyAuditLog } from '../../src/app/service/audit-log.js';
import { openTown, type ServedTown } from './served.js';

let town: ServedTown;
afterEach(() => town?.close());

const linesIn = (folder: string) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );

describe('a flood of requests', () => {
  it('a flood of refusals fills no disk, and the number of those left out is written down', async () => {
    town = await openTown(undefined, { guesses: 3, burst: 5, perSecond: 0.001 });
    const ann = town.token('ann', 'analyst');
    for (let k = 0; k < 40; k++) expect((await town.ask(undefined, '/v1/policies')).status).toBe(401);
    expect((await town.ask(ann, '/v1/policies')).status).toBe(200);
    const lines = linesIn(join(town.folder, 'log'));
    expect(lines.length).toBeLessThan(20);
    expect(lines.at(-1)).toMatchObject({ name: 'ann', status: 200 });
    const leftOut = lines.reduce((sum, line) => sum + (line.leftOut ?? 0), 0);
    expect(lines.length + leftOut).toBe(41);
    expect(verifyAuditLog(join(town.folder, 'log')).events).toBe(lines.length);
    // A token that may not ask for something is counted as one that may.
    const statuses = [];
    for (let k = 0; k < 6; k++) statuses.push((await town.ask(ann, '/metrics')).status);
    expect(statuses).toEqual([403, 403, 403, 403, 429, 429]);
  });

  it('a flood of listeners holds only a few connections to a job, and a HEAD request holds none', async () => {
    town = await openTown();
    const ann = town.token('ann', 'analyst');
    let end: () => void = () => undefined;
    const gate = new Promise<void>((go) => {
      end = go;
    });
    const { job } = town.service.jobs.begin(town.tokens.find(ann)!, 'town', async () => {
      await gate;
      return {};
    });
    const listen = (method: string) =>
      town.app.request(`http://fugu.test/v1/jobs/${job}/events`, { method, headers: { authorization: `Bearer ${ann}` } });
    const heads = [];
    for (let k = 0; k < 20; k++) heads.push((await listen('HEAD')).status);
    const open = [];
    for (let k = 0; k < 8; k++) open.push(await listen('GET'));
    const more = (await listen('GET')).status;
    await open[0]!.body!.cancel();
    const then = (await listen('GET')).status;
    end();
    expect(heads).toEqual(Array(20).fill(200));
    expect(open.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect([more, then]).toEqual([429, 200]);
  });
});

describe('the audit log', () => {
  it('the audit log holds nothing that its hashes do not cover', async () => {
    town = await openTown();
    await town.ask(town.token('ann', 'analyst'), '/v1/policies');
    const folder = join(town.folder, 'log');
    const file = join(folder, '00000001.jsonl');
    const text = readFileSync(file, 'utf8');
    for (const changed of ['"name":"eve","name":"ann"', '"name": "ann"']) {
      writeFileSync(file, text.replace('"name":"ann"', changed));
      expect(() => verifyAuditLog(folder)).toThrow('does not follow');
    }
    writeFileSync(file, text);
    expect(verifyAuditLog(folder).events).toBe(1);
  });

  it('the audit log and the tokens lie where nobody else reads', async () => {
    town = await openTown();
    town.token('ann', 'analyst');
    for (const folder of ['log', 'tokens']) expect(statSync(join(town.folder, folder)).mode & 0o077).toBe(0);
  });
});
