import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { publicData } from '../experiments/data.js';
import { measure } from '../experiments/reference-ties/measure.js';
import { lineOf, pageOf, readLines } from '../experiments/reference-ties/page.js';
import { referenceTies, sources } from '../experiments/reference-ties/ties.js';
import { toDeclare } from '../src/analysis/learn/odds/odds-interval.js';
import { measuredTies, unknownStrength } from '../src/app/cli/interview.js';

const page = readFileSync(new URL('../docs/reference/reference-ties.md', import.meta.url), 'utf8');
const lines = readLines(readFileSync(new URL('../experiments/reference-ties/measured.csv', import.meta.url), 'utf8'));
const folder = publicData('', sources.acs.file);

describe('the page of reference ties', () => {
  it('the page equals the committed measurement', () => {
    expect(page).toBe(pageOf(lines));
    const [first, ...rest] = lines;
    expect(page).not.toBe(pageOf([{ ...first!, declare: '1.1' }, ...rest]));
  });

  it('the page has one line per tie that the script measures', () => {
    expect(lines.map((l) => [l.between, l.value, l.data])).toEqual(
      referenceTies.map((tie) => [tie.between, tie.value, sources[tie.data].name]),
    );
  });

  it('every declared odds ratio reaches the upper end up to 1 % of rounding, and no upper end is below the middle', () => {
    for (const { oddsRatio, high, declare } of lines) {
      expect(Number(high)).toBeGreaterThanOrEqual(Number(oddsRatio));
      expect(toDeclare(Number(declare))).toBe(Number(declare));
      expect(Number(declare)).toBeGreaterThanOrEqual(Number(high) * 0.99);
    }
  });

  it('the guide quotes the page', () => {
    const guide = readFileSync(new URL('../docs/how-to/ties.md', import.meta.url), 'utf8').replace(/\s+/g, ' ');
    const [income, , disability, insurance] = lines.filter((line) => line.between === 'any two adults of a household');
    expect(guide).toContain(
      `Two adults of a household: ${income!.declare} in income class, ${disability!.declare} in having a disability, ${insurance!.declare} in having health insurance.`,
    );
  });

  it('the interview quotes the page', () => {
    const couples = lines.filter((line) => line.between === 'couples');
    for (const [what, declare] of Object.entries(measuredTies))
      expect(couples.find((line) => line.value.includes(what.replace(' class', '')))?.declare).toBe(declare);
  });

  it('no measured tie is stronger than the default odds ratio', () => {
    expect(Math.max(...lines.map(({ declare }) => Number(declare.replace('inf', 'Infinity'))))).toBeLessThanOrEqual(Number(unknownStrength.replace('inf', 'Infinity'))); // biome-ignore format: one line
    expect(lines.filter(({ between, declare }) => /couples|household|adults/.test(between) && Number(declare) > 9).length).toBe(
      8,
    );
  });

  it.skipIf(!folder)("today's public data gives the figures of the page", async () => {
    for (const data of ['anes', 'cav', 'breast'] as const) {
      const at = referenceTies.findIndex((tie) => tie.data === data);
      expect(lineOf(await measure(folder!, referenceTies[at]!))).toEqual(lines[at]);
    }
  });
});
