import type { Conditionals } from '../graph/push-table.js';
import { isTable, type Model } from '../model/model.js';
import { logOdds, logOddsRatio } from '../model/odds.js';

/** One tie of a pairwise forest, seen from both ends. `table` is absent where only an odds ratio is declared. */
export interface ForestTie {
  readonly ends: readonly [number, number];
  readonly logOdds: number;
  readonly table?: Float64Array;
}

/** A forest component of pairwise ties: records in breadth-first order, each but the first with its tie to an earlier one. */
export interface TieTree {
  readonly order: readonly number[];
  readonly parent: readonly number[];
  readonly tie: readonly (ForestTie | undefined)[];
}

/** The components of a model that are forests of pairwise ties; a record in no tree has loops or larger factors around it. */
export function treesOf(model: Model): TieTree[] {
  const n = model.ids.length;
  const ties = new Map<string, ForestTie>();
  const spoiled = new Uint8Array(n);
  for (const factor of model.factors) {
    const [a, b, ...more] = factor.records;
    if (b === undefined) continue;
    if (more.length > 0) {
      for (const r of factor.records) spoiled[r] = 1;
      continue;
    }
    const key = `${Math.min(a!, b)},${Math.max(a!, b)}`;
    const ends: [number, number] = [a!, b];
    const sizes = ends.map((r) => model.values[r]!.length);
    const tie: ForestTie = isTable(factor)
      ? { ends, table: factor.table, logOdds: logOddsRatio(factor.table, sizes, 0) }
      : { ends, logOdds: logOdds(factor.oddsRatio) };
    // Two factors on one pair: leave the component to the informed bound, which merges them.
    if (ties.has(key)) for (const r of ends) spoiled[r] = 1;
    ties.set(key, tie);
  }
  return components(n, [...ties.values()], spoiled);
}

function components(n: number, ties: readonly ForestTie[], spoiled: Uint8Array): TieTree[] {
  const near: ForestTie[][] = Array.from({ length: n }, () => []);
  for (const tie of ties) for (const r of tie.ends) near[r]!.push(tie);
  const seen = new Uint8Array(n);
  const trees: TieTree[] = [];
  for (let root = 0; root < n; root++) {
    if (seen[root]) continue;
    seen[root] = 1;
    const order = [root];
    const parent = [-1];
    const tie: (ForestTie | undefined)[] = [undefined];
    let good = true;
    let ends = 0;
    for (let x = 0; x < order.length; x++) {
      const u = order[x]!;
      if (spoiled[u]) good = false;
      for (const t of near[u]!) {
        ends++;
        const w = t.ends[0] === u ? t.ends[1] : t.ends[0];
        if (seen[w]) continue;
        seen[w] = 1;
        order.push(w);
        parent.push(x);
        tie.push(t);
      }
    }
    if (good && ends / 2 === order.length - 1) trees.push({ order, parent, tie });
  }
  return trees;
}

/** A non-negative function of a record's value up to a factor, with its relative error; `known` false when the model leaves it open. */
export interface Weight {
  readonly values: Float64Array;
  readonly relative: number;
  readonly known: boolean;
}

const unit = 2 ** -52;
/** A product this small against its largest entry may have lost digits. */
const smallest = 2 ** -900;

export const multiplyWeights = (weights: readonly Weight[], size: number): Weight => {
  const values = new Float64Array(size).fill(1);
  let relative = 0;
  let known = true;
  for (const w of weights) {
    let top = 0;
    let possible = 0;
    for (let v = 0; v < size; v++) {
      if (values[v]! > 0 && w.values[v]! > 0) possible++;
      values[v]! *= w.values[v]!;
      top = Math.max(top, values[v]!);
    }
    let kept = 0;
    for (let v = 0; v < size; v++) {
      values[v] = top > 0 ? values[v]! / top : 0;
      if (values[v]! > smallest) kept++;
    }
    if (kept !== possible || possible === 0) known = false;
    relative += w.relative + 3 * unit;
    known &&= w.known;
  }
  return { values, relative, known };
};

/** A tie from its near end, with the weight of its far end without it. */
export interface TieView {
  readonly tie: ForestTie;
  readonly near: number;
  readonly far: Weight;
}

/** The weight a tie passes to its near end: sum over far values of f(near, far) weight(far). */
export function passWeight({ tie, near, far }: TieView, sizes: readonly number[]): Weight {
  const [a, b] = tie.ends;
  const here = sizes[near]!;
  const there = sizes[near === a ? b : a]!;
  const values = new Float64Array(here);
  if (!tie.table || !far.known) return { values: values.fill(1), relative: 0, known: false };
  for (let v = 0; v < here; v++)
    for (let w = 0; w < there; w++) values[v]! += tie.table[near === a ? v * there + w : w * here + v]! * far.values[w]!;
  return { values, relative: far.relative + (there + 2) * unit, known: true };
}

/** P(far | near); undefined where the model leaves it open. */
export function conditionals(
  { tie, near, far }: TieView,
  sizes: readonly number[],
  own: Float64Array | undefined,
  radius: number,
): Conditionals | undefined {
  if (!tie.table || !far.known) return undefined;
  const [a, b] = tie.ends;
  const here = sizes[near]!;
  const there = sizes[near === a ? b : a]!;
  const rows: Float64Array[] = [];
  for (let v = 0; v < here; v++) {
    if (own && own[v] === 0) continue;
    const row = new Float64Array(there);
    let total = 0;
    for (let w = 0; w < there; w++) {
      row[w] = tie.table[near === a ? v * there + w : w * here + v]! * far.values[w]!;
      total += row[w]!;
    }
    // No far value goes with this one: it cannot happen.
    if (!(total > 0)) continue;
    for (let w = 0; w < there; w++) row[w]! /= total;
    rows.push(row);
  }
  return { rows, relative: 2 * far.relative + 2 * (there + 4) * unit, radius };
}
