import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { parseRational, type Rational, toNumber } from '../../base/exact/rational.js';
import { declaredNumber } from '../../policy/domain.js';
import { gridNumber, gridOf } from '../../policy/grid.js';
import type { NoiseDistribution, SelectionDistribution } from '../../privacy/mechanism/distribution.js';
import {
  type AnswerValues,
  answerLayout,
  answerTable,
  defaultAlpha,
  expectedAnswerError,
  figureCells,
  noAnswer,
} from '../answer.js';
import type { NoisyMeasure } from '../bound.js';
import { larger } from '../count/bounds.js';
import type { GroupKey, SelectionMeasure } from '../count/measure.js';
import { rankSensitivity } from '../count/sensitivity.js';
import { presenceTest } from '../filter.js';
import { boundedList, columnNameForm, commonFields } from '../form.js';
import { maxCells, refuseManyCells } from '../keys.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, rowCounting, selectRows, withTests } from '../scope.js';
import { refuseKnownTotals } from './ordered.js';

const schema = z.strictObject({
  kind: z.literal('quantile'),
  column: columnNameForm,
  /** Shares strictly between 0 and 1, at most three decimals: 0.5 is the median. */
  at: boundedList(z.number().gt(0).lt(1).multipleOf(0.001), 'shares'),
  ...commonFields,
});
type QuantileQuery = z.output<typeof schema>;
const label = (q: QuantileQuery): string =>
  `${q.at.map((at) => (at === 0.5 ? 'median' : `quantile ${at}`)).join(', ')} of ${q.column}`;

const maxCandidates = 10_000;

/**
 * Penalty of candidate c for the share num/den: distance of num x total from [den x below(c), den x (below(c) + at(c))].
 * Zero exactly where c is that quantile of the rows.
 */
function rankPenalties(at: readonly bigint[], num: bigint, den: bigint): bigint[] {
  let total = 0n;
  for (const n of at) total += n;
  const target = num * total;
  let below = 0n;
  return at.map((n) => {
    const over = den * below - target;
    below += n;
    const under = target - den * below;
    return larger(larger(over, under), 0n);
  });
}

const odds = (1 - defaultAlpha) / defaultAlpha;
/**
 * Largest rank error with 95 %, whatever the data (quantile.proof.md, 2): penalties are whole and the best is 0, so the worst case is
 * one good candidate among equals at t + 1. No bound computed from the answer alone can be smaller (3).
 */
const rankError = ({ sharpness }: SelectionDistribution<number>, { candidates, perRank }: SelectionMeasure): number => {
  const others = candidates.length - 1;
  if (others === 0 || sharpness === Number.POSITIVE_INFINITY) return 0;
  return Math.max(0, Math.ceil(Math.log(odds * others) / sharpness) - 1) / perRank;
};
/** The same for evenly spread rows: equally many on every candidate, or equally many candidates per row (4). */
const evenRankError = (distribution: SelectionDistribution<number>, measure: SelectionMeasure): number => {
  const penalty = -Math.log(Math.hypot(odds, 1) - odds) / distribution.sharpness + measure.perRank / 2;
  return Math.min(rankError(distribution, measure), Math.floor(penalty) / measure.perRank);
};
/** Largest root mean square of the penalty over all data: sqrt(u (u - 2)) / sharpness where u - 2 = 2 (candidates - 1) e^-u (5). */
const rankDeviation = ({ sharpness }: SelectionDistribution<number>, { candidates, perRank }: SelectionMeasure): number => {
  let u = 2;
  // The right side falls as u grows, so the difference from u - 2 is increasing and concave, and Newton's steps from below stay below.
  for (let k = 0; k < 60; k++) {
    const right = 2 * (candidates.length - 1) * Math.exp(-u);
    u += (right - (u - 2)) / (1 + right);
  }
  return Math.sqrt(u * (u - 2)) / sharpness / perRank;
};
const selection = (noise: NoiseDistribution<number> | undefined): SelectionDistribution<number> => {
  // A quantile of public columns is chosen without noise.
  if (noise?.kind === 'none') return { kind: 'selection', sharpness: Number.POSITIVE_INFINITY };
  if (noise?.kind !== 'selection') throw new RangeError('a quantile needs selection noise');
  return noise;
};

interface Candidates {
  readonly width: number;
  readonly size: number;
  readonly candidates: readonly Rational[];
}
/** A batch may ask for many quantiles of one column. */
const candidateCache = new WeakMap<object, Candidates>();
function candidatesOf(column: ReturnType<typeof declaredNumber>): Candidates {
  const known = candidateCache.get(column);
  if (known) return known;
  const grid = gridOf(column);
  const width = Math.ceil((grid.last + 1) / maxCandidates);
  const size = Math.floor(grid.last / width) + 1;
  const made = { width, size, candidates: Array.from({ length: size }, (_, j) => gridNumber(grid, j * width)) };
  candidateCache.set(column, made);
  return made;
}

function bind(query: QuantileQuery, scope: BindingScope): BoundQuery {
  if (query.weight !== undefined)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Weighted quantiles are not supported.',
      'Leave out "weight", or ask for a weighted mean.',
    );
  const { policy } = scope;
  const rows = selectRows(policy, query);
  const { width, size, candidates } = candidatesOf(declaredNumber(policy, query.column));
  const groups = rows.cells;
  refuseManyCells(groups.length * size, 'The quantiles need', 'counters', maxCells);
  const key: GroupKey = { kind: 'grid', column: query.column, width, size };
  const counting = scope.counting(rowCounting(withTests(rows, presenceTest(query.column)), key));
  const chosen = query.at.map((at) => {
    const { num, den } = parseRational(String(at));
    const sensitivity = rankSensitivity(policy, counting, num, den);
    refuseKnownTotals(policy, sensitivity, query.column);
    const measure: SelectionMeasure = {
      mechanism: 'exponential',
      name: `quantile ${at} of ${query.column}`,
      cells: groups,
      candidates,
      sensitivity,
      penalties: (counts) => rankPenalties(counts, num, den),
      rule: `rank ${num}/${den}`,
      perRank: Number(den),
      counting,
    };
    return { at, measure, index: scope.select(measure) };
  });
  const several = query.at.length > 1;
  const layout = several
    ? answerLayout(query, label(query), figureCells(groups, query.at.map(String)), ['at', query.name ?? query.column])
    : answerLayout(query, label(query), groups);
  const row = (noisy: readonly NoisyMeasure[], i: number): AnswerValues => {
    const { index, measure } = chosen[i % chosen.length]!;
    const found = noisy[index];
    if (!found || !('chosen' in found)) throw new RangeError(`measure ${index} has no selection`);
    const value = toNumber(candidates[found.chosen[Math.floor(i / chosen.length)]!]!);
    const distribution = selection(found.noise);
    return {
      ...noAnswer,
      value,
      rankError: rankError(distribution, measure),
      evenRankError: evenRankError(distribution, measure),
    };
  };
  return {
    finish: (noisy) => answerTable(layout, 'rank', (i) => row(noisy, i)),
    expectedError: (noise) => {
      const all = chosen.map(({ index, measure }) => [selection(noise[index]), measure] as const);
      const worst = (error: typeof rankError) => Math.max(...all.map(([distribution, measure]) => error(distribution, measure)));
      return expectedAnswerError(layout, 'rank', { standardError: worst(rankDeviation), halfWidth: worst(rankError) });
    },
  };
}

export const quantileKind: QueryKind<typeof schema> = { schema, label, bind };
