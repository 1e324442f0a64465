import type { Rational } from '../../base/exact/rational.js';
import type { Snapshot } from '../../data/engine/engine.js';
import { cellCount } from '../../policy/domain.js';
import type { Policy } from '../../policy/policy.js';
import type { AdditiveMechanism } from '../../privacy/mechanism/additive.js';
import type { ExponentialMechanism } from '../../privacy/mechanism/exponential-mechanism.js';
import type { CellForest } from '../../privacy/mechanism/ordered/forest.js';
import type { Strategy } from '../../privacy/mechanism/ordered/strategy.js';
import type { RecordSensitivity } from '../../privacy/mechanism/sensitivity.js';
import type { DerivedColumn } from './derived.js';
import { columnsTested, type RowTest } from './row-test.js';

/**
 * A measure is a vector of exact integers to be noised; a bound query is measures plus a way to finish them into a table.
 * answer = (exact integer + discrete noise) x grid.
 */
export interface SumMeasure {
  readonly mechanism: 'additive';
  readonly name: string;
  /** One integer per cell; the labels say what it is, e.g. ["rep", "(missing)"]. */
  readonly cells: readonly (readonly string[])[];
  /** Value of one integer unit in the answer. */
  readonly grid: Rational;
  /**
   * Sensitivity to replacing one record of a class, in integer units; absent classes do not change the measure.
   * A measure without classes depends on no secret (the number of rows when the secret is an answer) and needs no noise.
   */
  readonly sensitivity: RecordSensitivity;
  readonly counting: Counting;
  readonly countedView?: CountedView;
  /** Published numbers, returned unchanged whatever the data holds; only for measures without classes. */
  readonly published?: readonly bigint[];
  /** Number of the batch's tables that use every cell of it; 1 when absent. Used to divide the budget, not for costs. */
  readonly tables?: number;
  /**
   * Weight when the budget is divided, as a number of cells; the cells it has when absent.
   * Lower for measures that only determine how certain an answer is.
   */
  readonly worth?: number;
}

/**
 * Quantiles: the exponential mechanism over finite public candidates, once per group, P(candidate) ~ exp(-sharpness x penalty).
 * Counts are per group and candidate (candidate fastest); `sensitivity` and cost: sensitivity.proof.md, Quantiles.
 */
export interface SelectionMeasure {
  readonly mechanism: 'exponential';
  readonly name: string;
  /** Labels of the groups; one group with no label when there are no keys. */
  readonly cells: readonly (readonly string[])[];
  readonly candidates: readonly Rational[];
  readonly sensitivity: RecordSensitivity;
  /** Integer penalties (0 is best) of one group's candidates from its counts. */
  readonly penalties: (at: readonly bigint[]) => bigint[];
  /** Rule from counts to penalties: measures with one rule have the same penalties. */
  readonly rule: string;
  /** Penalty units per row of rank error. */
  readonly perRank: number;
  readonly counting: Counting;
  readonly countedView?: CountedView;
}
/**
 * Counts over ordered positions, from which a strategy forms noised sums: prefix counts and trees, or sums along a forest of cells.
 * Counts are per group and position (position fastest); the noised numbers are those of the strategy, group by group.
 */
export interface OrderedMeasure {
  readonly mechanism: 'ordered';
  readonly name: string;
  /** One label for each noised number, with the label of its group. */
  readonly cells: readonly (readonly string[])[];
  readonly strategy: Strategy | CellForest;
  /** Sensitivity of the noised numbers to replacing one record. */
  readonly sensitivity: RecordSensitivity;
  readonly counting: Counting;
  readonly countedView?: CountedView;
}
/** View whose rows a measure counts instead of the data's own, as one more `fugu_data`. */
export interface CountedView {
  /** Declarations for the rows of the view. */
  readonly policy: Policy;
  /** Two views with one text have the same rows of the same data. */
  readonly text: string;
  /** Tables that it reads in addition to the data. */
  readonly tables: readonly string[];
  over(engine: Snapshot): Snapshot;
}
export type Measure = SumMeasure | SelectionMeasure | OrderedMeasure;
/** Mechanism that releases a measure. */
export type MechanismOf<M extends Measure = Measure> = M extends SumMeasure | OrderedMeasure
  ? AdditiveMechanism
  : M extends SelectionMeasure
    ? ExponentialMechanism
    : never;

/** Label of the rows whose combination of answers is none of the allowed ones. */
export const otherLabel = '(other)';

/**
 * Counting of exact integers, in any dialect: rows are bounded to `maxRows` per person, then filtered, keyed and valued.
 * A number is read on its public grid only: position p = 0..last is bounds[0] + p x step (policy/grid.ts).
 */
export interface Counting {
  readonly filter: readonly RowTest[];
  /** Each key maps a row to one of `size` positions; the cell index is the mixed-radix number of the positions (last key fastest). */
  readonly keys: readonly GroupKey[];
  /** Contribution of a row to its cell. */
  readonly value: RowValue;
  /** Derived columns among those named above, each after the ones it needs. */
  readonly derived?: readonly DerivedColumn[];
}
export type GroupKey =
  | CategoryKey
  /** Number of `edges` (grid positions, increasing) that the grid position reaches; missing is the last position. */
  | { readonly kind: 'bin'; readonly column: string; readonly edges: readonly number[]; readonly size: number }
  /** floor(grid position / width); missing drops the row. */
  | { readonly kind: 'grid'; readonly column: string; readonly width: number; readonly size: number }
  /** A multi-select row adds to every option it names; options first, then missing. */
  | { readonly kind: 'options'; readonly column: string; readonly codes: readonly string[]; readonly size: number }
  | JointKey;
/** Position of the first group that has the code (one of the codes); missing is the last position, or drops the row. */
export interface CategoryKey {
  readonly kind: 'code';
  readonly column: string;
  readonly groups: readonly (readonly string[])[];
  readonly missing: 'cell' | 'drop';
  readonly size: number;
}
export const codeKey = (
  column: string,
  groups: CategoryKey['groups'],
  missing: CategoryKey['missing'] = 'drop',
): CategoryKey => ({ kind: 'code', column, groups, missing, size: groups.length + (missing === 'cell' ? 1 : 0) });
/** Place of the row's combination of positions in `support`; any other combination is the last position. */
export interface JointKey {
  readonly kind: 'joint';
  readonly keys: readonly CategoryKey[];
  readonly support: readonly (readonly number[])[];
  readonly size: number;
}
/** A key that gives every row one place, or none. */
export type Axis = Exclude<GroupKey, { kind: 'options' | 'joint' }>;
export const columnsOfKey = (key: GroupKey): readonly string[] =>
  key.kind === 'joint' ? key.keys.map(({ column }) => column) : [key.column];
export type RowValue =
  | { readonly kind: 'one' }
  /** The weight in its integer units; missing adds nothing. */
  | { readonly kind: 'weight'; readonly weight: string }
  /** (u - origin)^power - shift for the number u in its integer units, times the weight; missing adds nothing. */
  | {
      readonly kind: 'number';
      readonly column: string;
      readonly power: 1 | 2;
      readonly origin: bigint;
      readonly shift: bigint;
      readonly weight?: string;
    }
  /** Number of different values of a column, or of persons, in the rows of a cell: not a sum, but a row changes it by at most 1. */
  | { readonly kind: 'distinct'; readonly column?: string };

export const weightColumn = (value: RowValue): string | undefined => ('weight' in value ? value.weight : undefined);
/** The columns a value names. */
export const valueColumns = (value: RowValue): readonly string[] =>
  ['column' in value ? value.column : undefined, weightColumn(value)].filter((name) => name !== undefined);
/** The declared columns behind a name. */
export const declaredBases = ({ derived }: Pick<Counting, 'derived'>, name: string): readonly string[] =>
  derived?.find((column) => column.name === name)?.bases ?? [name];
/** The declared columns a counting reads. */
export const columnsOf = (counting: Counting): readonly string[] => [
  ...new Set(namesIn(counting).flatMap((name) => declaredBases(counting, name))),
];
/** The columns a counting names, derived ones as such. */
export const namesIn = ({ filter, keys, value }: Counting): readonly string[] => [
  ...new Set([...columnsTested(filter), ...keys.flatMap(columnsOfKey), ...valueColumns(value)]),
];
export const columnsRead = (measures: readonly Measure[]): readonly string[] => [
  ...new Set(measures.flatMap(({ counting }) => columnsOf(counting))),
];
export const numberOfCells = ({ keys }: Counting): number => cellCount(keys);

/** Two values with one text are one. */
export function stableText(value: unknown): string {
  try {
    // Without a replacer it is several times faster, and equal where there is no bigint.
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : v));
  }
}
/** Text of everything that measures count under a policy: cells, declarations of the columns read, and the strategy of ordered counts. */
export const countedText = (measures: readonly Measure[], policy: Policy): string =>
  stableText(
    measures.map((m) => [
      m.counting,
      columnsOf(m.counting).map((name) => (m.countedView?.policy ?? policy).columns.get(name)),
      ...(m.countedView ? [m.countedView.text] : []),
      ...(m.mechanism === 'ordered' ? [m.strategy] : []),
    ]),
  );
