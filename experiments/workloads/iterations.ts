import { subsetsUpTo } from '../../src/analysis/workload/closure.js';
import { combineParts, tableFrom } from '../../src/analysis/workload/estimate.js';
import { plainLayout, residualLayout } from '../../src/analysis/workload/residual-layout.js';
import { fromNumber } from '../../src/base/exact/rational.js';
import { cimRounds } from '../../src/evaluate/papers/correlated-sensitivity/cim.js';
import { pmwRounds } from '../../src/evaluate/papers/multiplicative-weights/pmw.js';
import { releasedAnswers, type WeightRounds } from '../../src/evaluate/papers/multiplicative-weights/rounds.js';
import { additiveMechanism } from '../../src/privacy/mechanism/additive.js';
import { pure, zcdp } from '../../src/privacy/mechanism/budget-share.js';
import { Payment } from '../../src/privacy/mechanism/payment.js';
import { everyRecord } from '../../src/privacy/mechanism/record-class.js';
import { noisedTables } from '../../src/privacy/mechanism/residual/residual.js';
import { sensitivityOn } from '../../src/privacy/mechanism/sensitivity.js';
import { type Coded, countsOf, rhoOf } from './measured.js';

/**
 * Root mean squared errors of all cells of all tables of one and two of a few columns, under replacement:
 * the iterations as published (their histogram has all combinations), and the workload without and with a delta.
 */
export function iterationErrors(coded: Coded, epsilon: number): Readonly<Record<string, number>> {
  const { sizes, rows } = coded;
  const tables = subsetsUpTo([...sizes.keys()], 2).filter((axes) => axes.length > 0);
  const exact = tables.map((axes) => countsOf(coded, axes));
  const truth = exact.flatMap((counts) => [...counts]);
  const places = combinations(sizes);
  const queries = tables.flatMap((axes, t) =>
    Array.from({ length: exact[t]!.length }, (_, cell) =>
      Float64Array.from(places, (place) => Number(axes.reduce((at, axis) => at * sizes[axis]! + place[axis]!, 0) === cell)),
    ),
  );
  const off = (told: readonly (number | undefined)[]) =>
    Math.sqrt(told.reduce<number>((sum, x, k) => sum + ((x ?? 0) - truth[k]!) ** 2, 0) / truth.length);
  const iterated = (rounds: WeightRounds) => off(releasedAnswers(rounds, noisy(truth, rounds.scale)));
  const asked = { sizes, tables: tables.map((axes) => ({ axes, weight: 1 })) };
  const workload = (way: 'pure' | 'zcdp') => {
    const layout = way === 'pure' ? plainLayout(asked, 'pure') : residualLayout(asked, 'replaced');
    const allotment = way === 'pure' ? pure(fromNumber(epsilon)) : zcdp(fromNumber(rhoOf(epsilon, 1e-6)));
    const noised = noisedTables(
      { name: 'tables', layout, changes: [{ of: everyRecord, change: 'replaced', rows: 1 }] },
      allotment,
    );
    const vector = noised.vector(layout.parts.map(({ axes }) => Array.from(countsOf(coded, axes), BigInt)));
    const told = noised.split(
      noised.mechanism
        .prepare(new Payment([noised.mechanism]))(vector)
        .map(Number),
    );
    const estimate = combineParts(layout, told, noised.variance);
    return off(tables.flatMap((axes) => [...tableFrom(estimate, axes)]));
  };
  return {
    cim: iterated(cimRounds(queries, rows, 1, epsilon)),
    pmw: iterated(pmwRounds(queries, rows, epsilon)),
    'workload, no delta': workload('pure'),
    'workload, delta 1e-6': workload('zcdp'),
  };
}

const combinations = (sizes: readonly number[]): readonly (readonly number[])[] =>
  sizes.reduce<number[][]>((list, m) => list.flatMap((place) => Array.from({ length: m }, (_, p) => [...place, p])), [[]]);

/** Laplace noise of a scale on every number, in thousandths. */
function noisy(numbers: readonly number[], scale: number): readonly number[] {
  const unit = 1000;
  const noise = additiveMechanism(
    {
      name: 'answers',
      cells: numbers.length,
      sensitivity: sensitivityOn([everyRecord], { l1: BigInt(unit), l2squared: BigInt(unit ** 2) }),
    },
    pure(fromNumber(1 / scale)),
  );
  return noise
    .prepare(new Payment([noise]))(numbers.map((x) => BigInt(Math.round(x * unit))))
    .map((x) => Number(x) / unit);
}
