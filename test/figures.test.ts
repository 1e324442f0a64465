import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Bench } from '../bench/bench.js';
import { rowOf, skippedRow, withRows } from '../bench/figures.js';

const page = readFileSync(new URL('../docs/reference/figures.md', import.meta.url), 'utf8');
const bench = (name: string, ratio: number): Bench => ({ name, goal: { ratio }, run: async () => ({ ours: 1 }) });
const measured = (ours: number) => ({ ours, peer: { name: 'peer', seconds: 1 }, spread: [0.9, 1.2] }) as const;

/** Of every line of the page. */
const names = new Set([...page.matchAll(/^\| (.+?) \|/gm)].map(([, name]) => name!)).add('something new');

describe('the page of figures', () => {
  it('a new figure replaces the one of its name, and unknown ones are added at the end', () => {
    const first = /\n\| (certified exp, one bound) \|.*\n/.exec(page)!;
    const next = withRows(
      page,
      [
        rowOf(bench('something new', 1.05), measured(1.5), 'abc1234'),
        rowOf(bench(first[1]!, 2), measured(1.5), 'abc1234'),
        skippedRow(bench('certified log, one bound', 2), { skipped: 'no peer' }),
      ],
      names,
    );
    expect(next).toContain(
      '| certified exp, one bound | 1.50 s | 1.00 s (peer) | 1.50x | 0.900x to 1.20x | <= 2x | yes | abc1234 |',
    );
    expect(next).toMatch(/\| something new \| .* \| <= 1\.05x \| NO \| abc1234 \|\n<!-- end -->/);
    expect(next).not.toContain(first[0]!.trim());
    expect(next.split('\n').length).toBe(page.split('\n').length + 1);
    // A skipped line shows the last measurement.
    const log = /\n\| certified log, one bound \|.*\n/.exec(page)![0];
    expect(next).toContain(log);
    expect(withRows(next, [], names)).toBe(next);
  });

  it('the page drops a line that no bench measures any more', () => {
    const without = new Set([...names].filter((name) => name !== 'certified exp, one bound'));
    const next = withRows(page, [], without);
    expect(next).not.toContain('certified exp, one bound');
    expect(next.split('\n').length).toBe(page.split('\n').length - 1);
  });

  it('the page shows a figure without a goal and never calls it missed', () => {
    const row = rowOf({ name: 'a figure', run: async () => ({ ours: 1 }) }, measured(100), 'abc1234');
    expect([row.goal, row.met, row.ratio]).toEqual(['', '', '100x']);
  });
});
