import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/app/report/csv.js';
import { lineChart } from '../../src/app/report/line-chart.js';
import { standalone } from '../../src/app/report/svg.js';
import { publicData } from '../data.js';
import { attackFigures } from './attack.js';
import { Bench, policyWith } from './bench.js';
import { type Column, distributionFigures, type Figure, madeColumn } from './distributions.js';
import { knownFigures, madeRegions, type Published, questionsOf } from './known.js';
import { gowalla, kmeansFigures, rowsOf, textsOf } from './places.js';

const adult = publicData('adult/', 'adult.parquet');
const groups = publicData('groups/', 'eusilc.parquet');

/** Texts of the page above each table. */
const words = {
  distributions: `## Histograms, distributions, ranges
Root mean squared errors in rows at epsilon 1, each question asked alone with all of it: of the bins' counts, of all values of the distribution, of a thousand random ranges; and what part that is of the error without pairs. Cells are the bins asked as ranges, one by one: off sums along the line that pairs make of the bins where they make one.`,
  kmeans: `## Cluster centres
How much more, in percent, the centres cost than the best that is found without privacy, at epsilon 0.5: with any two places as pairs (plain), and with places within a distance. What holds for pairs within 5 km at epsilon 0.5 holds for any two places of New York, ten such steps wide, at epsilon 5, and for any two of a part of it 15 km wide at 1.5: the last columns are what plain privacy loses there, and no mechanism for these pairs can be better than the best plain one with that.`,
  known: `## Known margins
Root mean squared errors of a cell, in rows, at epsilon 1: where nobody is said to know the margin (which then can be combined with the answer against the promise), where the policy declares it, and where the answers are made to agree with it besides, as the product does.`,
  attack: `## What an attacker gains who knows a margin
Three regions, four people, epsilon 1: the largest move of log-odds about one person that climbed beliefs found, conditioned on the margin before and after. Up to three people move at once, so a policy that does not declare the margin promises 1 and keeps 3.`,
} as const;

/**
 * Errors of histograms, distributions, ranges and cluster centres under pairs of values and under known margins,
 * compared with plain privacy. FUGU_TIMES sets the number of draws.
 */
export async function run(out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  const times = Number(process.env.FUGU_TIMES ?? 20);
  const columns = [madeColumn(), ...(await publicColumns())];
  const tables: Partial<Record<keyof typeof words, readonly Figure[]>> = {
    attack: await attackFigures(6 * times),
    known: await knownFigures([madeRegions(), ...(await publicMargins())], 10 * times),
    distributions: await distributionFigures(columns, times),
  };
  const eusilc = columns.find(({ data }) => data.startsWith('eusilc'));
  await picture(out, eusilc ?? columns[0]!);
  if (gowalla) tables.kmeans = await kmeansFigures(gowalla, times);
  else console.log('The Gowalla files (../shared/data/gowalla) are not here: no clusters.');
  const page = [
    '# Policies',
    `\`npm run experiment -- policies OUT\` writes this page and its tables as CSV; ${times} releases each, ten times as many beside known margins.`,
  ];
  for (const [name, text] of Object.entries(words)) {
    const table = tables[name as keyof typeof words];
    if (table) page.push(`${text}\n`, save(out, name, table));
  }
  writeFileSync(join(out, 'README.md'), `${page.join('\n')}`);
}

async function publicColumns(): Promise<readonly Column[]> {
  const list: Column[] = [];
  const near = (name: string, far: string) => `${name}: { within: ${far}, missing: apart }`;
  if (adult) {
    const age = (await rowsOf(adult, 'adult.parquet', 'SELECT age FROM fugu_data')).map(([x]) => x!);
    list.push({
      data: 'Adult, age',
      name: 'age',
      declared: '{ type: integer, bounds: [17, 90], bins: [30, 45, 65] }',
      low: 17,
      step: 1,
      size: 74,
      values: age,
      policies: [
        ['none', ''],
        ['partition 30, 45, 65', 'age: { partition: { edges: [30, 45, 65] }, missing: apart }'],
        ['within 1', near('age', '1')],
        ['within 5', near('age', '5')],
      ],
    });
  }
  if (groups) {
    const income = (await rowsOf(groups, 'eusilc.parquet', 'SELECT eqIncome FROM fugu_data')).map(([x]) => x!);
    list.push({
      data: 'eusilc, income',
      name: 'income',
      declared: '{ type: number, bounds: [0, 100000], step: 100, bins: [10000, 20000, 40000] }',
      low: 0,
      step: 100,
      size: 1001,
      values: income,
      policies: [
        ['none', ''],
        ['partition 10, 20, 40 thousand', 'income: { partition: { edges: [10000, 20000, 40000] }, missing: apart }'],
        ['within 500', near('income', '500')],
        ['within 5000', near('income', '5000')],
      ],
    });
  }
  if (gowalla) {
    const lat = (await rowsOf(gowalla, 'gowalla_nyc_checkins.parquet', 'SELECT lat FROM fugu_data')).map(([x]) => x!);
    list.push({
      data: 'Gowalla New York, latitude',
      name: 'lat',
      declared: '{ type: number, bounds: [40.48, 40.92], step: 0.0005 }',
      low: 40.48,
      step: 0.0005,
      size: 881,
      values: lat,
      policies: [
        ['none', ''],
        ['within 0.0045 (500 m)', near('lat', '0.0045')],
        ['within 0.045 (5 km)', near('lat', '0.045')],
      ],
    });
  }
  return list;
}

async function publicMargins(): Promise<readonly Published[]> {
  const list: Published[] = [];
  if (adult) {
    const rows = await textsOf(adult, 'adult.parquet', 'SELECT sex, education FROM fugu_data');
    const columns = new Map(['sex', 'education'].map((name, c) => [name, rows.map((row) => row[c]!)]));
    list.push({ data: 'Adult', columns, margin: 'sex', questions: questionsOf('sex', 'education', 'Female') });
    list.push({ data: 'Adult', columns, margin: 'education', questions: questionsOf('education', 'sex', 'Masters').slice(0, 2) });
  }
  if (groups) {
    const rows = await textsOf(groups, 'eusilc.parquet', 'SELECT db040, pl030 FROM fugu_data');
    const columns = new Map(['region', 'activity'].map((name, c) => [name, rows.map((row) => row[c]!)]));
    list.push({ data: 'eusilc', columns, margin: 'region', questions: questionsOf('region', 'activity', 'Tyrol') });
  }
  return list;
}

/** One release of a distribution with its 95 % band, plain and along pairs, drawn over the truth. */
async function picture(out: string, column: Column): Promise<void> {
  const thin = Math.ceil(column.size / 200);
  const series = [];
  const chosen = [column.policies[0]!, column.policies.at(-2)!];
  for (const [words, pairs] of chosen) {
    const policy = await policyWith(`${column.name}: ${column.declared}`, pairs, '0.02');
    const bench = new Bench(policy, [{ kind: 'cdf', column: column.name }]).count(new Map([[column.name, column.values]]));
    const points = (table: ReturnType<Bench['released']>[number]) =>
      table.rows
        .filter((_, p) => p % thin === 0)
        .map(({ keys, share }) => ({ x: Number(keys[0]), y: share!.value ?? 0, low: share!.low, high: share!.high }));
    series.push({ name: words === 'none' ? 'plain' : words, points: points(bench.released()[0]!) });
    if (words === 'none')
      series.unshift({ name: 'exact', dashed: true, points: points(bench.exact()[0]!).map(({ x, y }) => ({ x, y })) });
  }
  const [low, high] = [column.low, column.low + (column.data.startsWith('eusilc') ? 500 : column.size - 1) * column.step];
  const chart = lineChart({
    series: series.map((s) => ({ ...s, points: s.points.filter(({ x }) => x <= high) })),
    xLabel: column.data,
    yLabel: 'part of the rows up to it',
    label: `Distribution of ${column.data} at epsilon 0.02, with 95 % bands`,
    percentY: true,
    width: 760,
    height: 360,
    xDomain: [low, high],
  });
  writeFileSync(join(out, 'cdf.svg'), standalone(chart));
}

const rounded = (x: string | number): string | number =>
  typeof x === 'number' && !Number.isInteger(x) ? Number(x.toPrecision(3)) : x;
/** Writes a table as CSV, and returns it as Markdown. */
function save(out: string, name: string, table: readonly Figure[]): string {
  writeFileSync(join(out, `${name}.csv`), csvOf(table.map((row) => row.map(rounded))));
  const [head, ...rows] = table.map((row) => row.map((x) => `${rounded(x)}`));
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head!), line(head!.map(() => '---')), ...rows.map(line), ''].join('\n');
}
