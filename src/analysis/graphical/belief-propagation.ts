import type { JunctionTree } from './junction-tree.js';
import {
  addTo,
  exponentiateInto,
  largestInto,
  type MarginalIndex,
  marginalIndex,
  marginalSize,
  multiplyBy,
  sumInto,
} from './marginal.js';

/** A log factor over some columns; the factors add up to the log weight of a row. */
export interface LogFactor {
  /** In increasing order. */
  readonly columns: readonly number[];
  readonly values: Float64Array;
}

/** Belief propagation on a junction tree: expected rows in every cell of every clique, for any factors over the same columns. */
export interface BeliefPropagation {
  readonly tree: JunctionTree;
  /** By clique; as `run` left them. */
  readonly beliefs: readonly Float64Array[];
  /** Computes `beliefs` for `total` rows. Returns the log partition function; minus infinity if no row is possible. */
  run(values: readonly Float64Array[], total: number): number;
  /** Minimum over all possible rows of the sum of these values (one per cell of every factor). Overwrites `beliefs`. */
  least(values: readonly Float64Array[]): number;
  /** Marginal of the beliefs over a factor's columns. */
  margin(factor: number, into: Float64Array): void;
}

interface CliqueNode {
  readonly belief: Float64Array;
  readonly factors: { readonly factor: number; readonly places: MarginalIndex | undefined }[];
  /** Minus infinity in cells that are structurally zero, else zero. */
  readonly ruled: Float64Array | undefined;
  /** Index of the separator to the parent. */
  readonly up: MarginalIndex | undefined;
  /** Index of the same separator in the parent. */
  readonly down: MarginalIndex | undefined;
  readonly message: Float64Array;
  readonly ratio: Float64Array;
}

/** `columns` of the factors that change, `ruled` the structural zeros. Each lies inside one of the cliques. */
export function beliefPropagation(
  sizes: readonly number[],
  tree: JunctionTree,
  columns: readonly (readonly number[])[],
  ruled: readonly LogFactor[],
): BeliefPropagation {
  const homes = columns.map((own) => holdingClique(sizes, tree, own));
  const nodes = tree.cliques.map((clique, c): CliqueNode => {
    const parent = tree.parents[c]!;
    const separator = parent < 0 ? [] : clique.filter((a) => tree.cliques[parent]!.includes(a));
    const shared = marginalSize(sizes, separator);
    const cells = marginalSize(sizes, clique);
    const own = ruled.filter((factor) => holdingClique(sizes, tree, factor.columns) === c);
    const never = own.length > 0 ? new Float64Array(cells) : undefined;
    for (const factor of own) addTo(marginalIndex(sizes, clique, factor.columns), factor.values, never!);
    return {
      belief: new Float64Array(cells),
      factors: [...homes.keys()]
        .filter((factor) => homes[factor] === c)
        .map((factor) => ({
          factor,
          places: columns[factor]!.length === clique.length ? undefined : marginalIndex(sizes, clique, columns[factor]!),
        })),
      ruled: never,
      up: parent < 0 ? undefined : marginalIndex(sizes, clique, separator),
      down: parent < 0 ? undefined : marginalIndex(sizes, tree.cliques[parent]!, separator),
      message: new Float64Array(shared),
      ratio: new Float64Array(shared),
    };
  });
  const gather = ({ factors }: CliqueNode, values: readonly Float64Array[], belief: Float64Array): void => {
    let fresh = true;
    for (const { factor, places } of factors) {
      const own = values[factor]!;
      if (places === undefined) {
        if (fresh) belief.set(own);
        else for (let i = 0; i < belief.length; i++) belief[i]! += own[i]!;
      } else {
        if (fresh) belief.fill(0);
        addTo(places, own, belief);
      }
      fresh = false;
    }
    if (fresh) belief.fill(0);
  };
  const rule = ({ ruled: never }: CliqueNode, belief: Float64Array): void => {
    if (never) for (let i = 0; i < belief.length; i++) belief[i]! += never[i]!;
  };
  return {
    tree,
    beliefs: nodes.map(({ belief }) => belief),
    run(values, total) {
      for (const node of nodes) {
        gather(node, values, node.belief);
        rule(node, node.belief);
      }
      let top = Number.NEGATIVE_INFINITY;
      for (let c = nodes.length - 1; c >= 0; c--) {
        const { belief, up, down, message, ratio } = nodes[c]!;
        if (!up) {
          for (let i = 0; i < belief.length; i++) if (belief[i]! > top) top = belief[i]!;
          if (top === Number.NEGATIVE_INFINITY) return top;
          for (let i = 0; i < belief.length; i++) belief[i] = Math.exp(belief[i]! - top);
          continue;
        }
        // Cells with equal separator values are scaled by their own maximum, so that none underflows, whatever the other messages are.
        largestInto(up, belief, ratio);
        exponentiateInto(up, belief, ratio, message);
        for (let i = 0; i < message.length; i++) ratio[i]! += Math.log(message[i]!);
        addTo(down!, ratio, nodes[tree.parents[c]!]!.belief);
      }
      const root = nodes[0]!.belief;
      let sum = 0;
      for (let i = 0; i < root.length; i++) sum += root[i]!;
      const scale = total / sum;
      for (let i = 0; i < root.length; i++) root[i]! *= scale;
      for (let c = 1; c < nodes.length; c++) {
        const { belief, up, down, message, ratio } = nodes[c]!;
        sumInto(down!, nodes[tree.parents[c]!]!.belief, ratio);
        for (let i = 0; i < ratio.length; i++) ratio[i] = message[i]! > 0 ? ratio[i]! / message[i]! : 0;
        multiplyBy(up!, ratio, belief);
      }
      return top + Math.log(sum);
    },
    least(values) {
      for (const node of nodes) {
        const { belief } = node;
        gather(node, values, belief);
        for (let i = 0; i < belief.length; i++) belief[i] = -belief[i]!;
        rule(node, belief);
      }
      for (let c = nodes.length - 1; c > 0; c--) {
        const { belief, up, down, ratio } = nodes[c]!;
        largestInto(up!, belief, ratio);
        addTo(down!, ratio, nodes[tree.parents[c]!]!.belief);
      }
      let largest = Number.NEGATIVE_INFINITY;
      for (const x of nodes[0]!.belief) if (x > largest) largest = x;
      return -largest;
    },
    margin(factor, into) {
      const node = nodes[homes[factor]!]!;
      const places = node.factors.find((own) => own.factor === factor)!.places;
      if (places) sumInto(places, node.belief, into);
      else into.set(node.belief);
    },
  };
}

/** The smallest clique that holds the columns; -1 if there is none. */
export function holdingClique(sizes: readonly number[], { cliques }: JunctionTree, columns: readonly number[]): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const [c, clique] of cliques.entries()) {
    if (!columns.every((column) => clique.includes(column))) continue;
    const cells = marginalSize(sizes, clique);
    if (cells < least) [best, least] = [c, cells];
  }
  return best;
}
