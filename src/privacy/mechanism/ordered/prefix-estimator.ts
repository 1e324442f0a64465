import { firstWhere } from '../../../base/exact/search.js';
import { type Block, blockOf } from './block.js';
import { prefixChain } from './prefix-chain.js';
import { numbersInTree, type Strategy, widthsOfBlocks } from './strategy.js';

/** Least-squares estimator from the noisy numbers of a strategy (ordered.proof.md). Variances are for noise of variance 1. */
export interface PrefixEstimator {
  /** Estimated number of rows before each position, from the first to the end. */
  prefixes(noisy: readonly number[]): Float64Array;
  /** Of how many lie at the positions from `from` up to `to`, which is not among them. */
  variance(from: number, to: number): number;
  /** Over all ranges of positions. */
  meanVariance(): number;
}

export function prefixEstimator(strategy: Strategy): PrefixEstimator {
  const estimator = estimators.get(strategy) ?? makeEstimator(strategy);
  estimators.set(strategy, estimator);
  return estimator;
}
const estimators = new WeakMap<Strategy, PrefixEstimator>();

function makeEstimator(strategy: Strategy): PrefixEstimator {
  const { size, ends, arity, prefix, tree } = strategy;
  const widths = widthsOfBlocks(strategy);
  const known = new Map<number, Block>();
  const blocks = widths.map((width) => {
    const block = known.get(width) ?? blockOf(width, arity, tree);
    known.set(width, block);
    return block;
  });
  const chain = prefixChain(
    blocks.map(({ variance }) => variance),
    prefix ** 2,
  );
  /** Variance of a sum of prefix totals with these multiples. */
  const spread = (terms: readonly (readonly [block: number, times: number])[]): number =>
    terms.reduce((all, [i, a]) => all + terms.reduce((sum, [j, b]) => sum + a * b * chain.covariance(i, j), 0), 0);
  const placeOf = (position: number) => firstWhere(ends.length - 1, (k) => ends[k]! > position);
  return {
    prefixes: (noisy) => prefixesOf(strategy, blocks, chain, noisy),
    variance: (from, to) => {
      if (from === to) return 0;
      const [a, b] = [placeOf(from), placeOf(to - 1)];
      const [startA, startB] = [ends[a]! - widths[a]!, ends[b]! - widths[b]!];
      if (a === b) {
        const { totalFactor, rest } = blocks[a]!.range(from - startA, to - startA);
        const both = [
          [a, totalFactor],
          [a - 1, -totalFactor],
        ] as const;
        return rest + spread(both);
      }
      const left = blocks[a]!.range(from - startA, widths[a]!);
      const right = blocks[b]!.range(0, to - startB);
      const terms = [
        [a - 1, -left.totalFactor],
        [a, left.totalFactor - 1],
        [b - 1, 1 - right.totalFactor],
        [b, right.totalFactor],
      ] as const;
      return left.rest + right.rest + spread(terms);
    },
    meanVariance: () => meanVarianceOf(size, blocks, chain.covariance),
  };
}

/** Least squares of blocks and prefixes together: totals first, then the counts inside each block. */
function prefixesOf(
  strategy: Strategy,
  blocks: readonly Block[],
  chain: ReturnType<typeof prefixChain>,
  noisy: readonly number[],
): Float64Array {
  const { size, prefix } = strategy;
  const prefixes = new Float64Array(size + 1);
  let next = 0;
  const read = blocks.map((block) => {
    const start = next;
    next += numbersInTree(strategy, block.width);
    return { ...block.read(noisy.slice(start, next)), prefix: noisy[next++]! / prefix };
  });
  const totals = chain.solve(
    read.map(({ total }) => total),
    read.map((block) => block.prefix),
  );
  let at = 0;
  read.forEach(({ counts }, b) => {
    const before = totals[b - 1] ?? 0;
    for (const count of counts(totals[b]! - before)) {
      prefixes[at + 1] = prefixes[at]! + count;
      at++;
    }
    // The same up to rounding, which would otherwise add up.
    prefixes[at] = totals[b]!;
  });
  return prefixes;
}

/** Mean variance of the rows between two positions, over all pairs of positions. */
function meanVarianceOf(size: number, blocks: readonly Block[], covariance: (i: number, j: number) => number): number {
  const ofWidth = new Map([...new Set(blocks)].map((block) => [block.width, { ...prefixesIn(block), slope: block.slope }]));
  let [variances, rest, before] = [0, 0, 0];
  const times = new Float64Array(blocks.length);
  blocks.forEach((block, b) => {
    const { ones, squares, rests, slope } = ofWidth.get(block.width)!;
    variances +=
      rests +
      (block.width - 2 * ones + squares) * covariance(b - 1, b - 1) +
      squares * covariance(b, b) +
      2 * (ones - squares) * covariance(b - 1, b);
    // A count enters the prefixes behind its position.
    const onBlock = size - before - slope.totalFactor;
    times[b]! += onBlock;
    if (b > 0) times[b - 1]! -= onBlock;
    rest += slope.rest;
    before += block.width;
  });
  const together = rest + quadratic(times, covariance);
  // Over all pairs of the prefixes, the empty one among them: the sum of squared differences is n times the sum of squares less the square of the sum.
  const n = size + 1;
  return (2 / (n * (n - 1))) * (n * variances - together);
}

/** Over the prefixes of a block that hold at least one position. */
function prefixesIn(block: Block): { readonly ones: number; readonly squares: number; readonly rests: number } {
  let [ones, squares, rests] = [0, 0, 0];
  for (let to = 1; to <= block.width; to++) {
    const { totalFactor, rest } = block.range(0, to);
    ones += totalFactor;
    squares += totalFactor ** 2;
    rests += rest;
  }
  return { ones, squares, rests };
}

/** Covariances along a chain fade by a factor for each link, so one pass adds them all up. */
function quadratic(times: Float64Array, covariance: (i: number, j: number) => number): number {
  let [sum, carried] = [0, 0];
  times.forEach((a, i) => {
    const own = covariance(i, i);
    // Contribution of all earlier estimates to this one.
    if (i > 0) carried = (carried + times[i - 1]! * covariance(i - 1, i - 1)) * (covariance(i - 1, i) / covariance(i - 1, i - 1));
    sum += a * a * own + 2 * a * carried;
  });
  return sum;
}
