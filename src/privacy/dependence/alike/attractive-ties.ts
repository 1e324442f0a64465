import { addUp } from '../../../base/exact/outward.js';
import { compare, fromNumber, multiply } from '../../../base/exact/rational.js';
import { type FactorGraph, fromFactors } from '../graph/factor-graph.js';
import { isTable, type Model, type ModelFactor } from '../model/model.js';
import { logOdds, logOddsRatio } from '../model/odds.js';

/** Attractive ties of a model, as one graph over all its records, and the covered records: whole components of the model. */
export interface AttractiveTies {
  readonly graph: FactorGraph;
  readonly coveredNodes: Uint8Array;
}

/** Tie between two two-valued records: sign 1 if attractive, -1 if repelling, and its log odds. */
interface Signed {
  readonly ends: readonly [number, number];
  readonly sign: 1 | -1;
  readonly logOdds: number;
}

/**
 * Attractive ties of a model: components of ties between two two-valued records that some renaming of values makes attractive. A
 * table shows its sign; an odds ratio has one only with `pull`.
 */
export function attractiveTies(model: Model): AttractiveTies | undefined {
  const coveredNodes = new Uint8Array(model.ids.length).fill(1);
  const near: { to: number; sign: 1 | -1 }[][] = model.ids.map(() => []);
  const ties = new Map<string, Signed>();
  for (const factor of model.factors) {
    if (factor.records.length < 2) continue;
    const signed = signOf(factor, model);
    if (signed === undefined) for (const r of factor.records) coveredNodes[r] = 0;
    for (const [k, r] of factor.records.entries())
      near[r]!.push({ to: factor.records[k === 0 ? 1 : k - 1]!, sign: signed?.sign ?? 1 });
    if (!signed) continue;
    const [u, w] = signed.ends;
    const key = `${Math.min(u, w)},${Math.max(u, w)}`;
    const known = ties.get(key);
    // Two ties of one pair add up; if their signs differ, no renaming makes both attractive.
    ties.set(key, known ? { ...signed, logOdds: addUp(known.logOdds, signed.logOdds) } : signed);
  }
  excludeUnbalanced(near, coveredNodes);
  const together = [...ties.values()].filter(({ ends }) => coveredNodes[ends[0]]);
  if (together.length === 0) return undefined;
  const graph = fromFactors(
    model.ids.length,
    together.map(({ ends, logOdds }) => ({ members: ends, logOdds })),
  );
  return { graph, coveredNodes };
}

function signOf(factor: ModelFactor, model: Model): Signed | undefined {
  const [u, w] = factor.records as readonly [number, number];
  if (factor.records.length !== 2 || model.values[u]!.length !== 2 || model.values[w]!.length !== 2) return undefined;
  if (!isTable(factor)) return factor.pull ? { ends: [u, w], sign: 1, logOdds: logOdds(factor.oddsRatio) } : undefined;
  const [f00, f01, f10, f11] = Array.from(factor.table, fromNumber);
  const sign = compare(multiply(f00!, f11!), multiply(f01!, f10!)) < 0 ? -1 : 1;
  return { ends: [u, w], sign, logOdds: logOddsRatio(factor.table, [2, 2], 0) };
}

/** Excludes components with a record that is not covered, or with a loop whose signs multiply to -1. */
function excludeUnbalanced(near: readonly (readonly { to: number; sign: 1 | -1 }[])[], coveredNodes: Uint8Array): void {
  const side = new Int8Array(near.length);
  for (let root = 0; root < near.length; root++) {
    if (side[root] !== 0) continue;
    side[root] = 1;
    const met = [root];
    let balanced = true;
    for (let k = 0; k < met.length; k++) {
      const u = met[k]!;
      if (!coveredNodes[u]) balanced = false;
      for (const { to, sign } of near[u]!) {
        if (side[to] === 0) {
          side[to] = side[u]! * sign;
          met.push(to);
        } else if (side[to] !== side[u]! * sign) balanced = false;
      }
    }
    if (!balanced) for (const u of met) coveredNodes[u] = 0;
  }
}
