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
  readonly sizes: readonly number[];
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
  const nodes = cliqueNodes(sizes, tree, { columns, homes, ruled });
  const root = nodes[0]!.belief;
  const parentOf = (c: number): Float64Array => nodes[tree.parents[c]!]!.belief;
  return {
    sizes,
    tree,
    beliefs: nodes.map(({ belief }) => belief),
    run(values, total) {
      for (const node of nodes) gather(node, values);
      for (let c = nodes.length - 1; c > 0; c--) sendUp(nodes[c]!, parentOf(c));
      const top = largestOf(root);
      if (top === Number.NEGATIVE_INFINITY) return top;
      let sum = 0;
      for (let i = 0; i < root.length; i++) sum += root[i] = Math.exp(root[i]! - top);
      const scale = total / sum;
      for (let i = 0; i < root.length; i++) root[i]! *= scale;
      for (let c = 1; c < nodes.length; c++) sendDown(parentOf(c), nodes[c]!);
      return top + Math.log(sum);
    },
    least(values) {
      for (const node of nodes) gather(node, values, -1);
      for (let c = nodes.length - 1; c > 0; c--) {
        const { belief, up, down, ratio } = nodes[c]!;
        largestInto(up!, belief, ratio);
        addTo(down!, ratio, parentOf(c));
      }
      return -largestOf(root);
    },
    margin(factor, into) {
      const node = nodes[homes[factor]!]!;
      const places = node.factors.find((own) => own.factor === factor)!.places;
      if (places) sumInto(places, node.belief, into);
      else into.set(node.belief);
    },
  };
}

function cliqueNodes(
  sizes: readonly number[],
  tree: JunctionTree,
  factors: {
    readonly columns: readonly (readonly number[])[];
    readonly homes: readonly number[];
    readonly ruled: readonly LogFactor[];
  },
): readonly CliqueNode[] {
  return tree.cliques.map((clique, c) => {
    const parent = tree.cliques[tree.parents[c]!];
    const separator = parent ? clique.filter((a) => parent.includes(a)) : [];
    const shared = marginalSize(sizes, separator);
    const cells = marginalSize(sizes, clique);
    const zeros = factors.ruled.filter(({ columns }) => holdingClique(sizes, tree, columns) === c);
    const ruled = zeros.length > 0 ? new Float64Array(cells) : undefined;
    for (const { columns, values } of zeros) addTo(marginalIndex(sizes, clique, columns), values, ruled!);
    return {
      belief: new Float64Array(cells),
      factors: factors.columns.flatMap((own, factor) => {
        if (factors.homes[factor] !== c) return [];
        return [{ factor, places: own.length === clique.length ? undefined : marginalIndex(sizes, clique, own) }];
      }),
      ruled,
      up: parent && marginalIndex(sizes, clique, separator),
      down: parent && marginalIndex(sizes, parent, separator),
      message: new Float64Array(shared),
      ratio: new Float64Array(shared),
    };
  });
}

/** Sets the belief to the sum of its factors, times a sign, and to minus infinity in structural zeros. */
function gather({ belief, factors, ruled }: CliqueNode, values: readonly Float64Array[], sign = 1): void {
  belief.fill(0);
  for (const { factor, places } of factors) {
    const own = values[factor]!;
    if (places) addTo(places, own, belief);
    else for (let i = 0; i < belief.length; i++) belief[i]! += own[i]!;
  }
  if (sign < 0) for (let i = 0; i < belief.length; i++) belief[i] = -belief[i]!;
  if (ruled) for (let i = 0; i < belief.length; i++) belief[i]! += ruled[i]!;
}

/** Cells with equal separator values are scaled by their own maximum, so that none underflows, whatever the other messages are. */
function sendUp({ belief, up, down, message, ratio }: CliqueNode, parent: Float64Array): void {
  largestInto(up!, belief, ratio);
  exponentiateInto(up!, belief, ratio, message);
  for (let i = 0; i < message.length; i++) ratio[i]! += Math.log(message[i]!);
  addTo(down!, ratio, parent);
}

function sendDown(parent: Float64Array, { belief, up, down, message, ratio }: CliqueNode): void {
  sumInto(down!, parent, ratio);
  for (let i = 0; i < ratio.length; i++) ratio[i] = message[i]! > 0 ? ratio[i]! / message[i]! : 0;
  multiplyBy(up!, ratio, belief);
}

function largestOf(list: Float64Array): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < list.length; i++) if (list[i]! > most) most = list[i]!;
  return most;
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
