import { push } from '../graph/push.js';
import { logOddsRatio, loosened } from '../model/odds.js';
import { type Carried, carriedBy } from '../temporal/temporal.js';
import type { ChainLaw } from './chain-leakage.js';
import { backwardOf, type Stationary } from './stationary.js';

type Matrix = readonly ArrayLike<number>[];
/** A table with every entry right to a relative error. */
interface Table {
  readonly rows: Matrix;
  readonly relative: number;
}

/** So many steps at once are looked at beside one: where a step tells much of the next, several may have forgotten it. */
const leaps = [2, 4, 8, 16, 32, 64, 128];
/** Tables of more states take long: several steps of them are told by their odds ratios. */
const manyStates = 12;
/** Products of smaller entries might vanish. */
const least = 1e-100;

/** D of one step, rounded up. */
const logOddsOf = ({ rows, relative }: Table): number => {
  const n = rows.length;
  const d = logOddsRatio(Float64Array.from(rows.flatMap((row) => Array.from(row))), [n, n], 0);
  return relative > 0 && d > 0 ? loosened(d, relative) : d;
};

/** Powers of the matrices, all of them of the same number of steps. */
function powersOf(matrices: readonly Matrix[]): readonly { readonly steps: number; readonly tables: readonly Table[] }[] {
  if (matrices.some((m) => m.some((row) => Array.from(row).some((x) => x > 0 && x < least)))) return [];
  let tables: readonly Table[] = matrices.map((rows) => ({ rows, relative: 0 }));
  return leaps.map((steps) => {
    tables = tables.map(squared);
    return { steps, tables };
  });
}

/** Sums of products of what is never negative: n + 1 roundings more, twice what it was off. */
function squared({ rows, relative }: Table): Table {
  const n = rows.length;
  const out = rows.map((row) => {
    const next = new Float64Array(n);
    for (let k = 0; k < n; k++) for (let j = 0; j < n; j++) next[j]! += row[k]! * rows[k]![j]!;
    return next;
  });
  return { rows: out, relative: 2.01 * relative + (n + 2) * 2 ** -52 };
}

/** For an attacker who may know any steps exactly: whichever of the matrices is the true one, forward or backward. */
export function informedLaw(matrices: readonly Matrix[]): ChainLaw {
  return { ...oddsLaw(Math.max(...matrices.map((rows) => logOddsOf({ rows, relative: 0 })))), far: farByOdds(matrices) };
}
const farByOdds = (matrices: readonly Matrix[]) =>
  powersOf(matrices).map(({ steps, tables }) => ({ steps, ...oddsLaw(Math.max(...tables.map(logOddsOf))) }));

/** What is known about where one came from: a table, that it has been going on for ever, or nothing. */
export type Past = { readonly backward: Matrix } | { readonly stationary: Stationary } | 'free';

/** For one who knows none of them: by the tables. */
export function uninformedLaw(forward: Matrix, past: Past): ChainLaw {
  const own: Table = { rows: forward, relative: 0 };
  const declared = typeof past === 'object' && 'backward' in past ? past.backward : undefined;
  const before = (table: Table, power: Table | undefined): Carried => {
    if (power) return carriedBy(power.rows, power.relative);
    if (typeof past === 'object' && 'stationary' in past)
      return carriedBy(backwardOf(table.rows, past.stationary), 2 * past.stationary.relative + 2 * table.relative);
    const d = logOddsOf(table);
    return (effect) => push(effect, d);
  };
  const law = (table: Table, power: Table | undefined) => ({
    forward: carriedBy(table.rows, table.relative),
    backward: before(table, power),
  });
  const near = law(own, declared && { rows: declared, relative: 0 });
  if (forward.length > manyStates) return { ...near, far: farByOdds(declared ? [forward, declared] : [forward]) };
  const backwards = declared ? powersOf([declared]) : [];
  return {
    ...near,
    far: powersOf([forward]).flatMap(({ steps, tables: [table] }) => {
      const power = backwards.find((b) => b.steps === steps)?.tables[0];
      return declared && !power ? [] : [{ steps, ...law(table!, power) }];
    }),
  };
}

/** Whatever else is true: an attacker may know steps exactly. */
export function oddsLaw(logOdds: number): Pick<ChainLaw, 'backward' | 'forward'> {
  const through = (effect: number) => push(effect, logOdds);
  return { backward: through, forward: through };
}
