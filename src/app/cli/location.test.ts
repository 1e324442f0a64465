import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/command.js';
import { registerLocationCommand } from './location.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-location-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const model = (text: string): string => {
  const file = join(folder, 'place.json');
  writeFileSync(file, text);
  return file;
};
const four = '"cells": [[0,0],[1,0],[0,1],[2,2]]';
const run = async (...words: string[]) => JSON.parse(await runCommand(registerLocationCommand, 'location', '--json', ...words));

describe('the command fugu location', () => {
  it('fugu location describes one moment', async () => {
    const file = model(`{${four}}`);
    const { moments, certified } = await run('--model', file, '--delta', '0');
    expect(certified).toBe(false);
    expect(moments).toHaveLength(1);
    expect(moments[0]).toMatchObject({ protected: [0, 1, 2, 3], area: 10 });
    expect(moments[0].error).toBeGreaterThan(4);
    expect(moments[0].error).toBeLessThan(moments[0].comparator);
  });

  it('fugu location follows a person through several moments, and names the stand-in of an unprotected place', async () => {
    const stay = '[[0.7,0.1,0.1,0.1],[0.1,0.7,0.1,0.1],[0.1,0.1,0.7,0.1],[0.1,0.1,0.1,0.7]]';
    const file = model(`{${four}, "belief": [0.5,0.45,0.04,0.01], "transition": ${stay}}`);
    const { moments } = await run('--model', file, '--at', '3,3,1', '--epsilon', '1/2');
    expect(moments).toHaveLength(3);
    expect(moments[0].surrogate).toBe(1);
    for (const { released, belief } of moments) {
      expect(released).toHaveLength(2);
      expect(belief.reduce((a: number, b: number) => a + b, 0)).toBeCloseTo(1, 9);
    }
    expect(await runCommand(registerLocationCommand, 'location', '--model', file)).toContain('not certified');
  });

  it('fugu location shows the policy graph: the privacy loss between cells, and the stand-in of each', async () => {
    const file = model(`{${four}, "belief": [0.4,0.3,0.29,0.01]}`);
    const [moment] = (await run('--model', file, '--delta', '0', '--epsilon', '2')).moments;
    const edges = new Map(moment.edges.map((e: { cells: number[]; epsilon: number }) => [e.cells.join(), e.epsilon]));
    // In the norm of the hull of mechanisms.md c: |(1,0)| = 2/3, |(2,2)| = 1, |(1,-1)| = 1; at epsilon 2 twice that.
    expect(edges.get('0,1')).toBeCloseTo(4 / 3, 12);
    expect(edges.get('0,3')).toBeCloseTo(2, 12);
    expect(edges.get('1,2')).toBeCloseTo(2, 12);
    expect(moment.standsFor).toEqual([0, 1, 2, 3]);
    const [some] = (await run('--model', file, '--delta', '0.05')).moments;
    expect(some).toMatchObject({ protected: [0, 1, 2], standsFor: [0, 1, 2, 1] });
    expect(await runCommand(registerLocationCommand, 'location', '--model', file)).toContain(
      'Released as 1, never distinguished from it: 3.',
    );
  });

  it.each([
    [['--epsilon', '0'], `{${four}}`, 'BUDGET_INVALID'],
    [['--delta', '1'], `{${four}}`, 'USAGE'],
    [['--at', '4'], `{${four}}`, 'USAGE'],
    [['--at', 'home'], `{${four}}`, 'USAGE'],
    [[], `{${four}, "belief": [1,1,0,0]}`, 'MODEL_INVALID'],
    [[], '{"cells": [[0,0],[0,0]]}', 'MODEL_INVALID'],
    [[], `{${four}, "transition": [[1]]}`, 'MODEL_INVALID'],
  ])('fugu location refuses %j with the model %s', async (words, text, code) => {
    await expect(run('--model', model(text), ...words)).rejects.toMatchObject({ code });
  });
});
