import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { attackFigures } from '../experiments/policies/attack.js';
import { distributionFigures, madeColumn } from '../experiments/policies/distributions.js';
import { knownFigures, madeRegions } from '../experiments/policies/known.js';

type Table = readonly (readonly string[])[];
/** Cells of the first table of a page whose heading begins with this text. */
function tableIn(page: string, heading: string): Table {
  const lines = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8').split('\n');
  const start = lines.findIndex((line) => line.startsWith(heading));
  expect(start, heading).toBeGreaterThan(0);
  const end = lines.findIndex((line, k) => k > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim())); // biome-ignore format: one line
}
const [guide, readme] = ['docs/how-to/policies.md', 'experiments/policies/README.md'];
/** Cells left out at the beginning of a row repeat those of the row before. */
const named = (table: Table): Table => {
  let name = '';
  return table.map(([first, ...rest]) => {
    name = first || name;
    return [name, ...rest];
  });
};
/** The first word of a name identifies its data. */
const isOf = (name: string, data: string) => data.startsWith(name.split(/[,:]| in | by /)[0]!);

it('the guide’s errors of distributions equal those of the experiment', () => {
  const figures = tableIn(readme, '| data | rows | values |');
  const rows = named(tableIn(guide, '| data | pairs | histogram |'));
  expect(rows).toHaveLength(figures.length);
  for (const [k, [name, pairs, histogram, cdf, ofCdf, ranges, ofRanges]] of rows.entries()) {
    const [data, , , words, ...found] = figures[k]!;
    expect(isOf(name!, data!), name).toBe(true);
    expect([pairs, histogram, cdf, ranges]).toEqual([words, found[0], found[2], found[4]]);
    if (pairs !== 'none') expect([ofCdf, ofRanges]).toEqual([found[3], found[5]]);
  }
});

it('the guide’s cluster centres equal those of the experiment', () => {
  const figures = tableIn(readme, '| places | rows | clusters |');
  const rows = named(tableIn(guide, '| places | clusters | pairs |'));
  expect(rows).toHaveLength(figures.length);
  for (const [k, [name, clusters, pairs, plain, along, part]] of rows.entries()) {
    const [places, , number, within, more, , less, , ratio] = figures[k]!;
    expect(isOf(name!, places!), name).toBe(true);
    expect([clusters, pairs, plain, along, part]).toEqual([number, `within ${within}`, `${more} %`, `${less} %`, ratio]);
  }
  // If a distance is short compared with the range distinguished, at most half is lost.
  for (const [places, , , within, , , , , ratio] of figures)
    if (/^(world|United)/.test(places!) && within === '5 km') expect(Number(ratio)).toBeLessThan(0.5);
});

it('the guide’s errors under known margins equal those of the experiment', () => {
  const figures = tableIn(readme, '| data | margin | cells |');
  const rows = named(tableIn(guide, '| published | question |'));
  expect(rows.length).toBeGreaterThan(12);
  for (const [name, question, ...expected] of rows) {
    const found = figures.find(([data, margin, cells, asText, delta]) => [`${data} by ${margin}, ${cells} values`, asText, delta].join() === [name, question, expected[0]].join()); // biome-ignore format: one line
    expect(found?.slice(4, 8), `${name} ${question}`).toEqual(expected);
  }
});

/** Drawn anew, and less often: within three tenths. */
const near = (found: number, printed: string | undefined) => {
  if (Number(printed) === 0) expect(found).toBe(0);
  else expect(Math.abs(found / Number(printed) - 1), printed).toBeLessThan(0.3);
};

it('the experiment on made data confirms the statements of its page', async () => {
  const page = tableIn(readme, '| data | rows | values |');
  const made = madeColumn();
  const drawn = await distributionFigures([{ ...made, policies: made.policies.slice(1, 2) }], 3);
  for (const k of [4, 6, 8]) near(Number(drawn[1]![k]), page[1]![k]);
  const known = await knownFigures([madeRegions()], 150);
  const expected = tableIn(readme, '| data | margin | cells |');
  for (const [k, row] of known.slice(1).entries()) for (const c of [5, 6, 7]) near(Number(row[c]), expected[k]![c]);
});

it('the privacy loss to an attacker who knows a margin is at most that of the page, and the promised one where it is declared', async () => {
  const page = tableIn(readme, '| question | margin not declared |');
  const found = (await attackFigures(6)).slice(1);
  expect(found.map(([words]) => words)).toEqual(page.map(([words]) => words));
  for (const [k, [, undeclared, declared]] of found.entries()) {
    expect(Number(undeclared)).toBeLessThanOrEqual(Number(page[k]![1]) * 1.05);
    expect(Number(declared)).toBeLessThanOrEqual(1 + 1e-9);
    expect(Number(page[k]![2])).toBeLessThanOrEqual(1);
  }
});
