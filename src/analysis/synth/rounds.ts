import { type Rational, rational, subtract } from '../../base/exact/rational.js';
import { type AdditiveMechanism, additiveMechanism } from '../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../privacy/mechanism/budget-share.js';
import { type ExponentialMechanism, exponentialMechanism } from '../../privacy/mechanism/exponential-mechanism.js';
import type { Mechanism } from '../../privacy/mechanism/mechanism.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import { reserve } from '../../privacy/mechanism/reserve.js';
import { fitModel as modelOf, type NoisyMarginal } from '../graphical/fit.js';
import type { GraphicalModel } from '../graphical/graphical-model.js';
import { marginalSize } from '../graphical/marginal.js';
import { type CodedTable, countMarginal } from '../learn/network/coded.js';
import { distancePenalty, wholeWeights } from './distance.js';
import {
  choiceSensitivity,
  countSensitivity,
  estimatedTotal,
  meanNoise,
  measureMarginal,
  type SynthMethod,
  type SynthSetting,
} from './method.js';
import { modelCells } from './model-size.js';

/** A candidate table. */
export interface MarginalCandidate {
  readonly columns: readonly number[];
  /** Importance of the table. */
  readonly weight: number;
}

/** Division of the budget of rounds. */
export interface RoundSchedule {
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
   * (docs/explanation/decisions/0086).
   */
  readonly penalty: number;
  /** Iterations of the fit after each round. */
  readonly iterations: number;
  /** Share of the model's cells that the first tables may take. */
  readonly firstModelShare: number;
  /** Power of the model size, above the share `free` of its limit, by which the weight of a table is divided. */
  readonly thrift: number;
  readonly free: number;
}
const sharedSchedule = {
  steeper: 2,
  choosing: rational(1, 10),
  penalty: 3 / 4,
  iterations: 200,
  firstModelShare: 1 / 8,
  thrift: 1 / 2,
  free: 1 / 16,
};
/** Gaussian noise falls with the root of a share, Laplace noise linearly: its rounds are fewer. */
export const defaultSchedules: Readonly<Record<BudgetShare['noise'], RoundSchedule>> = {
  zcdp: { ...sharedSchedule, stepsPerColumn: 16, atFirst: 8 },
  pure: { ...sharedSchedule, stepsPerColumn: 4, atFirst: 1 },
};

/**
 * Every column first; then rounds that measure the table in which rows and model differ most and refit the model, until the budget is
 * spent (after McKenna et al. 2022). Guarantee in synth.proof.md.
 */
export function roundsMethod(
  setting: SynthSetting,
  budgetShare: BudgetShare,
  candidates: readonly MarginalCandidate[],
  schedule = defaultSchedules[budgetShare.noise],
): SynthMethod {
  const { sizes } = setting;
  // Single columns take the whole budget if there is nothing to choose from.
  const all = (candidates.length > 0 ? schedule.stepsPerColumn : 1) * sizes.length;
  const singles = additiveMechanism(
    { name: 'tables of one column', cells: Math.max(...sizes), times: sizes.length, sensitivity: countSensitivity(setting) },
    splitShare(budgetShare, rational(sizes.length, all)),
  );
  const measuredAlone = (rows: CodedTable, payment: Payment) => sizes.map((_, c) => measureMarginal(rows, [c], singles, payment));
  if (candidates.length === 0)
    return {
      why: 'All of the budget measures every column by itself: there is no larger table to choose.',
      mechanisms: [singles],
      cells: setting.mostCells,
      run: measuredAlone,
    };
  const rest = measurementRounds(setting, candidates, { share: budgetShare, all, left: all - sizes.length, schedule });
  return {
    why: `A part of the budget measures every column by itself; the rest goes into rounds, each of which chooses the table that the model knows least and measures it.`,
    mechanisms: [singles, rest.reserved],
    cells: setting.mostCells,
    run: (rows, payment, progress) => {
      const measured = measuredAlone(rows, payment);
      return rest.run(rows, payment, { measured, total: estimatedTotal(setting, measured), progress });
    },
  };
}

/** Released tables from which rounds start, and the number of rows. */
export interface RoundStart {
  readonly measured: readonly NoisyMarginal[];
  readonly total: number;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

export interface MeasurementRounds {
  readonly reserved: Mechanism;
  /** Returns the tables of the start and those measured after them. */
  run(rows: CodedTable, payment: Payment, start: RoundStart): readonly NoisyMarginal[];
}

/** The share of the budget that rounds divide into `all` small steps, of which `left` are theirs. */
export interface RoundBudget {
  readonly share: BudgetShare;
  readonly all: number;
  readonly left: number;
  readonly schedule?: RoundSchedule;
}

export function measurementRounds(
  setting: SynthSetting,
  candidates: readonly MarginalCandidate[],
  { share, all, left, schedule = defaultSchedules[share.noise] }: RoundBudget,
): MeasurementRounds {
  const { sizes } = setting;
  const part = (steps: number) => splitShare(share, rational(steps, all));
  const sensitivity = countSensitivity(setting);
  const mostCells = Math.max(1, ...candidates.map(({ columns }) => marginalSize(sizes, columns)));
  const remaining = (steps: number): Mechanism =>
    reserve({ name: 'choices of tables and the tables chosen, in rounds', cells: mostCells, sensitivity }, part(steps));
  const chosenBy = (steps: number): ExponentialMechanism =>
    exponentialMechanism(
      { name: 'choice of a table', cells: 1, sensitivity: choiceSensitivity(setting) },
      splitShare(part(steps), schedule.choosing),
    );
  const measuredBy = (steps: number): AdditiveMechanism =>
    additiveMechanism(
      { name: 'table that was chosen', cells: mostCells, sensitivity },
      splitShare(part(steps), subtract(rational(1), schedule.choosing)),
    );
  const reserved = remaining(left);
  const run: MeasurementRounds['run'] = (rows, payment, { measured: start, total, progress }) => {
    const measured: NoisyMarginal[] = [...start];
    const refit = (from?: GraphicalModel) =>
      modelOf({ sizes, measured, total, impossible: setting.impossible, iterations: schedule.iterations, ...(from && { from }) });
    const countsOf = countedOnce(rows);
    let model = refit();
    let [steps, at, held] = [left, schedule.atFirst, reserved];
    while (steps > 0 && candidates.length > 0) {
      // A remainder too small for another such round is added to this one.
      const take = steps < 2 * at ? steps : at;
      const [choose, add] = [chosenBy(take), measuredBy(take)];
      const noise = meanNoise(add);
      const cellLimit = setting.mostCells * Math.max(schedule.firstModelShare, 1 - (steps - take) / left);
      const open = openCandidates(setting, candidates, { measured, total }, { cellLimit, noise });
      if (open.length === 0) break;
      const small = schedule.free * cellLimit;
      const weights = wholeWeights(open.map(({ weight, cells }) => weight / Math.max(small, cells) ** schedule.thrift));
      const rest = steps > take ? remaining(steps - take) : undefined;
      payment.exchange(held, choose, add, ...(rest ? [rest] : []));
      const penalties = open.map(({ columns }, i) => {
        const expected = schedule.penalty * noise * marginalSize(sizes, columns);
        return distancePenalty(countsOf(columns), model.table(columns), weights[i]!, expected);
      });
      const { columns } = open[choose.choose(payment, penalties)]!;
      const before = model.table(columns);
      measured.push(measureMarginal(rows, columns, add, payment));
      model = refit(model);
      const after = model.table(columns);
      const moved = after.reduce((sum, x, cell) => sum + Math.abs(x - before[cell]!), 0);
      if (moved <= noise * after.length) at *= schedule.steeper;
      steps -= take;
      progress?.(all - steps, all);
      if (rest) held = rest;
    }
    return measured;
  };
  return { reserved, run };
}

/** Exact counts of marginals, each counted once. */
function countedOnce(rows: CodedTable): (columns: readonly number[]) => Float64Array {
  const counted = new Map<readonly number[], Float64Array>();
  return (columns) => {
    const found = counted.get(columns) ?? countMarginal(rows, columns);
    counted.set(columns, found);
    return found;
  };
}

/** A candidate, and the cells of the model with it. */
interface OpenCandidate extends MarginalCandidate {
  readonly cells: number;
}

/**
 * Candidates with noise below any possible distance and with which the model stays small enough; without any, all that keep it small.
 * Public.
 */
function openCandidates(
  { sizes, impossible, mostCells }: SynthSetting,
  candidates: readonly MarginalCandidate[],
  { measured, total }: RoundStart,
  { cellLimit, noise }: { readonly cellLimit: number; readonly noise: number },
): readonly OpenCandidate[] {
  const sets = measured.map(({ columns }) => columns);
  const all = candidates.map(
    (candidate): OpenCandidate => ({ ...candidate, cells: modelCells(sizes, [...sets, candidate.columns], impossible) }),
  );
  const least = all.reduce((n, { cells }) => Math.min(n, cells), mostCells);
  const most = Math.max(cellLimit, modelCells(sizes, sets, impossible), least);
  const fits = all.filter(({ cells }) => cells <= most);
  const informative = fits.filter(({ columns }) => noise * marginalSize(sizes, columns) < 2 * total);
  return informative.length > 0 ? informative : fits;
}
