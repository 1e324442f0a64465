import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openNow } from '../../../../test/now.js';
import { TextNumbers } from './text-numbers.js';

/** Short and long, beginning alike, with bytes of several values and lengths around what is stored in place. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.stringMatching(/^[ab]{0,14}$/),
  fc.stringMatching(/^[0-9]{1,6}$/),
  fc.string({ unit: 'binary', maxLength: 14 }).filter((t) => !/\p{Surrogate}/u.test(t)),
);
const byMap = (texts: readonly string[]): number[] => {
  const known = new Map<string, number>();
  return texts.map((t) => {
    if (!known.has(t)) known.set(t, known.size);
    return known.get(t)!;
  });
};

describe('texts as numbers', () => {
  it('equal texts have equal numbers, different ones do not, and numbers follow the order of appearance', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 400 }), (texts) => {
        const numbers = new TextNumbers();
        expect(texts.map((t) => numbers.ofText(t))).toEqual(byMap(texts));
      }),
      { numRuns: 200, seed: 3 },
    );
  });

  it('very many texts keep different numbers', () => {
    const texts = Array.from({ length: 50_000 }, (_, i) => `${(i * 7919) % 30_000}`);
    const numbers = new TextNumbers();
    expect(texts.map((t) => numbers.ofText(t))).toEqual(byMap(texts));
  });

  it('the texts of a database keep their content', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fugu-numbers-'));
    try {
      const cells = [
        'a',
        'b',
        'a ',
        '',
        '\uFEFFa',
        'twelve bytes',
        'thirteen byte',
        'thirteen bytes',
        'ü',
        '試験試験',
        '試験試験試',
        '0',
        '00',
      ];
      const rows = Array.from({ length: 5000 }, (_, i) => [cells[(i * 7) % cells.length]!, cells[(i * 5 + 1) % cells.length]!]);
      const file = join(folder, 'pairs.csv');
      writeFileSync(file, `x,y\n${rows.map((row) => row.map((c) => `"${c}"`).join(',')).join('\n')}\n`);
      const engine = await openNow({ source: file });
      const sql = 'SELECT x, y FROM fugu_data';
      const read = async (numbered: boolean) => {
        const list: (readonly unknown[])[] = [];
        for await (const block of engine.stream({ sql, values: [], ...(numbered && { numbered: true as const }) })) {
          const { rows: count, columns } = block.open();
          for (let i = 0; i < count; i++) list.push(columns.map((column) => column[i]));
        }
        return list;
      };
      const [texts, numbers] = [await read(false), await read(true)];
      const pairs = new Map(texts.flatMap((row, i) => row.map((t, c) => [t, numbers[i]![c]] as const)));
      expect(texts.map((row) => row.map((t) => pairs.get(t)))).toEqual(numbers);
      const known = [...pairs].filter(([t]) => t !== null).map(([, n]) => n);
      expect(new Set(known).size).toBe(known.length);
      expect(pairs.get(null)).toBe(null);
      await engine.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
