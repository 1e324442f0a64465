import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/command.js';
import { Fault } from '../../base/errors.js';
import { registerLeakCommand } from './leak.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-leak-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, document: unknown) => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(document));
  return path;
};
const pair = file('pair.json', {
  records: [
    { id: 'ann', values: [0, 1] },
    { id: 'bob', values: [0, 1] },
  ],
  factors: [{ records: ['ann', 'bob'], oddsRatio: 4 }],
});
const star = file('star.json', {
  records: Array.from({ length: 9 }, (_, k) => ({ id: `r${k}`, values: [0, 1] })),
  factors: Array.from({ length: 8 }, (_, k) => ({ records: ['r0', `r${k + 1}`], oddsRatio: 9 })),
});
const run = (...words: string[]) => runCommand(registerLeakCommand, 'leak', ...words);
const json = async (...words: string[]) => JSON.parse(await run(...words, '--json'));
const refused = async (...words: string[]): Promise<Fault> => {
  const error = await run(...words).then(
    () => undefined,
    (e: unknown) => e,
  );
  if (!(error instanceof Fault)) throw new Error('no fault');
  return error;
};

describe('the command fugu leak', () => {
  it('fugu leak prints the leakage of each record, the worst one, and that of the group', async () => {
    const found = await json(pair, '--profile', '0.3,0.6');
    expect(Object.keys(found.leakage)).toEqual(['ann', 'bob']);
    // push(.6, log 4) = 4 artanh(tanh(.15) / 3)
    expect(found.leakage.ann).toBeCloseTo(0.3 + 4 * Math.atanh(Math.tanh(0.15) / 3), 12);
    expect(found).toMatchObject({ adversary: 'informed', worst: { record: 'bob' }, certified: true });
    expect(found.group).toBeCloseTo(0.9, 12);
  });

  it('fugu leak finds the largest base for an epsilon, and the leakage at that base is within it', async () => {
    const found = await json(pair, '--epsilon', '1');
    expect(found.worst.leakage).toBeLessThanOrEqual(1);
    expect(found.worst.leakage).toBeGreaterThan(0.999999);
    expect(found.amplification).toBeCloseTo(1 / found.base, 9);
    const again = await json(pair, '--base', String(found.base));
    expect(again.worst.leakage).toBeCloseTo(found.worst.leakage, 12);
  });

  it('fugu leak warns of hubs and prints the cost under weaker declarations', async () => {
    const output = await run(star, '--base', '0.01');
    expect(output).toMatch(/r0 \(8 ties\) pass on more than they receive/);
    expect(output).toMatch(/twice as large/);
    expect((await json(star, '--base', '0.01')).hubs[0].record).toBe('r0');
  });

  it('fugu leak refuses two questions at once, a short cost vector, and invalid numbers', async () => {
    expect((await refused(pair, '--base', '1', '--epsilon', '1')).code).toBe('USAGE');
    expect((await refused(pair, '--profile', '1')).details).toMatchObject({ entries: 1, records: 2 });
    expect((await refused(pair, '--base', '-1')).code).toBe('BUDGET_INVALID');
    expect((await refused(pair, '--base', 'NaN')).code).toBe('BUDGET_INVALID');
    expect((await refused(pair, '--base', '1', '--adversary', 'psychic')).code).toBe('USAGE');
    expect((await refused(join(folder, 'nowhere.json'), '--base', '1')).code).toBe('DATA_NOT_FOUND');
  });
});
