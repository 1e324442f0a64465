import type { ContinualStrategy } from './continual-strategy.js';

/**
 * Tree strategy: sums of blocks of 1, k, k^2, … steps, each noised when complete (Chan et al. 2011). A total adds the largest
 * blocks up to its step, each estimated from its own sum and those inside it (Honaker 2015).
 */
export function treeStrategy(horizon: number, arity: number): ContinualStrategy {
  const widths = widthsOf(horizon, arity);
  const { weights, variances } = blockReadings(widths.length, arity);
  return {
    name: widths.length === 1 ? 'each step' : 'tree',
    description:
      widths.length === 1 ? 'a noise for each step' : `a tree of ${widths.length} levels, ${arity} blocks in the next larger one`,
    horizon,
    slack: 0n,
    numbers: (from, to) => widths.reduce((sum, width) => sum + Math.floor(to / width) - Math.floor((from - 1) / width), 0),
    encoder: () => {
      /** Of the blocks of each size that are over and in no larger one that is. */
      const sums = widths.map(() => 0n);
      let step = 0;
      return (count) => {
        step++;
        sums[0]! += count;
        const over = [count];
        for (let level = 1; level < widths.length && step % widths[level]! === 0; level++) {
          const block = sums[level - 1]!;
          over.push(block);
          sums[level - 1] = 0n;
          sums[level]! += block;
        }
        return over;
      };
    },
    decoder: () => {
      const known = widths.map(() => 0);
      return (noisy) => {
        known[0]! += Number(noisy[0]!);
        for (let level = 1; level < noisy.length; level++) {
          known[level]! += weights[level]! * Number(noisy[level]!) + (1 - weights[level]!) * known[level - 1]!;
          known[level - 1] = 0;
        }
        return known.reduce((total, part) => total + part, 0);
      };
    },
    *variances() {
      const blocks = widths.map(() => 0);
      for (let step = 1; step <= horizon; step++) {
        blocks[0]!++;
        for (let level = 1; level < widths.length && step % widths[level]! === 0; level++) {
          blocks[level]!++;
          blocks[level - 1] = 0;
        }
        let variance = 0;
        for (let level = 0; level < blocks.length; level++) variance += blocks[level]! * variances[level]!;
        yield variance;
      }
    },
    meanVariance: () =>
      widths.reduce((sum, width, level) => sum + (blocksIn(horizon, width, widths[level + 1]) * variances[level]!) / horizon, 0),
  };
}

/** Number of blocks of one size in the totals of all steps, if blocks of size `larger` replace them as soon as possible. */
function blocksIn(horizon: number, width: number, larger = horizon + 1): number {
  const upTo = (steps: number): number => {
    const full = Math.floor(steps / width);
    return (width * full * (full - 1)) / 2 + full * (steps - full * width + 1);
  };
  const rounds = Math.floor(horizon / larger);
  return rounds * upTo(larger - 1) + upTo(horizon - rounds * larger);
}

/** From a noise for each step to the binary tree: for each number of levels the least arity that reaches the horizon. */
export function aritiesOver(horizon: number): readonly number[] {
  const levels = Array.from({ length: Math.max(1, Math.ceil(Math.log2(horizon))) }, (_, k) => k + 1);
  return [...new Set(levels.map((n) => leastArity(horizon, n)))];
}
export const treesOver = (horizon: number): readonly ContinualStrategy[] =>
  aritiesOver(horizon).map((arity) => treeStrategy(horizon, arity));

/** Number of steps in the blocks of each size. */
export function widthsOf(horizon: number, arity: number): readonly number[] {
  const widths = [1];
  while (widths.at(-1)! * arity < horizon) widths.push(widths.at(-1)! * arity);
  return widths;
}

/** So that `levels` sizes of blocks reach the horizon. */
function leastArity(horizon: number, levels: number): number {
  let arity = Math.max(2, Math.floor(horizon ** (1 / levels)));
  while (arity ** levels < horizon) arity++;
  return arity;
}

/** Own noisy sum and the k readings inside a block: weighted by the inverse of their variances, which is the least-squares reading from below. */
function blockReadings(
  levels: number,
  arity: number,
): { readonly weights: readonly number[]; readonly variances: readonly number[] } {
  const weights = [1];
  const variances = [1];
  for (let level = 1; level < levels; level++) {
    const inside = arity * variances[level - 1]!;
    weights.push(inside / (1 + inside));
    variances.push(inside / (1 + inside));
  }
  return { weights, variances };
}
