import type { Rational } from '../../base/exact/rational.js';
import type { Pinned } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import type { Additive } from '../../privacy/mechanism/additive.js';
import type { Effects } from '../../privacy/mechanism/effect.js';
import type { Forest } from '../../privacy/mechanism/ordered/forest.js';
import type { Strategy } from '../../privacy/mechanism/ordered/strategy.js';
import type { Selection } from '../../privacy/mechanism/select.js';
import type { DerivedColumn } from './derived.js';
import { columnsTested, type RowTest } from './row-test.js';

/**
 * A measure is what is noised: a vector of exact integers. A bound query is one or more measures plus a way to finish them into a table.
 * answer = (exact integer + discrete noise) x grid.
 */
export interface CountedMeasure {
  readonly mechanism: 'additive';
  readonly name: string;
  /** One integer per cell; the labels say what it is, e.g. ["rep", "(missing)"]. */
  readonly cells: readonly (readonly string[])[];
  /** What one integer unit is worth in the answer. */
  readonly grid: Rational;
  /**
   * Effect of replacing one record of a class, in integer units. Classes that are absent do not move the measure;
   * a measure without classes depends on no secret (the number of rows when the secret is an answer) and needs no noise.
   */
  readonly effects: Effects;
  readonly counting: Counting;
  readonly seen?: Seen;
  /** Numbers that are published: told as they are, whatever the data holds. Only of what needs no noise. */
  readonly published?: readonly bigint[];
  /** How many of the batch's tables are read off it, every cell entering each of them; 1 when absent. For sharing the budget, not for costs. */
  readonly tables?: number;
  /** What it counts for where the budget is shared, as a number of cells; as many as it has when absent. Less for what tells only how sure an answer is. */
  readonly worth?: number;
}

/**
 * Chosen by the exponential mechanism among finite public candidates, once per group: quantiles.
 * Counting gives, for each group and candidate (candidate fastest), the rows at the candidate; P(candidate) ~ exp(-sharpness x penalty).
 * With d_g = how far one record moves any penalty of group g, `effects` bounds sum d_g (l1) and sum d_g^2 (l2squared) over the groups;
 * the release is then 2 x sharpness x l1 pure, and sharpness^2 x l2squared / 2 in zCDP (an epsilon-DP selection is epsilon^2/8-zCDP).
 */
export interface SelectedMeasure {
  readonly mechanism: 'exponential';
  readonly name: string;
  /** Labels of the groups; one group with no label when there are no keys. */
  readonly cells: readonly (readonly string[])[];
  readonly candidates: readonly Rational[];
  readonly effects: Effects;
  /** Integer penalties (0 is best) of one group's candidates from its counts. */
  readonly penalties: (at: readonly bigint[]) => bigint[];
  /** What its penalties are of counts: two with one rule have the same. */
  readonly rule: string;
  /** Penalty units per row of rank error. */
  readonly perRank: number;
  readonly counting: Counting;
  readonly seen?: Seen;
}
/**
 * Counts over positions in a row, of which sums are noised that a strategy names: whole multiples of prefix counts and of trees, or the sums along a forest of cells. Counting gives, for each group, the rows at each position
 * (position fastest); what is noised are the numbers of the strategy, group by group.
 */
export interface OrderedMeasure {
  readonly mechanism: 'ordered';
  readonly name: string;
  /** One for each number that is noised, with the label of its group. */
  readonly cells: readonly (readonly string[])[];
  readonly strategy: Strategy | Forest;
  /** Of replacing one record, on the numbers that are noised. */
  readonly effects: Effects;
  readonly counting: Counting;
  readonly seen?: Seen;
}
/** Whose rows a measure counts, where those are not the data's own: a view over the tables, as one more `fugu_data`. */
export interface Seen {
  /** What is declared of its rows. */
  readonly policy: Policy;
  /** Two views with one text have the same rows of the same data. */
  readonly text: string;
  /** The tables beside the data that it reads. */
  readonly tables: readonly string[];
  over(engine: Pinned): Pinned;
}
export type Measure = CountedMeasure | SelectedMeasure | OrderedMeasure;
/** The mechanism that lets a measure out. */
export type MechanismOf<M extends Measure = Measure> = M extends CountedMeasure | OrderedMeasure
  ? Additive
  : M extends SelectedMeasure
    ? Selection
    : never;

/** Label of the rows whose combination of answers is none of the allowed ones. */
export const otherLabel = '(other)';

/**
 * How the exact integers are obtained, independent of any dialect; query/count/rows-to-groups.ts and groups-to-cells.ts turn it into SQL, query/count/rows.ts into a streaming count.
 * Rows are first cut to `maxRows` per person, then filtered, then keyed, then valued.
 * A number column is read through its public grid only: position p = 0..last stands for bounds[0] + p x step (policy/grid.ts).
 */
export interface Counting {
  readonly filter: readonly RowTest[];
  /** Each key maps a row to one of `size` positions; the cell index is the mixed-radix number of the positions (last key fastest). */
  readonly keys: readonly RowKey[];
  /** What a row adds to its cell. */
  readonly value: RowValue;
  /** The columns among those named above that are worked out from declared ones, each after those that it needs. */
  readonly derived?: readonly DerivedColumn[];
}
export type RowKey =
  | CodeKey
  /** How many of `edges` (grid positions, increasing) the grid position reaches; missing is the last position. */
  | { readonly kind: 'bin'; readonly column: string; readonly edges: readonly number[]; readonly size: number }
  /** floor(grid position / width); missing drops the row. */
  | { readonly kind: 'grid'; readonly column: string; readonly width: number; readonly size: number }
  /** A multi-select row adds to every option it names; options first, then missing. */
  | { readonly kind: 'options'; readonly column: string; readonly codes: readonly string[]; readonly size: number }
  | JointKey;
/** Position of the first group that has the code (one of the codes); missing is the last position, or drops the row. */
export interface CodeKey {
  readonly kind: 'code';
  readonly column: string;
  readonly groups: readonly (readonly string[])[];
  readonly missing: 'cell' | 'drop';
  readonly size: number;
}
/** Place of the row's combination of positions in `support`; any other combination is the last position. */
export interface JointKey {
  readonly kind: 'joint';
  readonly keys: readonly CodeKey[];
  readonly support: readonly (readonly number[])[];
  readonly size: number;
}
/** A key that gives every row one place, or none. */
export type Axis = Exclude<RowKey, { kind: 'options' | 'joint' }>;
export const columnsOfKey = (key: RowKey): readonly string[] =>
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
  /** How many different values of a column the rows of a cell hold, or of how many persons they are: no sum, but a row moves it by no more than one. */
  | { readonly kind: 'distinct'; readonly column?: string };

export const weightOf = (value: RowValue): string | undefined => ('weight' in value ? value.weight : undefined);
/** The declared columns behind a name. */
export const basesOf = ({ derived }: Pick<Counting, 'derived'>, name: string): readonly string[] =>
  derived?.find((column) => column.name === name)?.bases ?? [name];
/** The declared columns a counting reads. */
export const columnsOf = (counting: Counting): readonly string[] =>
  counting.derived === undefined ? namesIn(counting) : [...new Set(namesIn(counting).flatMap((name) => basesOf(counting, name)))];
/** The columns a counting names, derived ones as such. */
export function namesIn({ filter, keys, value }: Counting): readonly string[] {
  const names = [...columnsTested(filter), ...keys.flatMap(columnsOfKey)];
  if ('column' in value && value.column !== undefined) names.push(value.column);
  const weight = weightOf(value);
  if (weight !== undefined) names.push(weight);
  return [...new Set(names)];
}
export const columnsRead = (measures: readonly Measure[]): readonly string[] => [
  ...new Set(measures.flatMap(({ counting }) => columnsOf(counting))),
];
export const cellCount = ({ keys }: Counting): number => keys.reduce((n, key) => n * key.size, 1);

/** Two values with one text are one. */
export function textOf(value: unknown): string {
  try {
    // Without a replacer it is several times quicker, and the same where there is no bigint.
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : v));
  }
}
/** What measures count under a policy: the cells, what is declared of the columns they read, and what is noised of it where that is not the cells. */
export const countedText = (measures: readonly Measure[], policy: Policy): string =>
  textOf(
    measures.map((m) => [
      m.counting,
      columnsOf(m.counting).map((name) => (m.seen?.policy ?? policy).columns.get(name)),
      ...(m.seen ? [m.seen.text] : []),
      ...(m.mechanism === 'ordered' ? [m.strategy] : []),
    ]),
  );
