import { addUp } from '../../../base/exact/outward.js';
import { push } from '../graph/push.js';
import { pushTable } from '../graph/push-table.js';
import { isTable, type Model } from '../model/model.js';
import { conditionals, multiplyWeights, passWeight, type TieTree, type TieView, treesOf, type Weight } from './tree-beliefs.js';

export interface UninformedOptions {
  /** Total-variation radius within which every true conditional lies of the model's; 0 when the tables are the truth. */
  readonly radius?: number;
}

/** Table lookups spent on conditionals before the rest of the ties fall back to their odds ratio, which is always a bound. */
const workLimit = 4e8;

/**
 * Upper bounds on leakage to an attacker who knows no other record, on forests of pairwise ties: tables push by their
 * conditionals (uninformed.proof.md). Infinity elsewhere, where the informed bound applies.
 */
export function uninformedForest(model: Model, recordCosts: Float64Array, options: UninformedOptions = {}): Float64Array {
  const { radius = 0 } = options;
  const sizes = model.values.map((v) => v.length);
  const own = singles(model, sizes);
  const leaks = new Float64Array(model.ids.length).fill(Number.POSITIVE_INFINITY);
  let work = 0;
  const through = (view: TieView, loss: number): number => {
    const { tie, near } = view;
    // A table known only within a radius has no certain odds ratio.
    const plain = radius > 0 && tie.table ? loss : push(loss, tie.logOdds);
    const other = tie.ends[0] === near ? tie.ends[1] : tie.ends[0];
    work += sizes[near]! ** 2 * sizes[other]! * 8;
    if (work > workLimit) return plain;
    const given = conditionals(view, sizes, own[near]?.values, radius);
    return given ? Math.min(plain, pushTable(loss, given)) : plain;
  };
  const question = { recordCosts, sizes, own, through };
  for (const tree of treesOf(model)) solve(tree, question, leaks);
  return leaks;
}

/** Product of each record's own factors; undefined for none. An open prior is unknown. */
function singles(model: Model, sizes: readonly number[]): (Weight | undefined)[] {
  const lists: Weight[][] = sizes.map(() => []);
  for (const factor of model.factors)
    if (factor.records.length === 1 && isTable(factor))
      lists[factor.records[0]!]!.push({ values: factor.table, relative: 0, known: true });
  const out = lists.map((list, r) => (list.length === 0 ? undefined : multiplyWeights(list, sizes[r]!)));
  for (const r of model.anyPrior ?? []) out[r] = { values: new Float64Array(sizes[r]!).fill(1), relative: 0, known: false };
  return out;
}

interface ForestQuestion {
  readonly recordCosts: Float64Array;
  readonly sizes: readonly number[];
  /** Product of each record's own factors. */
  readonly own: readonly (Weight | undefined)[];
  readonly through: (view: TieView, loss: number) => number;
}

function solve({ order, parent, tie }: TieTree, { recordCosts, sizes, own, through }: ForestQuestion, leaks: Float64Array): void {
  const n = order.length;
  const children: number[][] = Array.from({ length: n }, () => []);
  for (let x = 1; x < n; x++) children[parent[x]!]!.push(x);
  const mine = (x: number): Weight[] => (own[order[x]!] ? [own[order[x]!]!] : []);
  /** Upward pass: weight of x without its parent, its message to the parent, and the costs that reach it from its children. */
  const up: Weight[] = new Array(n);
  const gains = new Float64Array(n);
  const below = new Float64Array(n);
  for (let x = n - 1; x >= 0; x--) {
    const u = order[x]!;
    const weight = multiplyWeights([...mine(x), ...children[x]!.map((c) => up[c]!)], sizes[u]!);
    let loss = recordCosts[u]!;
    for (const c of children[x]!) loss = addUp(loss, gains[c]!);
    below[x] = loss;
    if (x === 0) break;
    const view = { tie: tie[x]!, near: order[parent[x]!]!, far: weight };
    up[x] = passWeight(view, sizes);
    gains[x] = through(view, loss);
  }
  /** Downward pass: weight from the parent's side, and the privacy loss it carries. */
  const down: (Weight | undefined)[] = new Array(n);
  const fromAbove = new Float64Array(n);
  for (let x = 0; x < n; x++) {
    const u = order[x]!;
    leaks[u] = addUp(below[x]!, fromAbove[x]!);
    const kids = children[x]!;
    const base = [...mine(x), ...(down[x] ? [down[x]!] : [])];
    // Everything but one child at a time: products and sums from the left and from the right.
    const right: Weight[] = new Array(kids.length + 1);
    const rightGain = new Float64Array(kids.length + 1);
    right[kids.length] = multiplyWeights(base, sizes[u]!);
    rightGain[kids.length] = addUp(recordCosts[u]!, fromAbove[x]!);
    for (let k = kids.length - 1; k >= 0; k--) {
      right[k] = multiplyWeights([right[k + 1]!, up[kids[k]!]!], sizes[u]!);
      rightGain[k] = addUp(rightGain[k + 1]!, gains[kids[k]!]!);
    }
    let left: Weight | undefined;
    let leftGain = 0;
    for (const [k, c] of kids.entries()) {
      const rest = left ? multiplyWeights([left, right[k + 1]!], sizes[u]!) : right[k + 1]!;
      const view = { tie: tie[c]!, near: order[c]!, far: rest };
      fromAbove[c] = through(view, addUp(leftGain, rightGain[k + 1]!));
      down[c] = passWeight(view, sizes);
      left = left ? multiplyWeights([left, up[c]!], sizes[u]!) : up[c]!;
      leftGain = addUp(leftGain, gains[c]!);
    }
  }
}
