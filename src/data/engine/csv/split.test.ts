import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitInto } from './split.js';

async function* cutAt(text: string, places: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  const cuts = [0, ...[...new Set(places.map((p) => p % (bytes.length + 1)))].sort((a, b) => a - b), bytes.length];
  for (let k = 1; k < cuts.length; k++) yield bytes.subarray(cuts[k - 1], cuts[k]);
}
async function split(text: string, columns: number, width: number, places: readonly number[] = [], most = 1e6) {
  const parts = Array.from({ length: Math.ceil(columns / width) }, () => '');
  const done = await splitInto(cutAt(text, places), { columns, width, delimiter: 0x2c }, most, async (part, bytes) => {
    parts[part] += bytes.toString('latin1');
  });
  return done ? parts.map((part) => Buffer.from(part, 'latin1').toString()) : undefined;
}

const cell = fc.stringMatching(/^[a-z0-9 ü.-]{0,4}$/);
const table = fc
  .integer({ min: 3, max: 9 })
  .chain((columns) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 8 }));

describe('a CSV of many columns in several files', () => {
  it('the parts hold every cell in its place, however the bytes are split', async () => {
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.integer({ min: 2, max: 4 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.array(fc.nat(200)),
        async (rows, width, end, ended, places) => {
          const text = rows.map((row) => row.join(',')).join(end) + (ended ? end : '');
          const columns = rows[0]!.length;
          const expected = Array.from({ length: Math.ceil(columns / width) }, (_, k) =>
            rows.map((row) => `${row.slice(k * width, (k + 1) * width).join(',')}\n`).join(''),
          );
          const found = await split(text, columns, width, places);
          // A carriage return at the very end of a block may be followed by anything: then the file is left unchanged.
          if (end === '\n' || found !== undefined) expect(found).toEqual(expected);
          if (places.length === 0) expect(found).toEqual(expected);
        },
      ),
      { numRuns: 300, seed: 9 },
    );
  });

  it.each([
    ['a quote', 'a,b,c\n1,"2",3\n'],
    ['a line with a cell too few', 'a,b,c\n1,2\n'],
    ['a line with a cell too many', 'a,b,c\n1,2,3,4\n'],
    ['an empty line', 'a,b,c\n\n1,2,3\n'],
    ['a last line with a cell too few', 'a,b,c\n1,2,3\n1,2'],
    ['a lone carriage return', 'a,b,c\r1,2,3\n'],
  ])('a file with %s is left unchanged', async (_, text) => {
    expect(await split(text, 3, 2)).toBeUndefined();
  });

  it('a file is left unchanged if there is no space for the parts', async () => {
    expect(await split('a,b,c\n1,2,3\n', 3, 2, [], 5)).toBeUndefined();
  });
});
