import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { downwardClosure, subsetsUpTo } from '../../src/analysis/workload/closure.js';
import { combineParts, tableFrom } from '../../src/analysis/workload/estimate.js';
import { nonNegative } from '../../src/analysis/workload/non-negative.js';
import { residualLayout } from '../../src/analysis/workload/residual-layout.js';
import { fromNumber } from '../../src/base/exact/rational.js';
import { zcdp } from '../../src/privacy/mechanism/budget-share.js';
import { Payment } from '../../src/privacy/mechanism/payment.js';
import { everyRecord } from '../../src/privacy/mechanism/record-class.js';
import { noisedTables } from '../../src/privacy/mechanism/residual/residual.js';
import { type Coded, countsOf } from './measured.js';

/**
 * Distance of tables from the truth: half the L1 distance over the number of rows, averaged over tables;
 * and the root mean squared error of a cell.
 */
export interface Distance {
  readonly by: string;
  readonly distance: number;
  readonly rmse: number;
  readonly seconds: number;
  /** Processor seconds. */
  readonly cpu?: number;
}

/** All tables with this number of columns, of one draw: as released, and tidied. */
export function oursOn(coded: Coded, order: number, rho: number, change: 'removed' | 'replaced'): readonly Distance[] {
  const { sizes } = coded;
  const axes = subsetsUpTo([...sizes.keys()], order).filter((set) => set.length === order);
  const exact = new Map(downwardClosure(axes).map((set) => [set.join(), countsOf(coded, set)]));
  const start = performance.now();
  const layout = residualLayout({ sizes, tables: axes.map((set) => ({ axes: set, weight: 1 })) }, change);
  const noised = noisedTables({ name: 'tables', layout, changes: [{ of: everyRecord, change, rows: 1 }] }, zcdp(fromNumber(rho)));
  const told = noised.mechanism.prepare(new Payment([noised.mechanism]))(
    noised.vector(layout.parts.map((part) => Array.from(exact.get(part.axes.join())!, BigInt))),
  );
  const estimate = combineParts(layout, noised.split(told.map(Number)), noised.variance);
  const drawn = (performance.now() - start) / 1000;
  const tidied = nonNegative(estimate, axes, Math.max(0, estimate.by.get('')!.values[0]!));
  const after = (performance.now() - start) / 1000;
  return [
    { by: 'workload', seconds: drawn, ...distanceOf(coded, axes, (set) => tableFrom(estimate, set)) },
    { by: 'workload, tidied', seconds: after, ...distanceOf(coded, axes, (set) => tableFrom(tidied, set)) },
  ];
}

function distanceOf(coded: Coded, tables: readonly (readonly number[])[], of: (axes: readonly number[]) => Float64Array) {
  let [squares, cells, distance] = [0, 0, 0];
  for (const axes of tables) {
    const [truth, told] = [countsOf(coded, axes), of(axes)];
    for (let cell = 0; cell < truth.length; cell++) {
      squares += (told[cell]! - truth[cell]!) ** 2;
      distance += Math.abs(told[cell]! - truth[cell]!) / 2 / coded.rows;
    }
    cells += truth.length;
  }
  return { distance: distance / tables.length, rmse: Math.sqrt(squares / cells) };
}

const python = process.env.FUGU_PEERS ?? 'python3';
const script = ['./peers.py', '../../../experiments/workloads/peers.py']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

/** Resolves to true if OpenDP with its graphical models (`opendp[mbi,polars]`) is installed. */
export const peersThere = (): Promise<boolean> =>
  new Promise((answer) => execFile(python, ['-c', 'import opendp, mbi, polars, pandas'], (error) => answer(!error && !!script)));

/** One thread, so that processor seconds are those of the work. */
const oneThread = {
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
  POLARS_MAX_THREADS: '1',
  XLA_FLAGS: '--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1',
};

/** OpenDP's algorithm on the same rows, codes, neighbours and rho; settings as in peers.py. Stopped runs have no distance. */
export function peerOn(
  { sizes, columns }: Coded,
  order: number,
  rho: number,
  algorithm: 'AIM' | 'MST',
  settings: Readonly<Record<string, number | boolean>> = {},
): Promise<Distance> {
  return new Promise((answer, refuse) => {
    const child = spawn(python, [script!], { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...oneThread } });
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    child.on('error', refuse);
    child.on('close', (code) =>
      code === 0
        ? answer(told(algorithm, JSON.parse(text) as Omit<Distance, 'by'> | { readonly stopped: number }))
        : refuse(new Error(`OpenDP's ${algorithm} ended with ${code}`)),
    );
    child.stdin.end(
      JSON.stringify({ sizes, columns: columns.map((column) => Array.from(column)), rho, algorithm, order, ...settings }),
    );
  });
}

const told = (algorithm: string, answer: Omit<Distance, 'by'> | { readonly stopped: number }): Distance =>
  'stopped' in answer
    ? { by: `OpenDP ${algorithm}, stopped`, distance: Number.NaN, rmse: Number.NaN, seconds: Number.NaN, cpu: answer.stopped }
    : { by: `OpenDP ${algorithm}`, ...answer };
