import { describe, expect, it } from 'vitest';
import { type Bench, inPairs, isMet, type Measured } from '../bench/bench.js';
import { rowOf, skippedRow, withRows } from '../bench/figures.js';
import { median, medianInterval } from '../bench/statistics.js';

const place = { commit: 'abc1234', machine: '2 x made up' };
const bench = (name: string, ratio: number): Bench => ({ name, goal: { ratio }, run: async () => ({ ours: [1] }) });
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
/** Rounds whose ratios are these, on a machine that slows down. */
const measured = (...ratios: number[]): Measured => ({
  ours: ratios.map((r, i) => r * (i + 1)),
  peer: { name: 'peer', rounds: upTo(ratios.length) },
});
const steady = measured(1.5, 1.4, 1.6, 1.5, 1.5, 1.45, 1.55);
const empty = 'text\n<!-- written by npm run bench -- --write -->\n<!-- end -->\nmore\n';
const linesOf = (page: string): string[] => page.split('\n').filter((line) => line.startsWith('| '));

describe('the statistics of rounds', () => {
  it('the median of an even number of rounds is the mean of the middle two', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it('the interval of a median is by order statistics, as tables of the sign test have them', () => {
    const ranks = [6, 7, 8, 9, 10, 12, 20, 25, 50, 100].map((n) => medianInterval(upTo(n).reverse()));
    expect(ranks).toEqual([
      [1, 6],
      [1, 7],
      [1, 8],
      [2, 8],
      [2, 9],
      [3, 10],
      [6, 15],
      [8, 18],
      [18, 33],
      [40, 61],
    ]);
    expect(medianInterval(upTo(1500))).toEqual([712, 789]);
  });

  it('fewer than six rounds have no interval', () => {
    for (const n of [0, 1, 5]) expect(medianInterval(upTo(n))).toBeUndefined();
  });

  it('the interval covers the median of a skewed distribution in at least 95 of 100 runs', () => {
    let state = 9;
    const draw = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return -Math.log((state + 0.5) / 2 ** 32);
    };
    let covered = 0;
    for (let run = 0; run < 4000; run++) {
      const [low, high] = medianInterval(Array.from({ length: 11 }, draw))!;
      if (low <= Math.LN2 && Math.LN2 <= high) covered++;
    }
    // Exactly 98.8 % for 11 rounds.
    expect(covered / 4000).toBeGreaterThan(0.98);
    expect(covered / 4000).toBeLessThan(0.995);
  });
});

describe('paired rounds', () => {
  it('every round measures both, in an order that is drawn', async () => {
    const order: string[] = [];
    const { ours, peer } = await inPairs(
      () => order.push('o'),
      'peer',
      () => order.push('p'),
      100,
    );
    const pairs = order.join('').match(/../g)!;
    expect(new Set(pairs)).toEqual(new Set(['op', 'po']));
    expect(ours.map((at, i) => at + peer!.rounds[i]!)).toEqual(pairs.map((_, i) => 4 * i + 3));
  });

  it('the ratio is the median of the ratios pair by pair, not the ratio of two medians', () => {
    const drifting: Measured = { ours: [1, 2, 30, 4, 5, 6, 7], peer: { name: 'peer', rounds: [1, 2, 3, 4, 5, 6, 70] } };
    const row = rowOf({ name: 'a figure', run: async () => drifting }, drifting, place);
    expect([row.ratio, row.interval, row.rounds]).toEqual(['1.00x', '0.100x to 10.0x', '7']);
    expect(() => rowOf(bench('a figure', 1), { ...drifting, ours: [1] }, place)).toThrow('1 rounds beside 7');
  });

  it('a goal is met only where the whole interval meets it', () => {
    expect(isMet({ ratio: 1.61 }, steady)).toBe(true);
    expect(isMet({ ratio: 1.55 }, steady)).toBe(false);
    expect(isMet({ ratio: 1.6 }, measured(1, 1, 1, 1, 1))).toBe(false);
    expect(isMet({ ratio: 1.6 }, { ours: upTo(7) })).toBe(false);
    expect(isMet({ seconds: 7 }, { ours: upTo(7) })).toBe(true);
    expect(isMet({ bytes: 6 }, { ours: upTo(7) })).toBe(false);
    expect(isMet(undefined, steady)).toBeUndefined();
  });

  it('a number that is computed is its own interval', () => {
    const computed: Measured = { ours: [2], peer: { name: 'peer', rounds: [2] }, exact: true };
    expect(isMet({ ratio: 1 }, computed)).toBe(true);
    expect(rowOf(bench('a figure', 1), computed, place).interval).toBe('1.00x to 1.00x');
  });
});

describe('the page of figures', () => {
  it('a line says its medians, its interval, its goal, and where it was measured', () => {
    expect(linesOf(withRows(empty, [rowOf(bench('something', 1.7), steady, place)], new Set(), false))).toEqual([
      '| work | ours | peer | ratio | interval | rounds | goal | met | commit | machine |',
      '| something | 6.00 s | 4.00 s (peer) | 1.50x | 1.40x to 1.60x | 7 | <= 1.7x | yes | abc1234 | 2 x made up |',
    ]);
    const inSeconds = rowOf({ ...bench('something', 2), goal: { seconds: 1 } }, steady, place);
    expect([inSeconds.ratio, inSeconds.interval, inSeconds.met]).toEqual(['1.50x', '1.50 s to 10.85 s', 'NO']);
  });

  it('a run of some lines replaces those of its names and keeps the others, skipped ones as they were', () => {
    const names = new Set(['one', 'two', 'three']);
    const page = withRows(empty, [rowOf(bench('one', 2), steady, place), rowOf(bench('two', 2), steady, place)], names, false);
    const later = { ...place, commit: 'def5678' };
    const again = [
      rowOf(bench('three', 2), steady, later),
      rowOf(bench('one', 1), steady, later),
      skippedRow(bench('two', 2), { skipped: 'no peer' }),
    ];
    const next = withRows(page, again, names, false);
    expect(linesOf(next).map((line) => /^\| (\w+) .* (\w+) \| \w+ \| 2 x made up \|$/.exec(line)?.slice(1))).toEqual([
      undefined,
      ['one', 'NO'],
      ['two', 'yes'],
      ['three', 'yes'],
    ]);
    expect(withRows(next, [], names, false)).toBe(next);
  });

  it('the page drops lines that no bench measures, that a whole run did not measure, or of another table', () => {
    const names = new Set(['one', 'two']);
    const page = withRows(empty, [rowOf(bench('one', 2), steady, place), rowOf(bench('two', 2), steady, place)], names, false);
    expect(linesOf(withRows(page, [], new Set(['two']), false))).toHaveLength(2);
    expect(linesOf(withRows(page, [rowOf(bench('one', 2), steady, place)], names, true))).toHaveLength(2);
    expect(linesOf(withRows(page.replace('interval', 'spread'), [], names, false))).toHaveLength(1);
  });

  it('the page shows a figure without a goal and never calls it missed', () => {
    const row = rowOf({ name: 'a figure', run: async () => steady }, steady, place);
    expect([row.goal, row.met, row.ratio]).toEqual(['', '', '1.50x']);
  });
});
