import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import { declaredCategory, declaredColumn, isNumber, levelLabel, levelsOf } from '../../policy/domain.js';
import { gridNumber, gridOf } from '../../policy/grid.js';
import type { Policy } from '../../policy/policy.js';
import type { AdditiveDistribution, NoiseDistribution } from '../../privacy/mechanism/distribution.js';
import { standardDeviation } from '../../privacy/mechanism/half-width.js';
import { sumHalfWidth } from '../../privacy/mechanism/noise-sum.js';
import { isotonic } from '../../privacy/mechanism/ordered/isotonic.js';
import { prefixEstimator } from '../../privacy/mechanism/ordered/prefix-estimator.js';
import { noisedCount, type Strategy } from '../../privacy/mechanism/ordered/strategy.js';
import type { RecordSensitivity } from '../../privacy/mechanism/sensitivity.js';
import { additiveNoise, noisyCounts } from '../answer.js';
import type { NoisyMeasure } from '../bound.js';
import { type Counting, codeKey, type GroupKey, type OrderedMeasure } from '../count/measure.js';
import { orderedSensitivity } from '../count/ordered-sensitivity.js';
import { strategyFor } from '../count/strategies.js';
import { presenceTest } from '../filter.js';
import { maxCells, refuseManyCells } from '../keys.js';
import type { Query } from '../query.js';
import { type BindingScope, type RowSelection, rowCounting, selectRows, withTests } from '../scope.js';

/** Ordered positions of a column: those of its grid, or its codes in their order. */
export interface OrderedPositions {
  readonly key: GroupKey;
  readonly size: number;
  /** The first and the last value at a position. */
  first(position: number): string;
  last(position: number): string;
}

/** Finer grids are read in blocks of several positions. */
const maxPositions = 10_000;

function positionsOf(policy: Policy, name: string): OrderedPositions {
  const column = declaredColumn(policy, name);
  if (isNumber(column)) {
    const grid = gridOf(column);
    const width = Math.ceil((grid.last + 1) / maxPositions);
    const size = Math.floor(grid.last / width) + 1;
    const at = (p: number) => `${toNumber(gridNumber(grid, Math.min(grid.last, p)))}`;
    return {
      key: { kind: 'grid', column: name, width, size },
      size,
      first: (p) => at(p * width),
      last: (p) => at((p + 1) * width - 1),
    };
  }
  const groups = levelsOf(declaredCategory(policy, name));
  const label = (p: number) => levelLabel(groups[p]!);
  return {
    key: codeKey(name, groups),
    size: groups.length,
    first: label,
    last: label,
  };
}

/** Least-squares estimate from noisy numbers, with its error. */
export interface CountEstimate {
  readonly value: number;
  readonly standardError: number;
  readonly halfWidth: number;
}

/** Counts of each group over ordered positions, as released. */
export interface OrderedCounts {
  readonly positions: OrderedPositions;
  readonly groups: readonly (readonly string[])[];
  /** Reads the noisy numbers of a group. */
  read(noisy: readonly NoisyMeasure[]): { group(g: number): GroupEstimates };
  /** Standard error and half width of a sum over positions before any data is read. */
  expectedError(noise: readonly NoiseDistribution<number>[], from: number, to: number): Omit<CountEstimate, 'value'>;
}
export interface GroupEstimates {
  /** Cumulative number of rows before each position, monotone. */
  readonly cumulative: readonly number[];
  /** Rows at positions from `from` up to, but not including, `to`: the least-squares estimate before the monotone fit, with its error. */
  range(from: number, to: number): CountEstimate;
  /** Rows before a position minus that share of all rows. */
  beyond(position: number, part: number): CountEstimate;
}

/** Refuses a distribution that follows from known totals: counting it would release what the data holds, not what was published. */
export function refuseKnownTotals({ known }: Policy, sensitivity: RecordSensitivity, column: string): void {
  if (known && sensitivity.size === 0)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This distribution follows from totals that everybody knows.',
      `Ask a count by ${column}: it is released as it was published, free.`,
    );
}

type OrderedQuery = Pick<Query, 'where' | 'by' | 'weight'> & { readonly column: string };

/** Counting of a query before it is bound to a measure. */
export interface OrderedCounting {
  readonly rows: RowSelection;
  readonly positions: OrderedPositions;
  readonly counting: Counting;
  readonly strategy: Strategy;
  readonly sensitivity: RecordSensitivity;
}
export function orderedCounting(query: OrderedQuery, scope: BindingScope): OrderedCounting {
  if (query.weight !== undefined)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Distributions are counted in rows, without weights.',
      'Leave out "weight", or ask for a weighted histogram.',
    );
  const { policy } = scope;
  const rows = withTests(selectRows(policy, query), presenceTest(query.column));
  const positions = positionsOf(policy, query.column);
  refuseManyCells(rows.cells.length * positions.size, 'The distributions need', 'counters', maxCells);
  const counting = scope.counting(rowCounting(rows, positions.key));
  const strategy = strategyFor(policy, counting);
  refuseManyCells(rows.cells.length * noisedCount(strategy), 'The distributions need', 'noisy numbers', maxCells);
  const sensitivity = orderedSensitivity(policy, counting, strategy);
  refuseKnownTotals(policy, sensitivity, query.column);
  return { rows, positions, counting, strategy, sensitivity };
}

/** Binds a query to its measure of ordered counts; cdf and ranges of the same rows share it. */
export function orderedCounts(query: OrderedQuery, scope: BindingScope, ordering = orderedCounting(query, scope)): OrderedCounts {
  const { rows, positions, counting, strategy, sensitivity } = ordering;
  const groups = rows.cells;
  const numbers = noisedCount(strategy);
  const measure: OrderedMeasure = {
    mechanism: 'ordered',
    name: `distribution of ${query.column}`,
    cells: groups.flatMap((keys) => new Array<readonly string[]>(numbers).fill(keys)),
    strategy,
    sensitivity,
    counting,
  };
  const index = scope.ordered(measure);
  const reading = prefixEstimator(strategy);
  const { size } = strategy;
  const errorOf = (distribution: AdditiveDistribution<number>, variance: number): Omit<CountEstimate, 'value'> => ({
    standardError: standardDeviation(distribution) * Math.sqrt(variance),
    halfWidth: distribution.kind === 'none' ? 0 : sumHalfWidth(distribution, variance),
  });
  return {
    positions,
    groups,
    read: (noisy) => {
      const found = noisyCounts(noisy, index);
      const distribution = found.noise;
      return {
        group: (g) => {
          const raw = reading.prefixes(found.values.slice(g * numbers, (g + 1) * numbers).map(Number));
          return {
            // The nearest monotone sequence, cut at 0, is the nearest among those that are monotone and non-negative.
            cumulative: isotonic(raw).map((x) => Math.max(0, x)),
            range: (from, to) => ({ value: raw[to]! - raw[from]!, ...errorOf(distribution, reading.variance(from, to)) }),
            beyond: (position, part) => {
              const [below, above] = [reading.variance(0, position), reading.variance(position, size)];
              const both = (reading.variance(0, size) - below - above) / 2;
              const variance = (1 - part) ** 2 * below + part ** 2 * above - 2 * part * (1 - part) * both;
              return { value: raw[position]! - part * raw[size]!, ...errorOf(distribution, Math.max(0, variance)) };
            },
          };
        },
      };
    },
    expectedError: (noise, from, to) => errorOf(additiveNoise(noise, index), reading.variance(from, to)),
  };
}

/** Interval of a count: the monotone value with the least-squares interval, widened to contain it and cut at 0. */
export const countInterval = (value: number, { value: raw, standardError, halfWidth: half }: CountEstimate) => ({
  value,
  standardError,
  low: Math.max(0, Math.min(raw - half, value)),
  high: Math.max(raw + half, value),
});
