import { Fault } from '../../../base/errors.js';
import { rational } from '../../../base/exact/rational.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import type { Policy } from '../../../policy/policy.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import { type ExponentialMechanism, exponentialMechanism } from '../../../privacy/mechanism/exponential-mechanism.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import { streamIndices } from '../../../query/count/stream.js';
import { independenceDistance, scoreGrid } from '../network/score-grid.js';
import { oneRowEach } from '../public-size.js';
import { perRecordSensitivity } from '../record-sensitivity.js';
import type { ColumnFeature, FeatureMap } from './features.js';

/** A paid selection of features before training. */
export interface FeatureChoice {
  readonly mechanisms: readonly ExponentialMechanism[];
  readonly choose: (engine: Snapshot, payment: Payment) => Promise<readonly ColumnFeature[]>;
}

export interface ChoiceTerms {
  readonly keep: number;
  readonly records: number;
}

/**
 * Features of high relevance to the label and low redundancy, picked one at a time by the exponential mechanism: fewer, less
 * correlated columns have less sensitivity. Guarantee in select.proof.md.
 */
export function featureChoice(policy: Policy, map: FeatureMap, budgetShare: BudgetShare, terms: ChoiceTerms): FeatureChoice {
  const { keep, records } = terms;
  if (keep > map.features.length)
    throw new Fault(
      'QUERY_INVALID',
      'More features are to be kept than there are.',
      'Keep fewer, or list more features to choose from.',
    );
  if (!oneRowEach(policy))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Features can be selected only when a record is one row.',
      'Leave out "select", or declare maxRows: 1, without pairs.',
    );
  const steps = choiceMechanisms(keep, records, budgetShare);
  return {
    mechanisms: [...new Set(steps)],
    choose: async (engine, payment) => {
      const tables = await pairCounts(engine, policy, map);
      return pickFeatures(map.features.length, steps, payment, scoresOf(tables, records)).map((f) => map.features[f]!);
    },
  };
}

/**
 * Sequential choices with equal parts of the budget. The first depends on the label only, so its sensitivity is smaller
 * (select.proof.md).
 */
export function choiceMechanisms(keep: number, records: number, budgetShare: BudgetShare): ExponentialMechanism[] {
  const { reach } = scoreGrid(records);
  const made = (name: string, cells: number, moved: bigint): ExponentialMechanism => {
    const many = BigInt(cells);
    const sensitivity = perRecordSensitivity({ l1: many * moved, l2squared: many * moved * moved });
    return exponentialMechanism({ name, cells, sensitivity }, splitShare(budgetShare, rational(cells, keep)));
  };
  const first = made('choice of features', 1, reach);
  if (keep === 1) return [first];
  return [
    first,
    ...new Array<ExponentialMechanism>(keep - 1).fill(made('choice of features after the first', keep - 1, 2n * reach + 1n)),
  ];
}

/** Distance of two columns from independence, in units of the public grid; column 0 is the label. */
interface PairScores {
  readonly of: (i: number, j: number) => bigint;
  /** Upper bound of any score, whatever the rows. */
  readonly most: bigint;
}

export function scoresOf(tables: PairCounts, records: number): PairScores {
  // The sensitivity holds for this public number of rows; another number means that the data is being written to.
  if (tables.rows !== records) throw new RangeError('the number of records has changed');
  const { unit, most } = scoreGrid(records);
  return {
    of: (i, j) => {
      const [a, b] = i > j ? [i, j] : [j, i];
      return independenceDistance(Array.from(tables.tables[a]![b]!, BigInt), tables.levels[b]!, records) / unit;
    },
    most,
  };
}

export function pickFeatures(
  features: number,
  steps: readonly ExponentialMechanism[],
  payment: Payment,
  score: PairScores,
): number[] {
  const left = Array.from({ length: features }, (_, f) => f);
  const kept: number[] = [];
  for (const step of steps) {
    const penalties = left.map((f) => {
      const shared = kept.reduce((s, g) => s + score.of(f + 1, g + 1), 0n);
      return score.most - score.of(f + 1, 0) + (kept.length > 0 ? shared / BigInt(kept.length) : 0n);
    });
    kept.push(...left.splice(step.choose(payment, penalties), 1));
  }
  return kept.sort((a, b) => a - b);
}

/** Counts of every pair of columns; column 0 is the label. */
interface PairCounts {
  readonly rows: number;
  readonly levels: readonly number[];
  readonly tables: readonly (readonly Float64Array[])[];
}

export function tallyPairs(levels: readonly number[]): PairCounts & { add(row: ArrayLike<number>): void } {
  const tables = levels.map((a, i) => levels.slice(0, i).map((b) => new Float64Array(a * b)));
  const tally = {
    rows: 0,
    levels,
    tables,
    add: (row: ArrayLike<number>) => {
      tally.rows++;
      for (let i = 0; i < levels.length; i++) for (let j = 0; j < i; j++) tables[i]![j]![row[i]! * levels[j]! + row[j]!]! += 1;
    },
  };
  return tally;
}

async function pairCounts(engine: Snapshot, policy: Policy, map: FeatureMap): Promise<PairCounts> {
  const level = [
    (x: number) => (x < 0 ? 2 : Number(map.label.positive.has(x))),
    ...map.features.map((f) => (x: number) => f.level(x)),
  ];
  const tally = tallyPairs([3, ...map.features.map((f) => f.levels)]);
  const codes = new Int32Array(level.length);
  for await (const part of streamIndices(engine, policy, [map.label.column, ...map.features.map((f) => f.column)])) {
    const { rows, columns } = part.open();
    for (let r = 0; r < rows; r++) {
      for (let i = 0; i < codes.length; i++) codes[i] = level[i]!(columns[i]![r]!);
      tally.add(codes);
    }
  }
  return tally;
}
