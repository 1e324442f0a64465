import { makeNetwork, type Network, type Variable } from '../../dependence/model/network.js';
import { sqrtDown } from '../../exact/outward.js';
import { divide, fromNumber, multiply, type Rational, rational, toNumberDown } from '../../exact/rational.js';
import type { CodedTable } from './coded.js';
import { pairTables } from './contingency.js';
import { conditional } from './fit.js';

/** What the whole tree may cost one row: pure epsilon, or rho of zCDP. */
export type TreeBudget =
  | { readonly noise: 'pure'; readonly epsilon: Rational }
  | { readonly noise: 'zcdp'; readonly rho: Rational };

/** The two randomised steps; the product passes the exact samplers of noise/. */
export interface Chance {
  /** P(candidate) ~ exp(-sharpness x penalty). */
  select(penalties: readonly bigint[], sharpness: Rational): number;
  /** Integer noise, one draw per call. */
  laplace(scale: Rational): () => bigint;
  gaussian(variance: Rational): () => bigint;
}

export interface PrivateTree {
  /** Parent of each column, -1 at the root (column 0). */
  readonly parent: readonly number[];
  /** Noisy tables: for the child of each edge, counts over parent x child. */
  readonly tables: readonly Float64Array[];
}

/**
 * A tree over all columns learned privately, in the manner of PrivBayes: grow from column 0, each time adding the (child, parent) that the
 * exponential mechanism picks by how far the two are from independent in L1; then noise the chosen two-column tables. Guarantee in private-tree.proof.md.
 */
export function learnTree(
  table: CodedTable,
  budget: TreeBudget,
  chance: Chance,
  progress?: (done: number, total: number) => void,
): PrivateTree {
  const d = table.levels.length;
  const edges = Math.max(1, d - 1);
  const { sharpness, draw } = plan(budget, edges, table.rows, chance);
  const score = scores(table);
  const parent = new Array<number>(d).fill(-1);
  const inside = [0];
  const outside = new Set(Array.from({ length: d - 1 }, (_, c) => c + 1));
  while (outside.size > 0) {
    const candidates = [...outside].flatMap((child) => inside.map((p) => [child, p] as const));
    const values = candidates.map(([child, p]) => score(child, p));
    let top = values[0]!;
    for (const v of values) if (v > top) top = v;
    const [child, p] =
      candidates[
        chance.select(
          values.map((v) => top - v),
          sharpness,
        )
      ]!;
    parent[child] = p;
    inside.push(child);
    outside.delete(child);
    progress?.(inside.length - 1, edges);
  }
  const tables = parent.map((p, child) => {
    const counts = p < 0 ? new Float64Array(0) : pairCounts(table, p, child);
    return counts.map((count) => count + Number(draw()));
  });
  return { parent, tables };
}

/** Half the budget for structure, half for tables, both split evenly over the edges. */
function plan(budget: TreeBudget, edges: number, rows: number, chance: Chance) {
  const reach = rational(scoreGrid(rows).reach);
  const share = rational(1, 2 * edges);
  if (budget.noise === 'pure') {
    const each = multiply(budget.epsilon, share);
    return { sharpness: divide(each, multiply(rational(2), reach)), draw: chance.laplace(divide(rational(2), each)) };
  }
  const each = multiply(budget.rho, share);
  const root = fromNumber(sqrtDown(toNumberDown(multiply(rational(2), each))));
  return { sharpness: divide(root, reach), draw: chance.gaussian(divide(rational(1), each)) };
}

/**
 * Replacing a row moves sum |n N_ab - N_a N_b| by at most 6n. Scores are counted in units of about a 64th of that: coarse enough for the exact
 * sampler to be quick, at the price of one unit more reach.
 */
export function scoreGrid(rows: number): { readonly unit: bigint; readonly reach: bigint } {
  const most = 6n * BigInt(Math.max(rows, 1));
  const unit = most / 64n > 1n ? most / 64n : 1n;
  return { unit, reach: most / unit + 1n };
}

/** sum over cells of |n N_ab - N_a N_b| in grid units: n times the L1 distance from independence in counts. */
function scores(table: CodedTable): (i: number, j: number) => bigint {
  const pairs = pairTables(table);
  const cells = pairs.start[table.levels.length]!;
  const n = BigInt(table.rows);
  const { unit } = scoreGrid(table.rows);
  const known = new Map<number, bigint>();
  return (i, j) => {
    const key = Math.min(i, j) * table.levels.length + Math.max(i, j);
    let sum = known.get(key);
    if (sum === undefined) {
      sum = 0n;
      for (let a = pairs.start[i]!; a < pairs.start[i + 1]!; a++)
        for (let b = pairs.start[j]!; b < pairs.start[j + 1]!; b++) {
          const apart =
            n * BigInt(pairs.counts[a * cells + b]!) -
            BigInt(pairs.counts[a * cells + a]!) * BigInt(pairs.counts[b * cells + b]!);
          sum += apart < 0n ? -apart : apart;
        }
      sum /= unit;
      known.set(key, sum);
    }
    return sum;
  };
}

function pairCounts(table: CodedTable, i: number, j: number): Float64Array {
  const counts = new Float64Array(table.levels[i]! * table.levels[j]!);
  for (let r = 0; r < table.rows; r++) counts[table.columns[i]![r]! * table.levels[j]! + table.columns[j]![r]!]!++;
  return counts;
}

/** Clip at zero and normalise (post-processing). The root's law is read off the first noisy table that has it as parent. */
export function treeNetwork(
  name: string,
  tree: PrivateTree,
  names: readonly string[],
  values: readonly (readonly string[])[],
  paid: { readonly epsilon: string; readonly delta: string },
): Network {
  const variables = names.map((column, x): Variable => {
    const width = values[x]!.length;
    const p = tree.parent[x]!;
    if (p >= 0) return { name: column, values: values[x]!, parents: [p], table: conditional(tree.tables[x]!, width, 0) };
    const child = tree.parent.indexOf(x);
    const own = new Float64Array(width);
    (tree.tables[child] ?? []).forEach((count, cell) => {
      own[Math.floor(cell / values[child]!.length)]! += Math.max(0, count);
    });
    return { name: column, values: values[x]!, parents: [], table: conditional(own, width, 0) };
  });
  return makeNetwork(name, variables, { learned: 'paid', ...paid });
}
