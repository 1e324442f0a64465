import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameList } from './name-list.js';

const name = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
  fc.stringMatching(/^[a-c]{1,9}$/),
  // Where UTF-8 and UTF-16 disagree about the order.
  fc.constantFrom('\uE000', '\uFFFD', '\u{10000}', '\u{10FFFF}', 'a\uFF21', 'a\u{1F600}', '\uFEFFx'),
);

describe('a list of names', () => {
  it('numbers names as they come, knows them again and tells them', () => {
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

  it('puts them in the order in which JavaScript compares texts', () => {
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

  it('holds more than fit one segment, and says so before it grows', () => {
    const said: number[] = [];
    const list = new NameList((bytes) => said.push(bytes));
    const long = 'x'.repeat(100);
    for (let k = 0; k < 60_000; k++) list.add(`${long}${k}`);
    expect(list.bytes).toBeGreaterThan(60_000 * 105);
    expect(Math.max(...said)).toBeGreaterThanOrEqual(list.bytes);
    for (const k of [0, 1, 39_999, 40_000, 59_999]) expect(list.text(list.find(`${long}${k}`)!)).toBe(`${long}${k}`);
  });
});
