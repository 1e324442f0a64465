import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/report/csv.js';
import { peerOn, peersThere } from '../workloads/beside-peers.js';
import { rhoOf } from '../workloads/measured.js';
import { readSet } from '../workloads/sets.js';
import { roundsOn } from './adult.js';

const rounded = (x: number): number => Number(x.toPrecision(4));
const epsilons = (process.env.FUGU_EPSILONS ?? '0.1,1,10').split(',').map(Number);
const cells = Number(process.env.FUGU_CELLS ?? 200_000);

/** AIM on Adult, beside OpenDP's where it is installed: same rows, codes, neighbours (records come and go) and rho. */
export async function run(out: string): Promise<void> {
  const header = ['data', 'epsilon', 'by', 'distance 1', 'distance 2', 'distance 3', 'rmse 3', 'seconds', 'cpu', 'tables'];
  const rows: (string | number)[][] = [];
  const adult = await readSet('Adult');
  if (!adult) return console.log('Adult (../shared/data/adult) is not here.');
  const peers = process.env.FUGU_ALONE ? false : await peersThere();
  if (!peers) console.log('No OpenDP with graphical models (README.md): this program alone.');
  for (const epsilon of epsilons) {
    const rho = rhoOf(epsilon, 1e-9);
    for (const change of ['removed', 'replaced'] as const) {
      const { distance, rmse, seconds, cpu, tables } = roundsOn(adult, rho, change, cells);
      rows.push(['Adult', epsilon, `fugu, ${change}`, ...[...distance, rmse, seconds, cpu].map(rounded), tables]);
      console.log(rows.at(-1)!.join(' '));
    }
    if (peers) {
      const { distance, rmse, seconds } = await peerOn(adult, 3, rho, 'AIM');
      rows.push(['Adult', epsilon, 'OpenDP AIM', '', '', ...[distance, rmse, seconds].map(rounded), '', '']);
      console.log(rows.at(-1)!.join(' '));
    }
  }
  writeFileSync(join(out, 'adult.csv'), csvOf([header, ...rows]));
}
