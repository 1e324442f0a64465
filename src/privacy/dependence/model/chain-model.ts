import type { Fault } from '../../../base/errors.js';
import type { Model, ModelFactor } from './model.js';

type Wrong = (path: string, what: string) => Fault;

/** Parsed chain file. */
export interface ChainDocument {
  readonly length: number;
  readonly transition: readonly (readonly number[])[];
  readonly initial: 'stationary' | 'any' | readonly number[];
  /** Number of independent people, each with a chain of its own. */
  readonly people: number;
}

/**
 * Chain x1 -> x2 -> … of `length` steps as pairwise factors, for each person. With `any` the class holds every initial
 * distribution.
 */
export function chainModel({ length, transition, initial, people }: ChainDocument, wrong: Wrong): Model {
  const values = Array.from({ length: transition.length }, (_, s) => s);
  const table = Float64Array.from(transition.flat());
  const start =
    initial === 'any'
      ? undefined
      : Float64Array.from(initial === 'stationary' ? stationaryProbabilities(transition, wrong) : initial);
  const factors: ModelFactor[] = [];
  for (let first = 0; first < people * length; first += length) {
    if (start) factors.push({ records: [first], table: start });
    for (let t = first + 1; t < first + length; t++) factors.push({ records: [t - 1, t], table });
  }
  const all = Array.from({ length: people * length }, (_, r) => r);
  return {
    ids: all.map((r) => (people === 1 ? `x${r + 1}` : `p${Math.floor(r / length) + 1}x${(r % length) + 1}`)),
    values: all.map(() => values),
    factors,
    ...(start === undefined && { anyPrior: all.filter((r) => r % length === 0) }),
    ...(people > 1 && { copies: people }),
  };
}

/** One of the independent, equal copies in a model: the leakage of its records does not depend on the other copies. */
export function oneCopy(model: Model): Model {
  const { ids, values, factors, anyPrior, copies = 1 } = model;
  if (copies === 1) return model;
  const size = ids.length / copies;
  return {
    ids: ids.slice(0, size),
    values: values.slice(0, size),
    factors: factors.filter((f) => f.records.every((r) => r < size)),
    ...(anyPrior && { anyPrior: anyPrior.filter((r) => r < size) }),
  };
}

/** Stationary distribution by elimination without subtraction (Grassmann, Taksar, Heyman): relatively accurate in every entry. */
function stationaryProbabilities(transition: readonly (readonly number[])[], wrong: Wrong): number[] {
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
  const distribution = new Array<number>(n).fill(0);
  distribution[0] = 1;
  for (let k = 1; k < n; k++) for (let i = 0; i < k; i++) distribution[k]! += distribution[i]! * a[i]![k]!;
  const total = distribution.reduce((s, p) => s + p, 0);
  return distribution.map((p) => p / total);
}
