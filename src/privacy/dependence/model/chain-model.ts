import type { Fault } from '../../../base/errors.js';
import { stationaryLaw } from '../chain/stationary.js';
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

function stationaryProbabilities(transition: readonly (readonly number[])[], wrong: Wrong): Float64Array {
  const stationary = stationaryLaw(transition);
  if (stationary) return stationary;
  throw wrong(
    'chain.initial',
    'is "stationary", but the chain has states that never reach each other, so there is no single stationary law',
  );
}
