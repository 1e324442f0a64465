import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { registerAuditCommand as registerAudit } from './audit.js';
import { registerCompareCommand as registerCompare } from './compare.js';
import { registerLocationCommand as registerLocation } from './location.js';

let folder: string;
let printed: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-bench-'));
  printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
  writeFileSync(
    join(folder, 'pair.json'),
    JSON.stringify({
      records: [
        { id: 'a', values: [0, 1, 2] },
        { id: 'b', values: [0, 1] },
      ],
      factors: [
        {
          records: ['a', 'b'],
          table: [
            [1, 0],
            [0, 1],
            [1, 0],
          ],
        },
      ],
    }),
  );
  writeFileSync(join(folder, 'answers.json'), '[[0,1],[1,2],[0,1]]');
  writeFileSync(join(folder, 'broken.json'), '[[0,1],');
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...words: string[]) {
  const program = new Command('fugu').exitOverride();
  registerAudit(program);
  registerCompare(program);
  registerLocation(program);
  await program.parseAsync(['node', 'fugu', ...words.map((w) => (w === 'MODEL' ? join(folder, 'pair.json') : w))]);
  return printed;
}
const fault = (code: string) => expect.objectContaining({ name: 'Fault', code });

describe('the workbench commands', () => {
  it('fugu audit reads a table of answers next to the model file', async () => {
    const found = JSON.parse(await run('audit', 'MODEL', '--query', 'table:answers.json', '--scale', '1', '--json'));
    expect(found).toMatchObject({ loss: expect.closeTo(2, 9), record: 'a', known: {} });
  });

  it('fugu audit describes the worst case in words', async () => {
    const text = await run('audit', 'MODEL', '--query', 'identity', '--calibrate', '1/2', '--adversary', 'uninformed');
    expect(text).toContain('least scale');
    expect(text).toContain('worst for record');
    expect(text).toContain('knows no record');
  });

  it('fugu compare prints a table in which broken promises are marked', async () => {
    const text = await run('compare', 'MODEL', '--query', 'table:answers.json', '--epsilon', '1');
    expect(text).toMatch(/zhu .*broken: 2 x epsilon/);
    expect(text).toMatch(/group .*certified, informed .*kept/);
  });

  it('fugu compare shows Gaussian records, and labels published mechanisms as published', async () => {
    const file = join(folder, 'gaussian.json');
    writeFileSync(
      file,
      JSON.stringify({
        gaussian: {
          covariance: [
            [1, 0.45],
            [0.45, 1],
          ],
          bounds: [0, 1],
        },
      }),
    );
    const text = await run('compare', file, '--query', 'sum', '--epsilon', '1');
    expect(text).toMatch(/gaussian-bayesian +1\.45 +as published/);
    expect(text).toMatch(/gaussian-correlation +1\.45 +as published/);
    expect(text).toMatch(/laplace +1 .*broken: 1\.45 x epsilon/);
    expect(text).toMatch(/gaussian-clipped .*certified, informed .*proven/);
    writeFileSync(file, '{"gaussian": ');
    await expect(run('compare', file, '--query', 'sum', '--epsilon', '1')).rejects.toThrow(fault('MODEL_INVALID'));
  });

  it('fugu compare refuses a chain of one state at once, since nothing in it is secret', async () => {
    const file = join(folder, 'still.json');
    for (const chain of [
      { length: 100, initial: 'stationary' },
      { length: 5000, initial: [1] },
    ]) {
      writeFileSync(file, JSON.stringify({ chain: { transition: [[1]], ...chain } }));
      const outcome = run('compare', file, '--query', 'histogram', '--epsilon', '1');
      await expect(outcome).rejects.toMatchObject({
        code: 'MODEL_INVALID',
        message: expect.stringContaining('nothing is secret'),
      });
    }
  });

  it('fugu compare prints the number of states of a long chain in a readable form', async () => {
    const file = join(folder, 'long.json');
    writeFileSync(file, JSON.stringify({ chain: { transition: [[0.9, 0.1], [0.1, 0.9]], length: 500, initial: 'stationary' } })); // biome-ignore format: one line
    await expect(run('compare', file, '--query', 'product', '--epsilon', '1')).rejects.toThrow(/would need about 3e\+150 states/);
  });

  it('fugu location names the model file if it is missing', async () => {
    const outcome = run('location', '--model', join(folder, 'nowhere.json'));
    await expect(outcome).rejects.toMatchObject({ code: 'DATA_NOT_FOUND', message: 'The model file cannot be read.' });
  });

  it('the workbench commands refuse invalid input and explain how to continue', async () => {
    const audit = (...words: string[]) => run('audit', 'MODEL', '--query', 'sum', ...words);
    await expect(audit()).rejects.toThrow(fault('USAGE'));
    await expect(audit('--scale', '1', '--calibrate', '1')).rejects.toThrow(fault('USAGE'));
    await expect(audit('--scale', '0')).rejects.toThrow(fault('USAGE'));
    await expect(audit('--scale', 'x')).rejects.toThrow(fault('BUDGET_INVALID'));
    await expect(audit('--scale', '1', '--adversary', 'me')).rejects.toThrow(fault('USAGE'));
    await expect(run('audit', 'MODEL', '--query', 'table:nowhere.json', '--scale', '1')).rejects.toThrow(fault('DATA_NOT_FOUND'));
    await expect(run('audit', 'MODEL', '--query', 'table:broken.json', '--scale', '1')).rejects.toThrow(fault('QUERY_INVALID'));
    await expect(run('audit', join(folder, 'none.json'), '--query', 'sum', '--scale', '1')).rejects.toThrow(
      fault('DATA_NOT_FOUND'),
    );
    await expect(run('compare', 'MODEL', '--query', 'mode', '--epsilon', '1')).rejects.toThrow(fault('QUERY_INVALID'));
  });
});
