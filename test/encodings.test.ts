import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { open } from '../src/index.js';
import { readPolicy } from './inside.js';
import { openWorkshop, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const yaml = (encoding: string) => `data: {source: people.csv${encoding && `, encoding: ${encoding}`}}
protect: {secret: row}
budget: {epsilon: 100000}
dependence: none
columns:
  partei: {type: category, values: [Grüne, SPD]}
`;
const counts = async (policy: string) => {
  await using fugu = await open(policy, { acceptNoProtection: true });
  const { tables, receipt } = await fugu.release({ kind: 'histogram', column: 'partei' }, { epsilon: 100 });
  return { rows: tables[0]!.rows.map(({ keys, value }) => [keys[0], Math.round(value!)]), entry: receipt.ledger.entry };
};
const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('data that is not written in UTF-8', () => {
  it("the data is read in the policy's encoding, and another encoding is another question", async () => {
    shop = openWorkshop(yaml('windows-1252'), 1);
    writeFileSync(join(shop.folder, 'people.csv'), bytes(`größe,partei\n${'1,Grüne\n'.repeat(40)}${'2,SPD\n'.repeat(20)}`));
    const read = await counts(shop.policyFile);
    expect(read.rows).toEqual([
      ['Grüne', 40],
      ['SPD', 20],
      ['(missing)', 0],
    ]);
    const other = await counts(shop.write('mac.yaml', yaml('macintosh')));
    expect(other.rows).toEqual([
      ['Grüne', 0],
      ['SPD', 20],
      ['(missing)', 40],
    ]);
    expect(other.entry).not.toBe(read.entry);
    expect((await counts(shop.policyFile)).entry).toBe(read.entry);
  });

  it("a release never guesses the encoding: one person's letter would decide how all others are read", async () => {
    shop = openWorkshop(yaml(''), 1);
    const file = join(shop.folder, 'people.csv');
    for (const last of ['SPD', '\xfc']) {
      writeFileSync(file, Buffer.concat([Buffer.from(`a,partei\n${'1,Grüne\n'.repeat(40)}`), bytes(`2,${last}\n`)]));
      await using fugu = await open(shop.policyFile, { acceptNoProtection: true });
      const { tables } = await fugu.release({ kind: 'histogram', column: 'partei' }, { epsilon: 100, fresh: true });
      expect(Math.round(tables[0]!.rows[0]!.value!)).toBe(40);
    }
  });

  it('an unknown encoding is refused, and so is one for files that name their own', async () => {
    shop = openWorkshop(yaml('klingon'), 1);
    await expect(readPolicy(shop.policyFile)).rejects.toMatchObject({
      code: 'POLICY_INVALID',
      message: expect.stringMatching(/encoding is not known/),
    });
    const parquet = shop.write('parquet.yaml', yaml('latin1').replace('people.csv', 'people.parquet'));
    await expect(readPolicy(parquet)).rejects.toMatchObject({ code: 'POLICY_INVALID' });
  });
});
