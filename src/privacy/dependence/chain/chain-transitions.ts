import { closedWeight, openWeight, pushThrough } from '../graph/push.js';
import { logOddsRatio, loosened } from '../model/odds.js';
import { type LossFunction, lossFunction } from '../temporal/temporal.js';
import type { ChainTransitions } from './chain-leakage.js';
import { pairTransitions, type StepTables } from './pair-transitions.js';
import { backwardTransitions, type StationaryDistribution } from './stationary.js';

type Matrix = readonly ArrayLike<number>[];
/** A table with every entry right to a relative error. */
interface Table {
  readonly rows: Matrix;
  readonly relative: number;
}

/**
 * Numbers of steps that are bounded jointly, in addition to single steps: after several steps a chain may have forgotten what one
 * step still shows.
 */
const leaps = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];
/** Limit on states for powers of the table; above it, several steps are bounded by their odds ratios. */
const manyStates = 12;
/** Limit on states for bounds by pairs: 10 states have 45 pairs and tables of 45 x 45. */
const manyPaired = 10;
/** Smallest entry of a table whose products are computed; those of smaller ones might underflow. */
const least = 1e-100;

/** D of one step, rounded up. */
const logOddsOf = ({ rows, relative }: Table): number => {
  const n = rows.length;
  const d = logOddsRatio(Float64Array.from(rows.flatMap((row) => Array.from(row))), [n, n], 0);
  return relative > 0 && d > 0 ? loosened(d, relative) : d;
};

/** Powers of the matrices, all of them of the same number of steps. */
function powersOf(matrices: readonly Matrix[]): readonly StepTables[] {
  if (matrices.some((m) => m.some((row) => Array.from(row).some((x) => x > 0 && x < least)))) return [];
  const found: StepTables[] = [{ steps: 1, tables: matrices.map((rows) => ({ rows, relative: 0 })) }];
  const of = (steps: number) => found.find((f) => f.steps === steps)!.tables;
  for (const steps of leaps) {
    const [some, more] = steps === 3 ? [of(2), of(1)] : [of(steps / 2), of(steps / 2)];
    found.push({ steps, tables: some.map((table, k) => times(table, more[k]!)) });
  }
  return found.slice(1);
}

/** Product of two non-negative tables: its relative error is the sum of both plus n + 1 roundings. */
function times(a: Table, b: Table): Table {
  const n = a.rows.length;
  const rows = a.rows.map((row) => {
    const next = new Float64Array(n);
    for (let k = 0; k < n; k++) {
      const [share, through] = [row[k]!, b.rows[k]!];
      for (let j = 0; j < n; j++) next[j]! += share * through[j]!;
    }
    return next;
  });
  return { rows, relative: 1.005 * (a.relative + b.relative) + (n + 2) * 2 ** -52 };
}

/**
 * Transitions for an attacker who may know any steps exactly, if any of the matrices, forward or backward, may be the true one.
 */
export function informedTransitions(forward: readonly Matrix[], backward: readonly Matrix[] = []): ChainTransitions {
  // A backward table is read from the step before to the present one: cross ratios do not need rows that sum to one.
  const matrices = [...forward, ...backward.map(transposed)];
  const one: StepTables = { steps: 1, tables: matrices.map((rows) => ({ rows, relative: 0 })) };
  const powers = powersOf(matrices);
  return {
    ...oddsRatioTransitions(Math.max(...one.tables.map(logOddsOf))),
    far: farByOdds(powers),
    ...(matrices[0]!.length <= manyPaired && { pairs: pairTransitions([one, ...powers]) }),
  };
}
const transposed = (m: Matrix): Matrix => m.map((_, j) => Float64Array.from(m, (row) => row[j]!));
const farByOdds = (powers: readonly StepTables[]) =>
  powers.map(({ steps, tables }) => ({ steps, ...oddsRatioTransitions(Math.max(...tables.map(logOddsOf))) }));

/** Knowledge of the step before: a backward table, a stationary past, or none. */
export type BackwardKnowledge = { readonly backward: Matrix } | { readonly stationary: StationaryDistribution } | 'free';

/** Transitions by tables, for an attacker who knows none of the steps. */
export function uninformedTransitions(forward: Matrix, past: BackwardKnowledge): ChainTransitions {
  const own: Table = { rows: forward, relative: 0 };
  const declared = typeof past === 'object' && 'backward' in past ? past.backward : undefined;
  const before = (table: Table, power: Table | undefined): LossFunction => {
    if (power) return lossFunction(power.rows, power.relative);
    if (typeof past === 'object' && 'stationary' in past)
      return lossFunction(backwardTransitions(table.rows, past.stationary), 2 * past.stationary.relative + 2 * table.relative);
    return lossThrough(logOddsOf(table));
  };
  const transitionsOver = (table: Table, power: Table | undefined) => ({
    forward: lossFunction(table.rows, table.relative),
    backward: before(table, power),
  });
  const near = transitionsOver(own, declared && { rows: declared, relative: 0 });
  if (forward.length > manyStates) return { ...near, far: farByOdds(powersOf(declared ? [forward, declared] : [forward])) };
  const backwards = declared ? powersOf([declared]) : [];
  return {
    ...near,
    far: powersOf([forward]).flatMap(({ steps, tables: [table] }) => {
      const power = backwards.find((b) => b.steps === steps)?.tables[0];
      return declared && !power ? [] : [{ steps, ...transitionsOver(table!, power) }];
    }),
  };
}

/** Transitions by odds ratio alone: valid even if the attacker knows other steps exactly. */
export function oddsRatioTransitions(logOdds: number): Pick<ChainTransitions, 'backward' | 'forward'> {
  const through = lossThrough(logOdds);
  return { backward: through, forward: through };
}

/** push through a tie of this log odds ratio, prepared once for many costs. */
function lossThrough(logOdds: number): LossFunction {
  const [shut, wide] = [closedWeight(logOdds), openWeight(logOdds)];
  return (loss) => (loss > 0 && logOdds > 0 ? pushThrough(loss, logOdds, shut, wide) : 0);
}
