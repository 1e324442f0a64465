import { Fault } from '../../../base/errors.js';
import type { Population } from './patterns.js';
import { haversine, type Space } from './space.js';
import { distanceTie, type TieModel } from './tie-model.js';

/** Influence of known friends' places on the prior of a person. */
export interface PriorModel {
  readonly name: string;
  /** sum: 1 + sum of weights (Eq. 9 of Liu et al. 2016). most: the largest weight. product: each friend a tie of its own. */
  readonly combine: 'none' | 'sum' | 'most' | 'product';
  /** weight[friend's cell x cells + cell]. */
  readonly weight?: Float64Array;
}

/** Attack 1: places are as common for this person as for others (Eq. 8). */
export const independentPrior: PriorModel = { name: 'independent', combine: 'none' };
/** Attack 2: weighted by the distance decay of friends (Eq. 9 with the kernel of Eq. 26). */
export const friendPrior = (space: Space): PriorModel => ({
  name: 'friends',
  combine: 'sum',
  weight: distanceTie(space).weight,
});
/** The circles of the paper's Fig. 4: ten times as likely within five kilometres of a friend. */
export function circlePrior(space: Space, reach = 5, heavier = 10): PriorModel {
  const { cells, lat, lon } = space;
  const weight = Float64Array.from({ length: cells * cells }, (_, k) => {
    const [u, v] = [Math.floor(k / cells), k % cells];
    return haversine(lat[u]!, lon[u]!, lat[v]!, lon[v]!) <= reach ? heavier : 1;
  });
  return { name: 'circle', combine: 'most', weight };
}
export const tiePrior = (tie: TieModel): PriorModel => ({ name: tie.name, combine: 'product', weight: tie.weight });

export interface Attacker {
  readonly name: string;
  readonly prior: PriorModel;
  /** Dependence of friends with unknown places on the person; absent: none. */
  readonly tie?: TieModel;
  /** People with known places, one flag per person; absent: everybody but the person. */
  readonly known?: Uint8Array;
}

/** A reproducible stream of numbers in [0, 1) for simulated attackers and resampling. Never for noise. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** N_prior of the paper: a random set of people whose places are known. */
export function knownPeople(population: Population, count: number, seed: number): Uint8Array {
  const { people } = population;
  if (!(Number.isInteger(count) && count >= 2 && count <= people))
    throw new Fault('QUERY_INVALID', 'The number of known people does not fit.', `Choose between 2 and ${people}.`);
  const draw = seededRandom(seed);
  const order = Uint32Array.from({ length: people }, (_, i) => i);
  const known = new Uint8Array(people);
  for (let k = 0; k < count; k++) {
    const other = k + Math.floor(draw() * (people - k));
    [order[k], order[other]] = [order[other]!, order[k]!];
    known[order[k]!] = 1;
  }
  return known;
}
