import type { Fault } from '../../errors.js';
import type { Factor, Model } from './model.js';

type Wrong = (path: string, what: string) => Fault;

/** A chain x1 -> x2 -> … of `length` steps as pairwise factors. With `any` the class holds every initial law. */
export function chainModel(
  length: number,
  transition: readonly (readonly number[])[],
  initial: 'stationary' | 'any' | readonly number[],
  wrong: Wrong,
): Model {
  const states = transition.length;
  const values = Array.from({ length: states }, (_, s) => s);
  const table = Float64Array.from(transition.flat());
  const factors: Factor[] = [];
  if (initial !== 'any')
    factors.push({
      records: [0],
      table: Float64Array.from(initial === 'stationary' ? stationaryLaw(transition, wrong) : initial),
    });
  for (let t = 1; t < length; t++) factors.push({ records: [t - 1, t], table });
  const model = {
    ids: Array.from({ length }, (_, t) => `x${t + 1}`),
    values: Array.from({ length }, () => values),
    factors,
  };
  return initial === 'any' ? { ...model, anyPrior: [0] } : model;
}

/** The law kept by one step, by elimination without subtraction (Grassmann, Taksar, Heyman): relatively accurate in every entry. */
function stationaryLaw(transition: readonly (readonly number[])[], wrong: Wrong): number[] {
  const n = transition.length;
  const a = transition.map((row) => [...row]);
  for (let k = n - 1; k > 0; k--) {
    let out = 0;
    for (let j = 0; j < k; j++) out += a[k]![j]!;
    if (!(out > 0))
      throw wrong(
        'chain.initial',
        'is "stationary", but the chain has states that never reach each other, so there is no single stationary law',
      );
    for (let i = 0; i < k; i++) a[i]![k]! /= out;
    for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) if (i !== j) a[i]![j]! += a[i]![k]! * a[k]![j]!;
  }
  const law = new Array<number>(n).fill(0);
  law[0] = 1;
  for (let k = 1; k < n; k++) for (let i = 0; i < k; i++) law[k]! += law[i]! * a[i]![k]!;
  const total = law.reduce((s, p) => s + p, 0);
  return law.map((p) => p / total);
}
