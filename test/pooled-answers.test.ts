import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain } from '../src/data/terms/explain.js';
import { parsePolicy } from '../src/data/terms/read.js';
import { levelsOf } from '../src/policy/domain.js';
import type { CategoryColumn } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { rowCounter } from '../src/query/count/row-counter.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-pools-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const codebook = (...shares: readonly string[]) =>
  `name,value,label,share\n${['dem', 'rep', 'green', 'lib', 'other'].map((code, i) => `party,${code},,${shares[i] ?? ''}`).join('\n')}\n`;
const read = (party: string, book = codebook()) => {
  writeFileSync(join(folder, 'codebook.csv'), book);
  return parsePolicy(
    `data: {source: survey.csv, codebook: codebook.csv}
protect: {secret: row}
budget: {epsilon: 1}
dependence: none
columns:
  party: {type: category, values: [dem, rep, green, lib, other], ${party}}
  form: {type: category, values: [a, b]}
merge: [{columns: [form, party], support: [[a, green], [a, lib], [b, dem]]}]
`,
    join(folder, 'policy.yaml'),
  );
};
const party = async (text: string, book?: string) => (await read(text, book)).columns.get('party') as CategoryColumn;

describe('answers that are counted as one', () => {
  it('the policy lists pooled answers, shown in the place of the first', async () => {
    const column = await party('pools: [[lib, green]]');
    expect(levelsOf(column)).toEqual([['dem'], ['rep'], ['green', 'lib'], ['other']]);
  });

  it("answers below the codebook's minimum share are pooled, with the next rarest until they reach it together", async () => {
    const shares = codebook('0.5', '0.37', '0.06', '0.03', '0.01');
    expect((await party('pool: 0.05', shares)).pools).toEqual([['green', 'lib', 'other']]);
    expect((await party('pool: 0.04', shares)).pools).toEqual([['lib', 'other']]);
    expect((await party('pool: 0.04, pools: [[dem, rep]]', shares)).pools).toEqual([['dem', 'rep']]);
  });

  it('no answers are pooled if nothing public shows which are rare: the data is not read', async () => {
    expect((await party('pool: 0.05')).pools).toBeUndefined();
    expect((await party('label: x', codebook('0.5', '0.3', '0.1', '0.05', '0.05'))).pools).toBeUndefined();
  });

  it('pooled answers share a cell in histograms and in joint tables', async () => {
    const policy = await read('pools: [[green, lib]]');
    const bound = bindBatch(
      {
        queries: [
          { kind: 'histogram', column: 'party' },
          { kind: 'histogram', column: 'party', merged: true },
        ],
      },
      policy,
    );
    expect(bound.measures[0]!.cells.flat()).toEqual(['dem', 'rep', 'green or lib', 'other', '(missing)']);
    expect(bound.measures[1]!.cells.flat()).toEqual(['a / green or lib', 'b / dem', '(other)']);
    const counter = rowCounter(bound.measures, ['party', 'form'], policy);
    counter.add({
      columns: [
        ['green', 'lib', 'dem', 'dem', 'x'],
        ['a', 'a', 'b', 'a', 'a'],
      ],
      rows: 5,
    });
    const exact = counter.totals();
    expect(exact).toEqual([
      [2n, 0n, 2n, 0n, 1n],
      [2n, 1n, 2n],
    ]);
    const noise = { kind: 'none', scale: 0 } as const;
    const [, merged] = bound.finish(exact.map((values) => ({ noise, values })));
    expect(merged!.rows.map(({ value }) => value)).toEqual([1, 0, 2, 0, 2]);
  });

  it('pooled answers are described in plain words', async () => {
    expect(explain(await read('pools: [[green, lib]]')).map((l) => l.text)).toContainEqual(
      expect.stringMatching(/rare answers are counted as one: party \(green or lib\)\. Which are rare is declared/),
    );
  });

  it.each([
    ['a code the column does not have', 'pools: [[green, gren]]', /"gren"/],
    ['a code in two pools', 'pools: [[green, lib], [lib, other]]', /"lib" of "party" is pooled twice/],
    ['a pool of one', 'pools: [[green]]', /fewer than two/],
  ])('pooling refuses %s', async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it('pooling refuses shares that are not shares, or not of every code', async () => {
    await expect(read('pool: 0.05', codebook('50'))).rejects.toThrow(/from 0 to 1/);
    await expect(read('pool: 0.05', codebook('0.5', '0.3'))).rejects.toThrow(/not for "green"/);
  });
});
