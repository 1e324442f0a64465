import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import { categoryNamed, columnNamed, isNumber, levelLabel, levelsOf } from '../../policy/domain.js';
import { gridOf, numberAt } from '../../policy/grid.js';
import type { Policy } from '../../policy/policy.js';
import type { Effects } from '../../privacy/mechanism/effect.js';
import type { AdditiveLaw, Law } from '../../privacy/mechanism/law.js';
import { sumHalf } from '../../privacy/mechanism/law-sum.js';
import { deviation } from '../../privacy/mechanism/law-width.js';
import { isotonic } from '../../privacy/mechanism/ordered/isotonic.js';
import { readingOf } from '../../privacy/mechanism/ordered/reading.js';
import { numbersOf, type Strategy } from '../../privacy/mechanism/ordered/strategy.js';
import type { NoisyMeasure } from '../bound.js';
import { orderedEffects } from '../count/effects.js';
import type { Counting, OrderedMeasure, RowKey } from '../count/measure.js';
import { strategyFor } from '../count/strategies.js';
import { present } from '../filter.js';
import { mostCells, refuseManyCells } from '../keys.js';
import type { Query } from '../query.js';
import { only, type Rows, rowsOf, type Scope } from '../scope.js';

/** Ordered positions of a column: those of its grid, or its codes in their order. */
export interface Positions {
  readonly key: RowKey;
  readonly size: number;
  /** The first and the last value at a position. */
  first(position: number): string;
  last(position: number): string;
}

/** Finer grids are read in blocks of several positions. */
const mostPositions = 10_000;

function positionsOf(policy: Policy, name: string): Positions {
  const column = columnNamed(policy, name);
  if (isNumber(column)) {
    const grid = gridOf(column);
    const width = Math.ceil((grid.last + 1) / mostPositions);
    const size = Math.floor(grid.last / width) + 1;
    const at = (p: number) => `${toNumber(numberAt(grid, Math.min(grid.last, p)))}`;
    return {
      key: { kind: 'grid', column: name, width, size },
      size,
      first: (p) => at(p * width),
      last: (p) => at((p + 1) * width - 1),
    };
  }
  const groups = levelsOf(categoryNamed(policy, name));
  const label = (p: number) => levelLabel(groups[p]!);
  return {
    key: { kind: 'code', column: name, groups, missing: 'drop', size: groups.length },
    size: groups.length,
    first: label,
    last: label,
  };
}

/** Least-squares estimate from noisy numbers, with its error. */
export interface Read {
  readonly value: number;
  readonly standardError: number;
  readonly half: number;
}

/** Counts of each group over ordered positions, as released. */
export interface OrderedCounts {
  readonly positions: Positions;
  readonly groups: readonly (readonly string[])[];
  /** Reads the noisy numbers of a group. */
  read(noisy: readonly NoisyMeasure[]): { group(g: number): GroupRead };
  /** Standard error and half width of a sum over positions before any data is read. */
  foresee(noise: readonly Law<number>[], from: number, to: number): Omit<Read, 'value'>;
}
export interface GroupRead {
  /** Cumulative number of rows before each position, monotone. */
  readonly told: readonly number[];
  /** Rows at positions from `from` up to, but not including, `to`: the least-squares estimate before the monotone fit, with its error. */
  range(from: number, to: number): Read;
  /** Rows before a position minus that share of all rows. */
  beyond(position: number, part: number): Read;
}

/** Refuses a distribution that follows from known totals: counting it would release what the data holds, not what was published. */
export function refuseKnown({ known }: Policy, effects: Effects, column: string): void {
  if (known && effects.size === 0)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This distribution follows from totals that everybody knows.',
      `Ask a count by ${column}: it is told as it was published, for nothing.`,
    );
}

type Asked = Pick<Query, 'where' | 'by' | 'weight'> & { readonly column: string };

/** Counting of a query before it is bound to a measure. */
export interface Ordering {
  readonly rows: Rows;
  readonly positions: Positions;
  readonly counting: Counting;
  readonly strategy: Strategy;
  readonly effects: Effects;
}
export function orderingOf(query: Asked, scope: Scope): Ordering {
  if (query.weight !== undefined)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Distributions are counted in rows, without weights.',
      'Leave out "weight", or ask for a weighted histogram.',
    );
  const { policy } = scope;
  const rows = only(rowsOf(policy, query), present(query.column));
  const positions = positionsOf(policy, query.column);
  refuseManyCells(rows.cells.length * positions.size, 'The distributions need', 'counters', mostCells);
  const counting = scope.counting({
    filter: rows.filter,
    keys: [...rows.keys.map(({ key }) => key), positions.key],
    value: { kind: 'one' },
  });
  const strategy = strategyFor(policy, counting);
  refuseManyCells(rows.cells.length * numbersOf(strategy), 'The distributions need', 'noisy numbers', mostCells);
  const effects = orderedEffects(policy, counting, strategy);
  refuseKnown(policy, effects, query.column);
  return { rows, positions, counting, strategy, effects };
}

/** Binds a query to its measure of ordered counts; cdf and ranges of the same rows share it. */
export function orderedCounts(query: Asked, scope: Scope, ordering = orderingOf(query, scope)): OrderedCounts {
  const { rows, positions, counting, strategy, effects } = ordering;
  const groups = rows.cells;
  const numbers = numbersOf(strategy);
  const measure: OrderedMeasure = {
    mechanism: 'ordered',
    name: `distribution of ${query.column}`,
    cells: groups.flatMap((keys) => new Array<readonly string[]>(numbers).fill(keys)),
    strategy,
    effects,
    counting,
  };
  const index = scope.ordered(measure);
  const reading = readingOf(strategy);
  const { size } = strategy;
  const errorOf = (law: AdditiveLaw<number>, variance: number): Omit<Read, 'value'> => ({
    standardError: deviation(law) * Math.sqrt(variance),
    half: law.kind === 'none' ? 0 : sumHalf(law, variance),
  });
  return {
    positions,
    groups,
    read: (noisy) => {
      const found = noisy[index];
      if (!found || !('values' in found)) throw new RangeError(`measure ${index} has no numbers`);
      const law = found.noise;
      return {
        group: (g) => {
          const raw = reading.prefixes(found.values.slice(g * numbers, (g + 1) * numbers).map(Number));
          return {
            // The nearest monotone sequence, cut at 0, is the nearest among those that are monotone and non-negative.
            told: isotonic(raw).map((x) => Math.max(0, x)),
            range: (from, to) => ({ value: raw[to]! - raw[from]!, ...errorOf(law, reading.variance(from, to)) }),
            beyond: (position, part) => {
              const [below, above] = [reading.variance(0, position), reading.variance(position, size)];
              const both = (reading.variance(0, size) - below - above) / 2;
              const variance = (1 - part) ** 2 * below + part ** 2 * above - 2 * part * (1 - part) * both;
              return { value: raw[position]! - part * raw[size]!, ...errorOf(law, Math.max(0, variance)) };
            },
          };
        },
      };
    },
    foresee: (noise, from, to) => {
      const law = noise[index];
      if (law?.kind !== 'laplace' && law?.kind !== 'gaussian' && law?.kind !== 'none')
        throw new RangeError(`measure ${index} has no additive noise`);
      return errorOf(law, reading.variance(from, to));
    },
  };
}

/** Interval of a count: the monotone value with the least-squares interval, widened to contain it and cut at 0. */
export const countTold = (value: number, { value: raw, standardError, half }: Read) => ({
  value,
  standardError,
  low: Math.max(0, Math.min(raw - half, value)),
  high: Math.max(raw + half, value),
});
