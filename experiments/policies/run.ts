import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/report/csv.js';
import { lineChart } from '../../src/report/line-chart.js';
import { standalone } from '../../src/report/svg.js';
import { publicData } from '../data.js';
import { Bench, policyWith } from './bench.js';
import { type Column, distributionFigures, type Figure, madeColumn } from './distributions.js';
import { gowalla, kmeansFigures, rowsOf } from './places.js';

const adult = publicData('adult/', 'adult.parquet');
const groups = publicData('groups/', 'eusilc.parquet');

/** Errors of histograms, distributions, ranges and cluster centres under pairs of values, beside plain privacy. FUGU_TIMES says how often each is drawn. */
export async function run(out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  const times = Number(process.env.FUGU_TIMES ?? 20);
  const columns = [madeColumn(), ...(await publicColumns())];
  save(out, 'distributions', await distributionFigures(columns, times));
  const eusilc = columns.find(({ data }) => data.startsWith('eusilc'));
  await picture(out, eusilc ?? columns[0]!);
  if (gowalla) save(out, 'kmeans', await kmeansFigures(gowalla, times));
  else console.log('The Gowalla files (../shared/data/gowalla) are not here: no clusters.');
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

/** One release of a distribution with its 95 % band, plain and along pairs, beside the truth. */
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
function save(out: string, name: string, table: readonly Figure[]): void {
  writeFileSync(join(out, `${name}.csv`), csvOf(table.map((row) => row.map(rounded))));
  const [head, ...rows] = table.map((row) => row.map((x) => `${rounded(x)}`));
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  writeFileSync(join(out, `${name}.md`), [line(head!), line(head!.map(() => '---')), ...rows.map(line), ''].join('\n'));
}
