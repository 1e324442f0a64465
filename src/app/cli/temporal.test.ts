import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/command.js';
import { registerTemporalCommand } from './temporal.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-temporal-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, document: unknown) => {
  writeFileSync(join(folder, name), JSON.stringify(document));
  return join(folder, name);
};
const chain = file('chain.json', [
  [0.8, 0.2],
  [0, 1],
]);
const identity = file('identity.json', {
  transition: [
    [1, 0],
    [0, 1],
  ],
});
const run = (...words: string[]) => runCommand(registerTemporalCommand, 'temporal', ...words);
const json = async (...words: string[]) => JSON.parse(await run(...words, '--json'));

describe('the command fugu temporal', () => {
  it('fugu temporal refuses matrices over different numbers of states', async () => {
    const three = file('three.json', [
      [0.8, 0.1, 0.1],
      [0.1, 0.8, 0.1],
      [0.1, 0.1, 0.8],
    ]);
    await expect(run('--backward', chain, '--forward', three, '--epsilon', '0.1', '--steps', '3')).rejects.toMatchObject({
      code: 'MODEL_INVALID',
    });
  });

  it('fugu temporal prints the leakage of every step, and its supremum', async () => {
    const found = await json('--backward', chain, '--forward', chain, '--epsilon', '0.1', '--steps', '10');
    expect(found.leakage.map((x: number) => x.toFixed(4)).slice(0, 5)).toEqual([
      '0.4964',
      '0.5558',
      '0.5975',
      '0.6239',
      '0.6368',
    ]);
    expect(found.budgets).toHaveLength(10);
    expect(found.supremum).toBeCloseTo(2 * 0.645907 - 0.1, 5);
    expect(await run('--backward', chain, '--epsilon', '0.1', '--steps', '40')).toMatch(
      /…[\s\S]*no step ever leaks more than 0\.6459/,
    );
  });
  it('fugu temporal finds budgets for a target, for ever or up to an end', async () => {
    const found = await json('--backward', chain, '--target', '1');
    expect(found).toMatchObject({ leakage: [], certified: true });
    expect(await run('--backward', chain, '--target', '1')).toContain('Every step may spend epsilon');
    const ended = await json('--backward', chain, '--forward', chain, '--target', '1', '--steps', '12');
    expect(Math.max(...ended.leakage)).toBeLessThanOrEqual(1);
    expect(ended.budgets[5]).toBeLessThan(ended.budgets[0]);
  });
  it('fugu temporal refuses a target that no budget can keep, and explains why', async () => {
    await expect(run('--forward', identity, '--target', '1')).rejects.toThrow(/another is certain/);
    expect((await json('--forward', identity, '--epsilon', '0.1', '--steps', '5')).supremum).toBeNull();
  });
  it.each([
    ['no matrix', ['--epsilon', '1', '--steps', '5']],
    ['no steps', ['--forward', chain, '--epsilon', '1']],
    ['steps that are no number', ['--forward', chain, '--epsilon', '1', '--steps', 'x']],
    ['no steps at all', ['--forward', chain, '--epsilon', '1', '--steps', '0']],
    ['epsilon and a target', ['--forward', chain, '--epsilon', '1', '--steps', '3', '--target', '1']],
    ['an epsilon of nothing', ['--forward', chain, '--epsilon', '0', '--steps', '3']],
    [
      'rows that do not sum to one',
      [
        '--forward',
        file('off.json', [
          [0.5, 0.4],
          [0, 1],
        ]),
        '--target',
        '1',
      ],
    ],
    ['rows of different lengths', ['--forward', file('cut.json', [[1], [0, 1]]), '--target', '1']],
    ['a set of matrices', ['--forward', file('set.json', { transitions: [[[1]], [[1]]] }), '--target', '1']],
  ])('fugu temporal refuses %s', async (_, words) => {
    await expect(run(...words)).rejects.toMatchObject({ name: 'Fault' });
  });
});
