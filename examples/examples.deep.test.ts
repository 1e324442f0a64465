import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtOnce, mainFile } from '../test/fugu.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const run = promisify(execFile);

/** The examples are run on a copy: their budgets are for people. */
let folder: string;
beforeAll(() => {
  builtOnce();
  folder = mkdtempSync(join(tmpdir(), 'fugu-examples-'));
  cpSync(here, join(folder, 'examples'), { recursive: true, filter: (path) => !path.endsWith('.fugu') });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const commands = [...readFileSync(join(here, 'README.md'), 'utf8').matchAll(/`\.\/fugu ([^`]*)`/g)]
  .map((found) => found[1]!)
  .filter((text) => !text.includes('POLICY'));
const wordsOf = (text: string): string[] => [...text.matchAll(/"([^"]*)"|(\S+)/g)].map((m) => m[1] ?? m[2]!);

describe.sequential('the commands and programs of the examples', () => {
  it('the README of the examples contains commands to run', () => expect(commands.length).toBeGreaterThan(6));

  it.each(commands)('the example command succeeds: ./fugu %s', async (text) => {
    const { stdout, stderr } = await run(process.execPath, [mainFile, ...wordsOf(text)], { cwd: folder });
    expect(stderr).toBe('');
    expect(stdout.split('\n').length).toBeGreaterThan(4);
  });

  it('the library example releases tables and shows a fault', async () => {
    const policy = join(folder, 'examples/household-survey/policy.yaml');
    rmSync(join(folder, 'examples/household-survey/.fugu'), { recursive: true, force: true });
    const { stdout } = await run(process.execPath, [join(here, 'library.mjs'), policy]);
    expect(stdout).toMatch(/^laplace noise; spent so far 0\.00 of 2\.20\n1 \d+/);
    expect(stdout).toMatch(/COLUMN_UNKNOWN: The policy declares no column "shoe_size"/);
  });
});
