import { within } from '../../../base/input/limits.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import type { Mechanism } from '../../../privacy/mechanism/mechanism.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import { fitModel as modelOf, type NoisyMarginal, type StructuralZeros } from '../../graphical/fit.js';
import type { GraphicalModel } from '../../graphical/graphical-model.js';
import { marginalSize } from '../../graphical/marginal.js';
import type { CodedTable } from '../../learn/network/coded.js';
import type { SynthSetting } from '../method.js';
import { modelCells } from '../model-size.js';
import { defaultSchedules, type MarginalCandidate, measurementRounds } from '../rounds.js';
import { distanceZeros, type MemberDistance } from './member-distance.js';
import { pairLevels } from './pairs.js';

/** The columns of people that define a household. */
export interface Household {
  /** Index of the column with the number of members; its last value is for so many or more. */
  readonly members: number;
  /** Columns with equal values for all members. */
  readonly shared: readonly number[];
  /** Columns with each member's own values. */
  readonly own: readonly number[];
  readonly distances: readonly MemberDistance[];
}

/** Tables of pairs of household members, chosen in rounds among those with a column of each. */
export interface PairMethod {
  readonly mechanisms: readonly Mechanism[];
  readonly tables: number;
  /** Cells of all of these tables. */
  readonly cells: number;
  /** Most cells of the model of pairs. */
  readonly largest: number;
  /** Measurements of pairs; `people` is a model of released tables. */
  run(pairs: CodedTable, people: GraphicalModel, payment: Payment): readonly NoisyMarginal[];
}

const maxPairTables = 2_000;

export function pairMethod(people: SynthSetting, household: Household, budgetShare: BudgetShare): PairMethod {
  const { own } = household;
  const sizes = pairLevels(people.sizes, household);
  // Everybody is in at most one pair: a replaced record is one replaced row (households.proof.md).
  const setting: SynthSetting = {
    sizes,
    change: 'replaced',
    each: 1,
    impossible: impliedZeros(household),
    mostCells: people.mostCells,
  };
  const before = modelCells(sizes, startSets(household), setting.impossible);
  within('graphicalCells', before);
  const candidates = pairCandidates(sizes, household, people.mostCells);
  const all = defaultSchedules[budgetShare.noise].stepsPerColumn * Math.max(1, own.length);
  const rounds = measurementRounds(setting, candidates, { share: budgetShare, all, left: all });
  return {
    mechanisms: candidates.length > 0 ? [rounds.reserved] : [],
    tables: candidates.length,
    cells: candidates.reduce((n, { columns }) => n + marginalSize(sizes, columns), 0),
    largest: Math.max(people.mostCells, before),
    run: (pairs, model, payment) => {
      const start = startMarginals(household, model);
      return rounds.run(pairs, payment, { measured: start, total: sumOf(start[0]!.counts) }).slice(start.length);
    },
  };
}

/** Structural zeros: each distance of two members follows from their answers. */
const impliedZeros = ({ own, distances }: Household): readonly StructuralZeros[] =>
  distances.map((one, k) => distanceZeros(one, 1 + one.of, 1 + own.length + one.of, 1 + 2 * own.length + k));

/**
 * Candidate marginals: an answer of the first with one of the second, in the same column or another; their distance, alone and by the
 * answer of the first; and each of these by household size.
 */
function pairCandidates(
  sizes: readonly number[],
  { own: { length: own }, distances }: Household,
  most: number,
): readonly MarginalCandidate[] {
  const both = Array.from({ length: own }, (_, x) => Array.from({ length: own - x }, (_, d) => [1 + x, 1 + own + x + d])).flat();
  const few = both.length * 2 <= maxPairTables ? both : both.filter(([x, y]) => x! + own === y);
  const far = distances.flatMap(({ of }, k) => [[1 + 2 * own + k], [1 + of, 1 + 2 * own + k]]);
  return [...far, ...few]
    .flatMap((pair) => [pair, [0, ...pair]])
    .filter((columns) => marginalSize(sizes, columns) <= most)
    .map((columns) => ({ columns, weight: 1 }));
}

/** Columns of the starting marginals of pairs: household size, and that with every column of the first and of the second. */
const startSets = ({ own: { length: own } }: Household): readonly (readonly number[])[] => [
  [0],
  ...Array.from({ length: 2 * own }, (_, x) => [0, 1 + x]),
];

/**
 * Marginals of pairs expected from the model of people: pairs by household size, and that with every column of the first and of the
 * second.
 */
function startMarginals(household: Household, people: GraphicalModel): readonly NoisyMarginal[] {
  const { members, own } = household;
  const most = people.sizes[members]!;
  const share = (s: number) => Math.floor(s / 2) / s;
  const bySize = (counts: Float64Array, width: number, by: (cell: number) => number) =>
    counts.map((x, cell) => (cell < width * most ? x * share(by(cell) + 1) : 0));
  const single = bySize(people.table([members]), 1, (cell) => cell);
  const sd = Math.max(1, Math.sqrt(sumOf(single)) / 2);
  const tables = own.map((column) => {
    const width = people.sizes[column]!;
    const table = people.table([members, column]);
    // Row-major over columns in increasing order: household size first in either case.
    const turned =
      members < column ? table : Float64Array.from(table, (_, cell) => table[(cell % width) * most + Math.floor(cell / width)]!);
    return bySize(turned, width, (cell) => Math.floor(cell / width));
  });
  const counts = [single, ...tables, ...tables];
  return startSets(household).map((columns, k) => ({ columns, counts: counts[k]!, sd }));
}

/** Model of pairs from everything measured. */
export function pairModel(household: Household, people: GraphicalModel, measured: readonly NoisyMarginal[]): GraphicalModel {
  const start = startMarginals(household, people);
  const sizes = pairLevels(people.sizes, household);
  return modelOf({
    sizes,
    measured: [...start, ...measured],
    total: sumOf(start[0]!.counts),
    impossible: impliedZeros(household),
  });
}

/** At least one, to avoid division by zero. */
const sumOf = (counts: Float64Array): number =>
  Math.max(
    1,
    counts.reduce((a, b) => a + b, 0),
  );
