import { Fault } from '../../../base/errors.js';
import { type Rational, toNumber } from '../../../base/exact/rational.js';
import { firstPosition } from '../../../policy/bins.js';
import { codesOf } from '../../../policy/code.js';
import { declaredCode, declaredCoded, declaredColumn, isCoded, isNumber } from '../../../policy/domain.js';
import { firstAt, gridOf, type NumberGrid } from '../../../policy/grid.js';
import { isReadAsIs } from '../../../policy/number-reading.js';
import type { NumberColumn, Policy } from '../../../policy/policy.js';
import { integerRoot } from '../../../privacy/noise/discrete-gaussian.js';
import type { ClassifyRequest } from './request.js';

/** Features are whole numbers in -unit .. unit, so that gradients add up exactly. */
export const unit = 1024;

/** One entry of the weight vector, described so that anyone can apply it. */
export type WeightTerm =
  /** -1 at the column's lower bound, 1 at its upper one. */
  | { readonly column: string; readonly kind: 'number'; readonly low: number; readonly high: number }
  /** +1 for the first code, -1 for the second. */
  | { readonly column: string; readonly kind: 'sign'; readonly plus: string; readonly minus: string }
  | { readonly column: string; readonly kind: 'level'; readonly level: string }
  /** from <= number < to. */
  | { readonly column: string; readonly kind: 'bin'; readonly from: number | null; readonly to: number | null };

/** Encoding of one declared column: at most one nonzero entry of the vector, of size at most `unit`; none for a missing cell. */
export interface ColumnFeature {
  readonly column: string;
  readonly terms: readonly WeightTerm[];
  /** The entry (within this feature) and value of a cell read as an index (codes) or a grid position (numbers); -1 is missing. */
  readonly entry: (index: number) => number;
  readonly value: (index: number) => number;
  /** The same cell as one of `levels` classes (missing is the last), for scoring how informative the column is. */
  readonly levels: number;
  readonly level: (index: number) => number;
}

export interface FeatureMap {
  readonly features: readonly ColumnFeature[];
  /** 1 (the intercept comes first) + all terms. */
  readonly width: number;
  /** First entry of each feature. */
  readonly start: readonly number[];
  /** Most non-zero entries of a row, intercept included. */
  readonly slots: number;
  /** Whole, and at least the length of every row: a row divided by it has length at most one. */
  readonly radius: number;
  readonly label: { readonly column: string; readonly positive: ReadonlySet<number> };
}

export function mapFeatures(policy: Policy, ask: ClassifyRequest): FeatureMap {
  const repeated = ask.features.find((name, i) => ask.features.indexOf(name) !== i);
  if (repeated !== undefined || ask.features.includes(ask.label))
    throw new Fault(
      'QUERY_INVALID',
      repeated !== undefined ? `The feature "${repeated}" is listed twice.` : `The label "${ask.label}" is also a feature.`,
      'List each feature once, and not the label.',
    );
  return joinFeatures(
    ask.features.map((name) => featureOf(policy, name)),
    labelOf(policy, ask),
  );
}

export function joinFeatures(features: readonly ColumnFeature[], label: FeatureMap['label']): FeatureMap {
  let width = 1;
  const start = features.map((feature) => {
    const at = width;
    width += feature.terms.length;
    return at;
  });
  if (width > 5000)
    throw new Fault('QUERY_UNSUPPORTED', 'The features have more than 5,000 levels.', 'Choose columns with fewer codes.');
  const slots = features.length + 1;
  const square = BigInt(slots) * BigInt(unit) ** 2n;
  const root = integerRoot(square);
  return { features, width, start, slots, radius: Number(root * root === square ? root : root + 1n), label };
}

/** Label column; whether it has two classes is checked against the declared domain, without reading the data. */
function labelOf(policy: Policy, ask: ClassifyRequest): FeatureMap['label'] {
  const column = declaredCoded(policy, ask.label);
  const codes = codesOf(column);
  const positive = new Set(ask.positive.map((code) => codes.indexOf(declaredCode(column, code))));
  if (column.type === 'multi' || positive.size >= codes.length)
    throw new Fault(
      'QUERY_INVALID',
      column.type === 'multi' ? `The label "${ask.label}" can hold several codes at once.` : 'The label has only one class.',
      'Name as positive some, but not all, of the declared codes of a category column.',
    );
  return { column: ask.label, positive };
}

function featureOf(policy: Policy, name: string): ColumnFeature {
  const column = declaredColumn(policy, name);
  if (column.type === 'category') return levelFeature(name, codesOf(column));
  if (isNumber(column)) {
    const grid = gridOf(column);
    if (grid.last < 1)
      throw new Fault(
        'QUERY_INVALID',
        `Column "${name}" has only one value.`,
        'Declare bounds with the low one below the high one.',
      );
    return column.bins && column.bins.length > 0 ? binFeature(column, grid, column.bins) : numberFeature(name, grid);
  }
  throw new Fault(
    'QUERY_INVALID',
    `Column "${name}" is declared as ${column.type}; a feature is a category or a number.`,
    isCoded(column) ? 'Declare its options as columns of their own.' : 'Leave it out.',
  );
}

/** Values of the two codes of a column. */
const signs = [unit, -unit];

function levelFeature(column: string, codes: readonly string[]): ColumnFeature {
  if (codes.length < 2)
    throw new Fault('QUERY_INVALID', `Column "${column}" has only one value.`, 'Leave it out of the features.');
  if (codes.length === 2)
    return {
      column,
      terms: [{ column, kind: 'sign', plus: codes[0]!, minus: codes[1]! }],
      entry: () => 0,
      value: (index) => signs[index] ?? 0,
      levels: 3,
      level: (index) => (index < 0 ? 2 : index),
    };
  return {
    column,
    terms: codes.map((level) => ({ column, kind: 'level', level })),
    entry: (index) => Math.max(0, index),
    value: (index) => (index < 0 ? 0 : unit),
    levels: codes.length + 1,
    level: (index) => (index < 0 ? codes.length : index),
  };
}

/** Number columns without declared bins are scored in eight equal parts of their range. */
const eighths = 8;
const numberFeature = (column: string, grid: NumberGrid): ColumnFeature => ({
  column,
  terms: [{ column, kind: 'number', low: grid.from, high: grid.top }],
  entry: () => 0,
  value: (p) => (p < 0 ? 0 : Math.round(((2 * p - grid.last) / grid.last) * unit)),
  levels: eighths + 1,
  level: (p) => (p < 0 ? eighths : Math.floor((p * eighths) / (grid.last + 1))),
});

function binFeature(declared: NumberColumn, grid: NumberGrid, edges: readonly Rational[]): ColumnFeature {
  const { name: column } = declared;
  const starts = edges.map((edge) => firstPosition(grid, edge));
  // Cut points at the values where cells change bins when read: whoever applies the model has cells, not grid positions.
  const limits = edges.map((edge, k) => (isReadAsIs(declared) ? toNumber(edge) : firstAt(grid, starts[k]!)));
  const entry = (p: number) => starts.filter((s) => p >= s).length;
  return {
    column,
    terms: [null, ...limits].map((from, k) => ({ column, kind: 'bin', from, to: limits[k] ?? null })),
    entry,
    value: (p) => (p < 0 ? 0 : unit),
    levels: edges.length + 2,
    level: (p) => (p < 0 ? edges.length + 1 : entry(p)),
  };
}
