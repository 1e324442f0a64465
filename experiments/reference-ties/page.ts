import { csvOf } from '../../src/app/report/csv.js';
import { detectDelimiter, parseCsv } from '../../src/base/input/csv.js';
import type { Measured } from './measure.js';
import { sources } from './ties.js';

/** One line of the measurements as committed: all fields are texts, so that the page shows exactly the file. */
const fields = ['between', 'value', 'data', 'pairs', 'oddsRatio', 'low', 'high', 'declare', 'restsOn', 'assumptionFree'] as const;
export type Line = Readonly<Record<(typeof fields)[number], string>>;

const digits = (x: number): string => (x >= 1000 ? x.toPrecision(2).replace('e+', 'e') : `${Number(x.toPrecision(3))}`);

export const lineOf = ({ tie, pairs, odds }: Measured): Line => ({
  between: tie.between,
  value: tie.value,
  data: sources[tie.data].name,
  pairs: `${pairs}`,
  oddsRatio: digits(odds.oddsRatio),
  low: digits(odds.interval[0]),
  high: digits(odds.interval[1]),
  declare: `${odds.declare}`,
  restsOn: odds.restsOn,
  assumptionFree: `${odds.assumptionFree.declare}`,
});

export const fileOf = (lines: readonly Line[]): string => csvOf([fields, ...lines.map((line) => fields.map((f) => line[f]))]);

export function readLines(text: string): Line[] {
  const [, ...rows] = parseCsv(text, detectDelimiter(text.split('\n', 1)[0]!))!;
  return rows.map(
    ({ cells }) => Object.fromEntries(fields.map((field, k) => [field, cells[k]!])) as Record<(typeof fields)[number], string>,
  );
}

/** Odds ratio beyond which two values count as copies. */
const copies = 100_000;
const declared = (n: string): string => (Number(n) > copies ? 'inf' : thousands(n));
const thousands = (n: string): string => n.replace(/\B(?=(\d{3})+$)/g, ',');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** docs/reference/reference-ties.md, made from the measured lines only. */
export function pageOf(lines: readonly Line[]): string {
  const rows = lines.map((l) => [
    l.between,
    l.value,
    thousands(l.pairs),
    `${l.oddsRatio} (${l.low} to ${l.high})`,
    `**${declared(l.declare)}**${l.restsOn === 'shared' ? ` (${declared(l.assumptionFree)} from the pairs alone)` : ''}`,
    l.data,
  ]);
  return `# Reference ties: how alike people are

Odds ratios measured on public data, for stewards who have no pairs of their own. Quote a line with its source, or better: measure yours ([how](../how-to/ties.md)). Written by \`npm run experiment -- reference-ties --write\`.

${table(['between', 'what', 'pairs', 'odds ratio (95 %)', 'declare', 'measured on'], rows)}

## How to read it
- **Declare** is what \`oddsRatio:\` should be: the upper end of the 95 % interval, rounded up to two digits, \`inf\` above ${thousands(`${copies}`)}. \`inf\` (leave the strength out) is always safe; a line below is not: it is a measurement on other people.
- The odds ratio is the largest of all 2x2 tables of the values: the two values that go together most, against the two that go together least. Values rarer than 5 % are taken together, or left out where together they are still rarer; a table with the rare ones apart ties them more strongly.
- Which of two is which is looked at only where a line names both ends (father and mother, a month and the next).
- A line is about the *classes* it names. Income in four classes is tied less than income in dollars: declare for what is asked.

## How it was measured
- At most one pair of each household, person, couple of friends or week, chosen by a hash of their names: pairs are then independent draws, which is what the interval assumes. Survey weights are not used: the interval is about the pairs in the file.
- \`fugu learn ties --public\` on each list of pairs. Where a second number stands beside what to declare, cells lend each other strength ([assumption](../../src/analysis/learn/odds/shared-strength.proof.md)); the second number makes no such assumption.
- Pairs show a tie *and* every other path between its ends: couples are alike in income also because both live where they live. What is declared promises less (everybody else fixed), so the numbers mostly err on the safe side; [they need not](../how-to/ties.md).

## What it does not say
- Whom a person talks with, and of which party they are, was told by that person: people take others to be more like themselves than they are.
- What a father's and mother's education was, was told by their child. Families with breast cancer were found through a patient, who is left out; sisters elsewhere may be more or less alike.
- The American lines are of fourteen small states (Wyoming for language), the others of one town, panel or hospital. Where more people speak another language, households may be tied more strongly.
- Consecutive steps of one person are close to copies. Declare them as a \`sequence\` with its transitions; the lines here say why pairs alone are dear.
`;
}
