import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
const write = (name: string, text: string, age = 0) => {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const when = Date.now() / 1000 - age;
  utimesSync(file, when, when);
  return file;
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-script-'));
  copyFileSync(fileURLToPath(new URL('../fugu', import.meta.url)), join(folder, 'fugu'));
  write('package-lock.json', '', 100);
  write('node_modules/.package-lock.json', '');
  for (const tool of ['tsc', 'vite']) chmodSync(write(`node_modules/.bin/${tool}`, '#!/bin/sh\n'), 0o755);
  for (const script of ['client', 'bundle']) write(`scripts/${script}.mjs`, '');
  write('console/main.tsx', '', 100);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = () => spawnSync('./fugu', [], { cwd: folder, encoding: 'utf8' }).stderr;

describe('the script', () => {
  it.each([
    ['noted what it built', true],
    ['was built by npm run build, which notes nothing', false],
  ])('the script builds if sources are newer than the build, and not again (%s)', (_, noted) => {
    write('dist/start/main.js', '', 50);
    if (noted) write('dist/.built', '', 50);
    write('src/a.ts', '', 60);
    expect(run()).toBe('');
    write('src/a.ts', '', 10);
    expect(run()).toContain('building');
    expect(run()).toBe('');
  });
});
