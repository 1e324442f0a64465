import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCsv } from '../../../base/input/csv.js';
import { CellCutter, longestIn, longestLine } from './cut.js';

const longest = 6;
const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é', '日', '🦑', '\0'), maxLength: 20 }),
  fc.constant('"""""""""""'),
);
const table = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 6 });
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const bare = (text: string) => /^[^",\n\r ]*$/.test(text);
const write = (rows: readonly (readonly string[])[]) =>
  `x,y,z\n${rows.map((row) => row.map((text) => (bare(text) ? text : quoted(text))).join(',')).join('\n')}\n`;

function cutIn(text: string, size: number): string {
  const cutter = new CellCutter(',', longest);
  let out = '';
  for (let at = 0; at < text.length; at += size) out += cutter.write(text.slice(at, at + size));
  return out + cutter.end();
}
const bytes = (text: string) => Buffer.byteLength(text);
const rowsOf = (csv: string) => parseCsv(csv, ',')!.map(({ cells }) => cells);

describe('truncation of long cells', () => {
  it('the cutter shortens cells that are too long, keeps them too long, and changes nothing else, however the text is split', () => {
    fc.assert(
      fc.property(table, fc.integer({ min: 1, max: 40 }), fc.boolean(), (rows, size, ended) => {
        const text = ended ? write(rows) : write(rows).slice(0, -1);
        const [names, ...read] = rowsOf(cutIn(text, size));
        expect(names).toEqual(['x', 'y', 'z']);
        const before = rowsOf(text).slice(1);
        expect(read).toHaveLength(before.length);
        before.forEach((row, r) => {
          row.forEach((written, c) => {
            const now = read[r]![c]!;
            if (bytes(written) <= longest) expect(now).toBe(written);
            else {
              expect(written.startsWith(now)).toBe(true);
              expect(bytes(now)).toBeGreaterThan(longest);
              expect(bytes(now)).toBeLessThanOrEqual(longest + 4);
            }
          });
        });
      }),
      { numRuns: 400 },
    );
  });

  it('the cutter leaves lines that fit, whatever their cells hold', () => {
    for (const columns of [1, 2, 15, 17, 1000, 5000]) {
      const cutter = new CellCutter(',', longestIn(columns));
      const line = Array.from({ length: columns }, () => `"${'""'.repeat(longestIn(columns) + 9)}"`).join();
      expect(cutter.write(`x\n${line}\n`).length - 2).toBeLessThanOrEqual(longestLine(columns));
    }
  });
});
