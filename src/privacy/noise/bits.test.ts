import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alpha, chiSquare } from '../../../test/goodness-of-fit.js';
import { Bits, cryptoBits } from './bits.js';
import { uniformBelow, uniformBits } from './uniform.js';

/** Words handed out in order, then zeros. */
const scripted = (...words: number[]): Bits =>
  new Bits((buffer) => new Uint32Array(buffer.buffer).set(words.splice(0, buffer.byteLength / 4)));

const countOf = (n: number, cells: number, draw: () => number): number[] => {
  const counts = new Array<number>(cells).fill(0);
  for (let i = 0; i < n; i++) counts[draw()]!++;
  return counts;
};
const isUniform = (cells: number, draw: () => number): boolean =>
  chiSquare(countOf(100_000, cells, draw), new Array<number>(cells).fill(1 / cells)) > alpha;

describe('the pool of bits', () => {
  it('the pool requests at least 4 KiB at a time from its source', () => {
    const requests: number[] = [];
    const bits = new Bits((buffer) => requests.push(buffer.byteLength));
    for (let i = 0; i < 5000; i++) bits.word();
    expect(requests.length).toBeLessThanOrEqual(5);
    expect(Math.min(...requests)).toBeGreaterThanOrEqual(4096);
  });

  it('the pool erases the words it has returned', () => {
    let pool = new Uint8Array();
    const bits = new Bits((buffer) => {
      pool = buffer.fill(255) as Uint8Array<ArrayBuffer>;
    });
    bits.word();
    bits.word();
    expect([...pool.subarray(0, 12)]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]);
  });

  it('the pool never returns a word twice', () => {
    const seen = new Set<number>();
    for (let i = 0; i < 3; i++) seen.add(cryptoBits.word());
    const bits = scripted(1, 2, 3);
    expect([bits.word(), bits.word(), bits.word()]).toEqual([1, 2, 3]);
    expect(seen.size).toBe(3);
  });

  it('the pool rejects the low words that would bias a small range', () => {
    // 2^32 mod 3 = 1: only a product whose low word is zero is refused.
    expect(scripted(0, 5).below(3)).toBe(0);
    // 2^32 mod (2^31 + 1) = 2^31 - 1: w = 1 has low word 2^31 + 1, kept; w = 2 has low word 2, refused.
    expect(scripted(2, 1).below(2 ** 31 + 1)).toBe(0);
    expect(scripted(2 ** 32 - 1).below(2 ** 32 - 1)).toBe(2 ** 32 - 2);
  });

  it.each([2, 3, 7, 10, 61])('the pool is uniform below %i', (n) => expect(isUniform(n, () => cryptoBits.below(n))).toBe(true));
  it.each([2 ** 21 + 1, 2 ** 31 + 12345, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 3 * 2 ** 40 + 7, 2 ** 53])(
    'the pool is uniform below %i, counted in sixteenths',
    (n) => {
      expect(isUniform(16, () => Math.floor(cryptoBits.below(n) / (n / 16)))).toBe(true);
    },
  );
  it('the pool has a fair coin', () => expect(isUniform(2, () => cryptoBits.bit())).toBe(true));

  it('the test detects a modulo in place of rejection', () => {
    const biased = () => Math.floor(((cryptoBits.word() & 255) % 100) / 10);
    expect(isUniform(10, biased)).toBe(false);
  });

  it('the pool cannot be seeded outside tests', () => {
    const root = join(import.meta.dirname, '..', '..');
    const makers = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts'))
      .filter((f) => /new Bits\(|implements Digits/.test(readFileSync(join(root, f), 'utf8')));
    expect(makers.map((f) => f.replaceAll('\\', '/'))).toEqual(['privacy/noise/bits.ts']);
  });
});

describe('uniform big integers', () => {
  it.each([1n, 2n, 3n, 10n, 61n])('the integers are uniform below %i', (n) => {
    expect(isUniform(Number(n), () => Number(uniformBelow(n)))).toBe(true);
  });
  it('the integers are uniform below a number of a hundred bits, counted in tenths', () => {
    const n = 10n * 3n ** 60n;
    expect(isUniform(10, () => Number(uniformBelow(n) / 3n ** 60n))).toBe(true);
  });
  it('the integers have the requested width', () => {
    expect(uniformBits(0)).toBe(0n);
    expect(uniformBits(40, scripted(0xffffffff, 0xffffffff))).toBe((1n << 40n) - 1n);
    expect(() => uniformBelow(0n)).toThrow(RangeError);
  });
});
