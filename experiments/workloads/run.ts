import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subsetsUpTo } from '../../src/analysis/workload/closure.js';
import { plainLayout, residualLayout, weightedVariance } from '../../src/analysis/workload/residual-layout.js';
import { csvOf } from '../../src/app/report/csv.js';
import { partCells, type ResidualLayout } from '../../src/privacy/mechanism/residual/layout.js';
import { layoutSensitivity } from '../../src/privacy/mechanism/residual/row-sensitivity.js';
import { anesFolder, readAnes } from '../tabular/anes.js';
import { besideIterations, besidePeers } from './beside.js';
import { measuredErrors, rhoOf } from './measured.js';

/** Columns of the data sets for which others publish figures, by number of values. */
const adult = [100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2];

interface Asked {
  readonly data: string;
  readonly order: number;
  readonly sizes: readonly number[];
  readonly change: 'replaced' | 'removed';
}

/**
 * Root mean squared error of a cell over all tables with this number of columns, at a cost of rho = 1/2 per record,
 * by every method; exact, from the noise distribution.
 */
function line({ data, order, sizes, change }: Asked): readonly (string | number)[] {
  const tables = subsetsUpTo([...sizes.keys()], order)
    .filter((axes) => axes.length === order)
    .map((axes) => ({ axes, weight: 1 }));
  const cells = tables.reduce((n, table) => n + partCells(sizes, table), 0);
  const by = (layout: ResidualLayout) =>
    Math.sqrt((weightedVariance({ sizes, tables }, layout) * Number(layoutSensitivity(layout, change).l2squared)) / cells);
  const independent = Math.sqrt((change === 'replaced' ? 2 : 1) * tables.length);
  // Separately, but with the share of the budget that suits its cells.
  const roots = tables.reduce((sum, table) => sum + Math.sqrt(partCells(sizes, table)), 0);
  const split = Math.sqrt(((change === 'replaced' ? 2 : 1) * roots ** 2) / cells);
  const least = Math.sqrt(((change === 'replaced' ? 2 : 1) * leastRoots(sizes, tables, change) ** 2) / cells);
  const [residual, plain] = [by(residualLayout({ sizes, tables }, change)), by(plainLayout({ sizes, tables }, 'zcdp'))];
  return [
    data,
    order,
    change,
    sizes.length,
    tables.length,
    cells,
    ...[independent, split, plain, residual, least, residual / independent].map((x) => Number(x.toPrecision(5))),
  ];
}

/**
 * Lower bound for Gaussian noise on unbiased tables (optimal.proof.md):
 * the sum over all tables of the square root of a table's cost times the weight of its variance.
 */
function leastRoots(
  sizes: readonly number[],
  tables: readonly { readonly axes: readonly number[] }[],
  change: Asked['change'],
): number {
  const counts = new Map<string, { readonly cost: number; weight: number }>();
  for (const { axes } of tables)
    for (const inner of subsetsUpTo(axes, axes.length)) {
      if (inner.length === 0 && change === 'replaced') continue;
      const found = counts.get(inner.join()) ?? { cost: inner.reduce((x, axis) => x * (1 - 1 / sizes[axis]!), 1), weight: 0 };
      counts.set(inner.join(), found);
      found.weight += axes.reduce((x, axis) => x * (inner.includes(axis) ? sizes[axis]! - 1 : 1 / sizes[axis]!), 1);
    }
  return [...counts.values()].reduce((sum, { cost, weight }) => sum + Math.sqrt(cost * weight), 0);
}

/**
 * All tables of two and three columns: the surveys of the ANES (their first 40 questions) and Adult,
 * compared with noise on each table separately.
 */
export async function run(out: string): Promise<void> {
  if (process.env.FUGU_BESIDE) return besidePeers(out);
  const asked: Asked[] = [1, 2, 3].flatMap((order) =>
    (['removed', 'replaced'] as const).map((change) => ({
      data: 'Adult, as ResidualPlanner codes it',
      order,
      sizes: adult,
      change,
    })),
  );
  const measured: (string | number)[][] = [];
  if (!anesFolder) console.log('The ANES files (../shared/data/anes) are not here: Adult alone.');
  else
    for (const year of ['2006', '2016', '2018', '2019', '2020'] as const) {
      const { values, rows, columns } = await readAnes({ year, columns: 40, ...(year === '2006' && { from: 'V06P501' }) });
      // A declared column has a cell for missing answers, whether or not there are any.
      const sizes = values.map((list) => list.filter((value) => value !== '(missing)').length + 1);
      asked.push({ data: `ANES ${year}`, order: 2, sizes, change: 'replaced' });
      for (const epsilon of [0.1, 1, 10])
        measured.push([
          `ANES ${year}`,
          epsilon,
          rows,
          ...measuredErrors({ sizes, rows, columns }, rhoOf(epsilon, 1e-6)).map((x) => Number(x.toPrecision(4))),
        ]);
    }
  const header = [
    'data',
    'columns of a table',
    'neighbours',
    'columns',
    'tables',
    'cells',
    'each by itself',
    'split by size',
    'read together',
    'without smaller tables',
    'no noise leaves less',
    'ratio',
  ];
  const rows = asked.map(line);
  console.table(rows.map((row) => Object.fromEntries(row.map((x, k) => [header[k]!, x]))));
  writeFileSync(join(out, 'errors.csv'), csvOf([header, ...rows]));
  const found = ['data', 'epsilon', 'rows', 'each by itself', 'each, no negative cells', 'workload', 'workload, tidied'];
  console.table(measured.map((row) => Object.fromEntries(row.map((x, k) => [found[k]!, x]))));
  writeFileSync(join(out, 'measured.csv'), csvOf([found, ...measured]));
  await besideIterations(out);
  await besidePeers(out);
}
