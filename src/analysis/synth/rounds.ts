import { type Rational, rational, subtract } from '../../base/exact/rational.js';
import { type Additive, additive } from '../../privacy/mechanism/additive.js';
import { type Allotment, partOf } from '../../privacy/mechanism/allotment.js';
import type { Mechanism } from '../../privacy/mechanism/mechanism.js';
import type { Paid } from '../../privacy/mechanism/paid.js';
import { reserve } from '../../privacy/mechanism/reserve.js';
import { type Selection, selection } from '../../privacy/mechanism/select.js';
import { type Measured, fit as modelOf } from '../graphical/fit.js';
import type { Graphical } from '../graphical/graphical.js';
import type { CodedTable } from '../learn/network/coded.js';
import { cellsOf, countsOf } from './counts.js';
import { penaltyOf, wholeWeights } from './distance.js';
import { choicesMoved, countsMoved, type Method, meanNoise, measure, type Setting, totalOf } from './method.js';
import { modelCells } from './small-enough.js';

/** A candidate table. */
export interface Candidate {
  readonly columns: readonly number[];
  /** Importance of the table. */
  readonly weight: number;
}

/** Division of the budget of rounds. */
export interface Schedule {
  /** Small steps of the budget per column. */
  readonly stepsPerColumn: number;
  /** Steps of the first round. */
  readonly atFirst: number;
  /** Factor on the steps of a round once a measured table changes the model by no more than its noise. */
  readonly steeper: number;
  /** Share of a round for choosing; the rest is for measuring. */
  readonly choosing: Rational;
  /**
   * Least distance of a useful table, as a multiple of the mean noise of a cell: the fit removes part of the noise again
   * (docs/decisions/0086).
   */
  readonly penalty: number;
  /** Iterations of the fit after each round. */
  readonly iterations: number;
  /** Share of the model's cells that the first tables may take. */
  readonly firstRoom: number;
  /** Power of the model size, above the share `free` of its limit, by which the weight of a table is divided. */
  readonly thrift: number;
  readonly free: number;
}
const alike = {
  steeper: 2,
  choosing: rational(1, 10),
  penalty: 3 / 4,
  iterations: 200,
  firstRoom: 1 / 8,
  thrift: 1 / 2,
  free: 1 / 16,
};
/** Gaussian noise falls with the root of a share, Laplace noise linearly: its rounds are fewer. */
export const usual: Readonly<Record<Allotment['noise'], Schedule>> = {
  zcdp: { ...alike, stepsPerColumn: 16, atFirst: 8 },
  pure: { ...alike, stepsPerColumn: 4, atFirst: 1 },
};

/**
 * Every column first; then rounds that measure the table in which rows and model differ most and refit the model, until the budget is
 * spent (after McKenna et al. 2022). Guarantee in synth.proof.md.
 */
export function inRounds(
  setting: Setting,
  allotment: Allotment,
  candidates: readonly Candidate[],
  schedule = usual[allotment.noise],
): Method {
  const { sizes } = setting;
  // Single columns take the whole budget if there is nothing to choose from.
  const all = (candidates.length > 0 ? schedule.stepsPerColumn : 1) * sizes.length;
  const singles = additive(
    { name: 'tables of one column', cells: Math.max(...sizes), times: sizes.length, effects: countsMoved(setting) },
    partOf(allotment, rational(sizes.length, all)),
  );
  const measuredAlone = (rows: CodedTable, paid: Paid) => sizes.map((_, c) => measure(rows, [c], singles, paid));
  if (candidates.length === 0)
    return {
      why: 'All of the budget measures every column by itself: there is no larger table to choose.',
      mechanisms: [singles],
      cells: setting.mostCells,
      run: measuredAlone,
    };
  const rest = roundsOf(setting, allotment, candidates, { all, left: all - sizes.length }, schedule);
  return {
    why: `A part of the budget measures every column by itself; the rest goes into rounds, each of which chooses the table that the model knows least and measures it.`,
    mechanisms: [singles, rest.reserved],
    cells: setting.mostCells,
    run: (rows, paid, progress) => {
      const start = measuredAlone(rows, paid);
      return rest.run(rows, paid, start, totalOf(setting, start), progress);
    },
  };
}

export interface Rounds {
  readonly reserved: Mechanism;
  /** `start` are released tables; returns the measurements made after them. */
  run(
    rows: CodedTable,
    paid: Paid,
    start: readonly Measured[],
    total: number,
    progress?: (done: number, total: number) => void,
  ): readonly Measured[];
}

/** Rounds on `left` of the `all` steps into which the budget share is divided. */
export function roundsOf(
  setting: Setting,
  allotment: Allotment,
  candidates: readonly Candidate[],
  { all, left: first }: { readonly all: number; readonly left: number },
  schedule = usual[allotment.noise],
): Rounds {
  const { sizes } = setting;
  const part = (steps: number) => partOf(allotment, rational(steps, all));
  const effects = countsMoved(setting);
  const mostCells = Math.max(1, ...candidates.map(({ columns }) => cellsOf(sizes, columns)));
  const left = (steps: number): Mechanism =>
    reserve({ name: 'choices of tables and the tables chosen, in rounds', cells: mostCells, effects }, part(steps));
  const chosenBy = (steps: number): Selection =>
    selection({ name: 'choice of a table', cells: 1, effects: choicesMoved(setting) }, partOf(part(steps), schedule.choosing));
  const measuredBy = (steps: number): Additive =>
    additive(
      { name: 'table that was chosen', cells: mostCells, effects },
      partOf(part(steps), subtract(rational(1), schedule.choosing)),
    );
  const reserved = left(first);

  const run: Rounds['run'] = (rows, paid, start, total, progress) => {
    const measured: Measured[] = [...start];
    const model = (from?: Graphical) =>
      modelOf({ sizes, measured, total, impossible: setting.impossible, iterations: schedule.iterations, ...(from && { from }) });
    let known = model();
    const counted = new Map<number, Float64Array>();
    const countsFor = (k: number): Float64Array => {
      const found = counted.get(k) ?? countsOf(rows, candidates[k]!.columns);
      counted.set(k, found);
      return found;
    };
    let [steps, at] = [first, schedule.atFirst];
    let held = reserved;
    while (steps > 0 && candidates.length > 0) {
      // A remainder too small for another such round is added to this one.
      const take = steps < 2 * at ? steps : at;
      const [choose, add] = [chosenBy(take), measuredBy(take)];
      const room = setting.mostCells * Math.max(schedule.firstRoom, 1 - (steps - take) / first);
      const open = openFor(setting, candidates, measured, room, total, meanNoise(add));
      if (open.length === 0) break;
      const small = schedule.free * room;
      const weights = wholeWeights(open.map(({ k, cells }) => candidates[k]!.weight / Math.max(small, cells) ** schedule.thrift));
      const rest = steps > take ? left(steps - take) : undefined;
      paid.exchange(held, choose, add, ...(rest ? [rest] : []));
      const penalties = open.map(({ k }, i) => {
        const { columns } = candidates[k]!;
        return penaltyOf(
          countsFor(k),
          known.table(columns),
          weights[i]!,
          schedule.penalty * meanNoise(add) * cellsOf(sizes, columns),
        );
      });
      const { columns } = candidates[open[choose.choose(paid, penalties)]!.k]!;
      const before = known.table(columns);
      measured.push(measure(rows, columns, add, paid));
      known = model(known);
      const after = known.table(columns);
      const moved = after.reduce((sum, x, cell) => sum + Math.abs(x - before[cell]!), 0);
      if (moved <= meanNoise(add) * after.length) at *= schedule.steeper;
      steps -= take;
      progress?.(all - steps, all);
      if (rest) held = rest;
    }
    return measured;
  };
  return { reserved, run };
}

/** A candidate, and the cells of the model with it. */
interface Open {
  readonly k: number;
  readonly cells: number;
}

/**
 * Candidates with noise below any possible distance and with which the model stays small enough; without any, all that keep it small.
 * Public.
 */
function openFor(
  { sizes, impossible, mostCells }: Setting,
  candidates: readonly Candidate[],
  measured: readonly Measured[],
  room: number,
  total: number,
  noise: number,
): readonly Open[] {
  const sets = measured.map(({ columns }) => columns);
  const all = candidates.map(({ columns }, k): Open => ({ k, cells: modelCells(sizes, [...sets, columns], impossible) }));
  const least = all.reduce((n, { cells }) => Math.min(n, cells), mostCells);
  const most = Math.max(room, modelCells(sizes, sets, impossible), least);
  const fits = all.filter(({ cells }) => cells <= most);
  const telling = fits.filter(({ k }) => noise * cellsOf(sizes, candidates[k]!.columns) < 2 * total);
  return telling.length > 0 ? telling : fits;
}
