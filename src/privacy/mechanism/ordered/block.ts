import { widthsOf } from '../running/tree.js';

/**
 * Linear function of a block's counts: a multiple of the block's total, and a rest independent of the total, given by its
 * variance.
 */
export interface LinearEstimate {
  readonly totalFactor: number;
  readonly rest: number;
}

/** Least squares inside one block, for noise of variance 1 (ordered.proof.md, 2). */
export interface Block {
  readonly width: number;
  /** Variance of its tree's estimate of its total; infinite without a tree. */
  readonly variance: number;
  /** Of the counts at the positions from `from` up to `to`, which is not among them. */
  range(from: number, to: number): LinearEstimate;
  /** Sum of all counts, each times its position. */
  readonly slope: LinearEstimate;
  /**
   * Its total, and the counts at its positions once the total is also known from elsewhere, from the noisy numbers of its tree.
   */
  read(numbers: readonly number[]): { readonly total: number; counts(total: number): Float64Array };
}

/** Block of one position without a tree: only prefixes give information about it. */
const alone: Block = {
  width: 1,
  variance: Number.POSITIVE_INFINITY,
  range: (from, to) => ({ totalFactor: to - from, rest: 0 }),
  slope: { totalFactor: 0, rest: 0 },
  read: () => ({ total: 0, counts: (total) => Float64Array.of(total) }),
};

/** The nodes of one size: what the sums at and below a node say about it has this variance. */
interface Level {
  readonly width: number;
  readonly variances: Float64Array;
  /** Sums of the variances before each node. */
  readonly before: Float64Array;
}

export function blockOf(width: number, arity: number, tree: number): Block {
  if (tree === 0) return alone;
  const levels = levelsOf(width, arity, tree);
  const top = levels.at(-1)!;
  const nodes: BlockTree = { width, arity, levels };
  const all: Children = { level: levels.length - 1, first: 0, end: top.variances.length };
  return {
    width,
    variance: top.before.at(-1)!,
    range: (from, to) => (from === to ? { totalFactor: 0, rest: 0 } : rangeIn(nodes, all, from, to)),
    get slope() {
      return slopeIn(nodes, all);
    },
    read: (numbers) => {
      const estimates = estimateNodes(numbers, levels, arity, tree);
      return {
        total: estimates.at(-1)!.reduce((sum, x) => sum + x, 0),
        counts: (total) => {
          adjust(nodes, estimates, all, total);
          return estimates[0]!;
        },
      };
    },
  };
}

interface BlockTree {
  readonly width: number;
  readonly arity: number;
  readonly levels: readonly Level[];
}

/** Nodes of one level under one node of the next, or under the block itself. */
interface Children {
  readonly level: number;
  readonly first: number;
  readonly end: number;
}

const below = ({ arity, levels }: BlockTree, { level }: Children, node: number): Children => ({
  level: level - 1,
  first: node * arity,
  end: Math.min((node + 1) * arity, levels[level - 1]!.variances.length),
});

/** Of the counts at the positions from `from` up to `to`, from the nodes they hold whole and those they cut. */
function rangeIn(tree: BlockTree, children: Children, from: number, to: number): LinearEstimate {
  const { width, levels } = tree;
  const { width: each, before, variances } = levels[children.level]!;
  // The last node may be narrower: what reaches to the end of the block holds it whole.
  const end = to === width ? children.end : Math.floor(to / each);
  const first = Math.ceil(from / each);
  const whole = end > first ? before[end]! - before[first]! : 0;
  let [sum, squares, rest] = [whole, whole, 0];
  const cut = (node: number, a: number, b: number) => {
    const childEstimate = rangeIn(tree, below(tree, children, node), a, b);
    sum += childEstimate.totalFactor * variances[node]!;
    squares += childEstimate.totalFactor ** 2 * variances[node]!;
    rest += childEstimate.rest;
  };
  if (end < first) cut(end, from, to);
  else {
    if (from < first * each) cut(first - 1, from, Math.min(first * each, width));
    if (to !== width && to > end * each) cut(end, end * each, to);
  }
  const total = before[children.end]! - before[children.first]!;
  return { totalFactor: sum / total, rest: rest + squares - sum ** 2 / total };
}

function slopeIn(tree: BlockTree, children: Children): LinearEstimate {
  const { before, variances } = tree.levels[children.level]!;
  let [sum, squares, rest] = [0, 0, 0];
  for (let node = children.first; node < children.end; node++) {
    const childEstimate = children.level === 0 ? { totalFactor: node, rest: 0 } : slopeIn(tree, below(tree, children, node));
    sum += childEstimate.totalFactor * variances[node]!;
    squares += childEstimate.totalFactor ** 2 * variances[node]!;
    rest += childEstimate.rest;
  }
  const total = before[children.end]! - before[children.first]!;
  return { totalFactor: sum / total, rest: rest + squares - sum ** 2 / total };
}

/** Spreads what the total says beyond the children's own estimates over them, down to the positions. */
function adjust(tree: BlockTree, estimates: readonly Float64Array[], children: Children, known: number): void {
  const { before, variances } = tree.levels[children.level]!;
  const here = estimates[children.level]!;
  let sum = 0;
  for (let node = children.first; node < children.end; node++) sum += here[node]!;
  const rate = (known - sum) / (before[children.end]! - before[children.first]!);
  for (let node = children.first; node < children.end; node++) {
    here[node]! += variances[node]! * rate;
    if (children.level > 0) adjust(tree, estimates, below(tree, children, node), here[node]!);
  }
}

/** A node that ends within the block was noised itself; the last of a size may not. */
const isNoised = (node: number, each: number, width: number): boolean => (node + 1) * each <= width;

function levelsOf(width: number, arity: number, tree: number): readonly Level[] {
  const own = tree ** -2;
  const levels: Level[] = [];
  for (const each of widthsOf(width, arity)) {
    const inner = levels.at(-1);
    const variances = Float64Array.from({ length: Math.ceil(width / each) }, (_, node) => {
      if (!inner) return own;
      const inside = inner.before[Math.min((node + 1) * arity, inner.variances.length)]! - inner.before[node * arity]!;
      return isNoised(node, each, width) ? (own * inside) / (own + inside) : inside;
    });
    const before = new Float64Array(variances.length + 1);
    variances.forEach((v, node) => {
      before[node + 1] = before[node]! + v;
    });
    levels.push({ width: each, variances, before });
  }
  return levels;
}

/** Estimate of every node from below, in encoder order: inverse-variance mean of its own number and those inside it. */
function estimateNodes(
  numbers: readonly number[],
  levels: readonly Level[],
  arity: number,
  tree: number,
): readonly Float64Array[] {
  const width = levels[0]!.variances.length;
  const own = tree ** -2;
  const noised = levels.map(({ variances }) => new Float64Array(variances.length));
  let next = 0;
  for (let at = 1; at <= width; at++)
    for (let level = 0; level < levels.length && at % levels[level]!.width === 0; level++)
      noised[level]![at / levels[level]!.width - 1] = numbers[next++]! / tree;
  return levels.reduce<Float64Array[]>((done, { width: each }, level) => {
    const inner = done.at(-1);
    const inside = inner && levels[level - 1]!;
    done.push(
      noised[level]!.map((number, node) => {
        if (!inner || !inside) return number;
        const [first, end] = [node * arity, Math.min((node + 1) * arity, inner.length)];
        let sum = 0;
        for (let k = first; k < end; k++) sum += inner[k]!;
        const spread = inside.before[end]! - inside.before[first]!;
        return isNoised(node, each, width) ? (spread * number + own * sum) / (own + spread) : sum;
      }),
    );
    return done;
  }, []);
}
