import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkPolicy, confirmPolicy, draftPolicy, open } from '../src/index.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const rows = 400;
const height = (i: number) => 150 + ((i * 37) % 500) / 10;
const comma = (x: number) => `${x}`.replace('.', ',');
const csv = (cell: (i: number) => string) =>
  `sep=;\nq;height;share\n${Array.from({ length: rows }, (_, i) => `${1 + (i % 3)};${cell(i)};${comma(((i * 7) % 100) / 8)}`).join('\n')}\n`;
const exact = Array.from({ length: rows }, (_, i) => height(i)).reduce((a, b) => a + b) / rows;

const mean = async (policy: string) => {
  await using fugu = await open(policy, { acceptNoProtection: true });
  const { tables } = await fugu.release({ kind: 'mean', column: 'height' });
  return tables[0]!.rows[0]!.value as number;
};
const drafted = async (cell: (i: number) => string) => {
  shop = openWorkshop(policyYaml(), 1);
  const data = shop.write('heights.csv', csv(cell));
  const draft = await draftPolicy(data, { out: join(shop.folder, 'drafted.yaml'), dependence: 'none' });
  const text = readFileSync(draft.policy, 'utf8').replace('{epsilon: 1, delta: 1e-6}', '{epsilon: 100000}');
  return { draft, text, policy: shop.write('drafted.yaml', text) };
};

describe('numbers with decimal commas', () => {
  it('numbers with decimal commas are recognised, drafted with their digits before the comma, and read correctly', async () => {
    const { text, policy } = await drafted((i) => comma(height(i)));
    expect(text).toContain('data: {source: heights.csv, decimal: ","}');
    expect(text).toMatch(/height: \{type: number, bounds: \[1[45]\d, 200\]/);
    await confirmPolicy(policy, { columns: 'all' });
    expect(await mean(policy)).toBeCloseTo(exact, 1);
    expect((await checkPolicy(policy, { private: true })).private!.columns.find((c) => c.column === 'height')).toMatchObject({
      hidden: 0,
      below: 0,
      above: 0,
    });
  });

  it('a decimal comma never multiplies a number by ten: undeclared it is missing, and so is a point where commas are declared', async () => {
    const { policy } = await drafted((i) => comma(height(i)));
    await confirmPolicy(policy, { columns: 'all' });
    const hidden = async (name: string, policyText: string) =>
      (await checkPolicy(shop.write(name, policyText), { private: true })).private!.columns.find((c) => c.column === 'height')!
        .hidden;
    const sure = readFileSync(policy, 'utf8');
    const fractions = Array.from({ length: rows }, (_, i) => height(i)).filter((x) => !Number.isInteger(x)).length;
    expect(await hidden('pointed.yaml', sure.replace(', decimal: ","', ''))).toBe(fractions);
    shop.write(
      'heights.csv',
      csv((i) => `${height(i)}`),
    );
    expect(await hidden('commas.yaml', sure)).toBe(fractions);
  });

  it('columns with decimal commas are left out of a draft if other columns have points, because "1,5" is ambiguous then', async () => {
    const { draft, text } = await drafted((i) => `${height(i)}`);
    expect(text).not.toContain('decimal:');
    expect(draft.leftOut).toContainEqual(expect.objectContaining({ name: 'share', why: expect.stringMatching(/commas/) }));
  });

  it('an answer recorded under another reading of numbers is not returned', async () => {
    const { policy } = await drafted((i) => comma(height(i)));
    await confirmPolicy(policy, { columns: 'all' });
    const entries: number[] = [];
    for (const text of [
      readFileSync(policy, 'utf8'),
      readFileSync(policy, 'utf8'),
      readFileSync(policy, 'utf8').replace(', decimal: ","', ''),
    ]) {
      await using fugu = await open(shop.write('drafted.yaml', text), { acceptNoProtection: true });
      const { receipt } = await fugu.release({ kind: 'mean', column: 'height' }, { epsilon: 1 });
      entries.push(receipt.ledger.entry);
    }
    expect(entries[1]).toBe(entries[0]);
    expect(entries[2]).toBeGreaterThan(entries[0]!);
  });

  it('codes with commas are numbers: 1,0 is 1 in the data, the policy, the codebook and a question', async () => {
    shop = openWorkshop('', 1);
    const cells = ['"1,0"', '1', '1.0', ' 1 ', '"2,00"', '"2,5"'];
    shop.write('answers.csv', `q\n${Array.from({ length: 60 }, (_, i) => cells[i % 6]).join('\n')}\n`);
    const policy = (values: string) =>
      shop.write(
        'p.yaml',
        `data: {source: answers.csv}\nprotect: {secret: row}\nbudget: {epsilon: 100000}\ndependence: none\ncolumns: {q: {type: category, values: ${values}}}\n`,
      );
    for (const [values, query] of [
      ['[1, 2]', '1,0'],
      ['["1,0", "2,0"]', '1'],
      ['{"1,0": yes, "2,0": no}', '1.0'],
    ] as const) {
      await using fugu = await open(policy(values), { acceptNoProtection: true });
      const { tables } = await fugu.release([
        { kind: 'histogram', column: 'q' },
        { kind: 'count', where: [{ column: 'q', op: '=', value: query }] },
      ]);
      expect(tables[0]!.rows.map(({ keys, value }) => [keys[0], Math.round(value!)])).toEqual([
        ['1', 40],
        ['2', 10],
        ['(missing)', 10],
      ]);
      expect(Math.round(tables[1]!.rows[0]!.value!)).toBe(40);
    }
  });

  it('two codes of a list joined by a comma are not one number', async () => {
    shop = openWorkshop('', 1);
    shop.write('answers.csv', `q\n${Array.from({ length: 60 }, () => '"1,0"').join('\n')}\n`);
    const policy = shop.write(
      'p.yaml',
      'data: {source: answers.csv}\nprotect: {secret: row}\nbudget: {epsilon: 100000}\ndependence: none\ncolumns: {q: {type: multi, separator: ",", values: [0, 1]}}\n',
    );
    await using fugu = await open(policy, { acceptNoProtection: true });
    const { tables } = await fugu.release({ kind: 'histogram', column: 'q' });
    expect(tables[0]!.rows.slice(0, 2).map(({ value }) => Math.round(value!))).toEqual([60, 60]);
  });
});
