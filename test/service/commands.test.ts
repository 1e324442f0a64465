import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { builtOnce, fugu, mainFile } from '../fugu.js';
import { askOver, townFolder } from './served.js';

beforeAll(() => builtOnce());
let folder: string;
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const started = (...words: readonly string[]) => {
  const child = spawn(process.execPath, [mainFile, 'serve', 'town.yaml', '--port', '0', '--json', ...words], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>((done) => child.on('exit', (code) => done(code)));
  const url = new Promise<string>((done) => {
    let out = '';
    child.stdout.on('data', (text) => {
      out += text;
      const found = /"url": "([^"]+)"/.exec(out)?.[1];
      if (found) done(found);
    });
  });
  return { child, ended, url };
};

describe('the commands fugu serve and fugu token', () => {
  it('fugu serve serves the holders of tokens until these end, and stops on request', async () => {
    folder = townFolder();
    const made = await fugu({ cwd: folder }, 'token', 'make', 'town.yaml', '--role', 'analyst', '--for', 'ann', '--json');
    const { token, id } = JSON.parse(made.out);
    const kept = readdirSync(join(folder, 'fugu-tokens')).map((f) => readFileSync(join(folder, 'fugu-tokens', f), 'utf8'));
    expect(kept.join('')).not.toContain(token.slice('fugu_0123456789abcdef_'.length));
    const { child, ended, url } = started();
    const count = { question: { kind: 'count' }, epsilon: '1/2' };
    expect((await askOver(await url, token, '/v1/policies/town/release', count)).status).toBe(200);
    await fugu({ cwd: folder }, 'token', 'end', 'town.yaml', id);
    expect((await askOver(await url, token, '/v1/policies/town/release', count)).status).toBe(401);
    expect((await fugu({ cwd: folder }, 'token', 'list', 'town.yaml')).out).toMatch(/ann.*ended/);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const { out } = await fugu({ cwd: folder }, 'ledger', 'town.yaml', '--json');
    expect(JSON.parse(out).entries).toMatchObject([{ analyst: 'ann', settled: true }]);
  });

  it('fugu serve and fugu token refuse impossible requests in one sentence', async () => {
    folder = townFolder();
    const wrong: readonly (readonly string[])[] = [
      ['token', 'make', 'town.yaml', '--for', 'ann'],
      ['token', 'make', 'town.yaml', '--role', 'king', '--for', 'ann'],
      ['token', 'make', 'town.yaml', '--role', 'analyst', '--for', 'ann', '--days', '0'],
      ['token', 'end', 'town.yaml', '0123456789abcdef'],
      ['token', 'burn', 'town.yaml'],
      ['serve', 'town.yaml', '--port', '99999'],
      ['serve', 'town.yaml', '--cert', 'x.pem'],
      ['serve', 'town.yaml', '--port', '0', '--host', '0.0.0.0'],
      ['serve', 'town.yaml', '--port', '0', '--host', '::'],
      ['serve', 'town.yaml', 'town.yaml', '--port', '0'],
      ['serve', 'nowhere.yaml', '--port', '0'],
    ];
    for (const words of wrong) expect([words, (await fugu({ cwd: folder }, ...words)).code]).toEqual([words, 2]);
  });
});
