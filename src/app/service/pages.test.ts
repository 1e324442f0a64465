import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { consoleOf } from './pages.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-console-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the console', () => {
  it('the console serves a page and immutable files, and no other file of the machine', async () => {
    mkdirSync(join(folder, 'built', 'assets'), { recursive: true });
    writeFileSync(join(folder, 'built', 'index.html'), '<!doctype html><title>Fugu</title>');
    writeFileSync(join(folder, 'built', 'assets', 'main-1.js'), 'export {};');
    writeFileSync(join(folder, 'secret.txt'), 'secret');
    const app = new Hono();
    consoleOf(app, join(folder, 'built'));
    for (const page of ['/', '/login']) {
      const answer = await app.request(page);
      expect(await answer.text()).toContain('Fugu');
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'self'");
      expect(answer.headers.get('content-security-policy')).not.toContain('unsafe-eval');
    }
    const script = await app.request('/assets/main-1.js');
    expect(script.headers.get('content-type')).toContain('javascript');
    expect(script.headers.get('cache-control')).toContain('immutable');
    for (const path of ['/assets/..%2f..%2fsecret.txt', '/assets/none.js', '/assets/', '/index.html', '/secret.txt'])
      expect([path, (await app.request(path)).status]).toEqual([path, 404]);
  });

  it('the console reports that it was not built', async () => {
    const app = new Hono();
    consoleOf(app, join(folder, 'nothing'));
    const answer = await app.request('/');
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('/openapi.json')]);
  });
});
