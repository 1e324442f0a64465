import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Chunk } from '../engine/engine.js';
import { NameList, noName } from './name-list.js';
import { NameColumn } from './spelling.js';

const name = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
  fc.stringMatching(/^[a-c]{1,9}$/),
  // Numbers in a table, numbers beyond it, and what only looks like one.
  fc.nat({ max: 2 ** 16 + 50 }).map(String),
  fc.constantFrom('0', '00', '007', '-7', '7a', '70', '65535', '65536', '999999999', '1000000000', '12345678901234'),
  // Characters that UTF-8 and UTF-16 sort differently.
  fc.constantFrom('\uE000', '\uFFFD', '\u{10000}', '\u{10FFFF}', 'a\uFF21', 'a\u{1F600}', '\uFEFFx'),
);

/** A column of a block as a database stores it: a length and up to twelve bytes in four words. */
function storedBlock(cells: readonly (string | null)[]): Chunk {
  const words = new Uint32Array(4 * cells.length);
  const valid = new Uint32Array(Math.ceil(cells.length / 32));
  const long = new Map<number, string>();
  for (const [row, cell] of cells.entries()) {
    if (cell === null) continue;
    valid[row >>> 5]! |= 1 << (row & 31);
    const bytes = new TextEncoder().encode(cell);
    words[4 * row] = bytes.length;
    if (bytes.length > 12) long.set(row, cell);
    else new Uint8Array(words.buffer, 16 * row + 4, 12).set(bytes);
  }
  return { rows: cells.length, columns: [cells], texts: [{ words, valid, long }] };
}

describe('a list of names', () => {
  it('the list numbers names in order of appearance, finds them again and returns them', () => {
    fc.assert(
      fc.property(fc.array(name), (names) => {
        const list = new NameList();
        const numbers = new Map<string, number>();
        for (const own of names) {
          if (!numbers.has(own)) numbers.set(own, numbers.size);
          expect(list.add(own)).toBe(numbers.get(own));
        }
        expect(list.size).toBe(numbers.size);
        for (const [own, id] of numbers) expect([list.find(own), list.text(id)]).toEqual([id, own]);
        expect(list.find('nobody at all')).toBeUndefined();
      }),
    );
  });

  it('the list sorts names as JavaScript compares texts', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name), (names) => {
        const list = new NameList();
        for (const own of names) list.add(own);
        const ranks = list.ranks();
        const order = [...names].sort((a, b) => (a < b ? -1 : 1));
        expect(names.map((_, id) => ranks[id])).toEqual(names.map((own) => order.indexOf(own)));
      }),
    );
  });

  it('the list holds more than one segment, and reports its size before it grows', () => {
    const numbered: number[] = [];
    const list = new NameList((bytes) => numbered.push(bytes));
    const long = 'x'.repeat(100);
    for (let k = 0; k < 60_000; k++) list.add(`${long}${k}`);
    expect(list.bytes).toBeGreaterThan(60_000 * 105);
    expect(Math.max(...numbered)).toBeGreaterThanOrEqual(list.bytes);
    for (const k of [0, 1, 39_999, 40_000, 59_999]) expect(list.text(list.find(`${long}${k}`)!)).toBe(`${long}${k}`);
  });

  it('the list reads stored names as it reads their text', () => {
    const cells = fc.array(fc.oneof(name, fc.string({ minLength: 11, maxLength: 14 }), fc.constant(null)));
    fc.assert(
      fc.property(cells, cells, (first, then) => {
        const [stored, spelt] = [new NameList(), new NameList()];
        const numbers = (list: NameList, block: Chunk) => first.map((_, row) => list.addAt(new NameColumn(block, 0), row));
        const plain = { rows: first.length, columns: [first] };
        expect(numbers(stored, storedBlock(first))).toEqual(numbers(spelt, plain));
        expect(
          first.map((cell, row) => (cell === null ? noName : stored.find(cell)) === numbers(spelt, plain)[row]),
        ).not.toContain(false);
        const together = new NameList();
        const all = new Uint32Array(first.length);
        together.addAll(new NameColumn(storedBlock(first), 0), first.length, all, 0);
        expect([...all]).toEqual(numbers(spelt, plain));
        const found = new Uint32Array(then.length);
        const block = new NameColumn(storedBlock(then), 0);
        together.findAll(block, then.length, found);
        for (const [row, cell] of then.entries()) {
          const known = cell === null ? undefined : spelt.find(cell);
          expect([stored.findAt(block, row), found[row]]).toEqual([known, known ?? noName]);
        }
      }),
      { numRuns: 60 },
    );
  });
});
