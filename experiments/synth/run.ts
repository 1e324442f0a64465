import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/app/report/csv.js';
import { rhoOf } from '../workloads/measured.js';
import { readSet } from '../workloads/sets.js';
import { roundsOn } from './adult.js';
import { householdsOn } from './households.js';

const rounded = (x: number): number => Number(x.toPrecision(4));
const epsilons = (process.env.FUGU_EPSILONS ?? '0.1,1,10').split(',').map(Number);
const cells = Number(process.env.FUGU_CELLS ?? 800_000);

/** Households of eusilc: the part of the agreement between members beyond strangers that synthetic rows keep. */
async function households(out: string): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const [tie, said] of [
    ['{ kind: groups, by: db030, oddsRatio: 3 }', 'odds ratio 3'],
    ['{ kind: groups, by: db030 }', 'copies'],
  ] as const)
    for (const epsilon of [1, 3, 10])
      for (const { column, real, synthetic, strangers } of (await householdsOn(epsilon, tie)) ?? [])
        rows.push([
          said,
          epsilon,
          column,
          ...[real, synthetic, strangers, (synthetic - strangers) / (real - strangers)].map(rounded),
        ]);
  const header = ['members are tied by', 'epsilon', 'column', 'data', 'synthetic', 'strangers', 'kept'];
  console.table(rows.map((row) => Object.fromEntries(row.map((x, k) => [header[k]!, x]))));
  writeFileSync(join(out, 'households.csv'), csvOf([header, ...rows]));
}

/** Households of eusilc, and rounds on Adult. The comparison with OpenDP is in experiments/workloads. */
export async function run(out: string): Promise<void> {
  if (!process.env.FUGU_ADULT) await households(out);
  if (process.env.FUGU_HOUSEHOLDS) return;
  const header = ['data', 'epsilon', 'by', 'distance 1', 'distance 2', 'distance 3', 'rmse 3', 'seconds', 'cpu', 'tables'];
  const rows: (string | number)[][] = [];
  const adult = await readSet('Adult');
  if (!adult) return console.log('Adult (../shared/data/adult) is not here.');
  for (const epsilon of epsilons) {
    const rho = rhoOf(epsilon, 1e-9);
    for (const change of ['removed', 'replaced'] as const) {
      const { distance, rmse, seconds, cpu, tables } = roundsOn(adult, rho, change, cells);
      rows.push(['Adult', epsilon, `fugu, ${change}`, ...[...distance, rmse, seconds, cpu].map(rounded), tables]);
      console.log(rows.at(-1)!.join(' '));
    }
  }
  writeFileSync(join(out, 'adult.csv'), csvOf([header, ...rows]));
}
