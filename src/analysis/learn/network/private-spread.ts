import { levelCount, type PairTables, pairTableCells } from '../../../privacy/dependence/pairwise/pair-tables.js';
import { type AdditiveMechanism, additiveMechanism } from '../../../privacy/mechanism/additive.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import { perRecordSensitivity } from '../record-sensitivity.js';

/** Parameters fixed before any row is read. */
export interface SpreadTerms {
  /** Rows an answer must have to be covered in full. */
  readonly least: number;
  /** Failure probability of the sampled tables. */
  readonly failure: number;
  /** Sets of rows that public columns distinguish, empty ones included. */
  readonly strata: number;
}

/** log(events / failure): every unordered pair of answers to a column, in every stratum, from both sides. */
function logEvents(levels: readonly number[], { failure, strata }: SpreadTerms): number {
  const pairs = levels.reduce((sum, v) => sum + (v * (v - 1)) / 2, 0);
  return Math.log((2 * strata * Math.max(pairs, 1)) / failure);
}

/** Sensitivity of `worstSpread`: (2 + 4 radius)/least, with the radius of a sample of `least` rows (private-spread.proof.md). */
export function spreadSensitivity(levels: readonly number[], terms: SpreadTerms): number {
  return (2 + 4 * Math.sqrt(logEvents(levels, terms) / (2 * terms.least))) / terms.least;
}

/**
 * Maximum over pairs of answers of the mean total variation distance TV(P(x_j | a), P(x_j | b)) over the other columns, plus its
 * sampling radius; answers below `least` rows are faded out. In [0, 1], with small sensitivity.
 */
export function worstSpread(strata: readonly PairTables[], terms: SpreadTerms): number {
  const { levels } = strata[0]!;
  const log = logEvents(levels, terms);
  const radius = (rows: number): number => Math.sqrt(log / (2 * Math.max(rows, terms.least)));
  const weight = (rows: number): number => Math.min(1, rows / terms.least);
  let worst = 0;
  for (const tables of strata)
    levels.forEach((v, i) => {
      for (let a = 0; a < v; a++)
        for (let b = 0; b < a; b++) {
          const [na, nb] = [levelCount(tables, i, a), levelCount(tables, i, b)];
          const most = weight(na) * weight(nb);
          if (most <= worst) continue;
          worst = Math.max(worst, most * Math.min(1, meanDistance(tables, i, a, b) + radius(na) + radius(nb)));
        }
    });
  return worst;
}

/** Units of one: the spread is published as a whole number of these. */
export const spreadUnits = 2 ** 20;

export const wholeSpread = (strata: readonly PairTables[], terms: SpreadTerms): bigint =>
  BigInt(Math.floor((strata.length > 0 ? worstSpread(strata, terms) : 0) * spreadUnits));

/** One row is one record. Rounding down and double arithmetic may add two units to the sensitivity. */
export function spreadNoise(levels: readonly number[], terms: SpreadTerms, budgetShare: BudgetShare): AdditiveMechanism {
  const reach = BigInt(Math.ceil(spreadUnits * spreadSensitivity(levels, terms) * (1 + 1e-9)) + 2);
  return additiveMechanism(
    {
      name: 'spread',
      cells: 1,
      sensitivity: perRecordSensitivity({ l1: reach, l2squared: reach * reach }),
      unit: 1 / spreadUnits,
    },
    budgetShare,
  );
}

/** Mean over the other columns of the total variation distance between the answers of the two groups of rows. */
function meanDistance(tables: PairTables, i: number, a: number, b: number): number {
  const [na, nb] = [levelCount(tables, i, a), levelCount(tables, i, b)];
  const cells = pairTableCells(tables);
  const [first, second] = [(tables.start[i]! + a) * cells, (tables.start[i]! + b) * cells];
  let sum = 0;
  const add = (from: number, to: number): void => {
    for (let c = from; c < to; c++) sum += Math.abs(tables.counts[first + c]! / na - tables.counts[second + c]! / nb);
  };
  add(0, tables.start[i]!);
  add(tables.start[i + 1]!, cells);
  return sum / 2 / Math.max(tables.levels.length - 1, 1);
}
