import { addUp, divUp, expm1Down, expUp, logUp, mulUp, subUp } from '../../../base/exact/outward.js';
import type { Rational } from '../../../base/exact/rational.js';
import { epsilonOn, largestRhoOn } from '../gaussian/delta-curve.js';
import { zcdpDelta } from '../gaussian/zcdp-delta.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import { type ClusterDistribution, clusterDistributions } from './clusters.js';

/**
 * Gaussian noise under ties: a change of one record changes a random cluster, and s records cost rho s^2. delta and exp((alpha-1)
 * Renyi) are averaged over its size, each size at its best order (percolation.proof.md).
 */
export interface Percolation {
  /** delta at epsilon when every record spends rho; rounded up. */
  delta(rho: number, epsilon: number): number;
  /** Renyi divergence of order alpha; rounded up. */
  renyi(rho: number, alpha: number): number;
  /** The least epsilon (to nine digits, rounded up) that keeps delta. */
  epsilon(rho: Rational, delta: Rational): number;
  /** The largest common rho that keeps (epsilon, delta); rounded down. */
  largestRho(epsilon: Rational, delta: Rational): Rational;
  readonly distributions: readonly ClusterDistribution[];
}

export const percolation = (graph: FactorGraph, used?: Uint8Array): Percolation =>
  percolationOf(clusterDistributions(graph, used));

export function percolationOf(distributions: readonly ClusterDistribution[]): Percolation {
  const longest = distributions.reduce((m, l) => Math.max(m, l.tail.length - 1), 1);
  const ends = endsUpTo(longest);

  const delta = (rho: number, epsilon: number): number => {
    // charge[k] is that of the largest size of the k-th stretch, which all sizes in it are charged.
    const charge = [0];
    for (let k = 1; k < ends.length && charge[k - 1]! < 1; k++) {
      const s = ends[k]!;
      charge.push(Math.max(charge[k - 1]!, zcdpDelta(mulUp(rho, mulUp(s, s)), epsilon)));
    }
    let worst = 0;
    for (const { tail } of distributions) {
      let sum = 0;
      for (let k = 1; k < charge.length && ends[k - 1]! + 1 < tail.length; k++)
        sum = addUp(sum, mulUp(subUp(charge[k]!, charge[k - 1]!), tail[ends[k - 1]! + 1]!));
      worst = Math.max(worst, sum);
    }
    return Math.min(1, worst);
  };

  const renyi = (rho: number, alpha: number): number => {
    const less = subUp(alpha, 1);
    let worst = 0;
    for (const { tail } of distributions) {
      // log of E exp(c s^2) = log of sum of (e^(c s^2) - e^(c (s-1)^2)) tail(s), kept relative to the largest term.
      const c = mulUp(mulUp(alpha, less), rho);
      const exponent = (s: number) => mulUp(c, mulUp(s, s));
      let top = 0;
      for (let s = 1; s < tail.length; s++) if (tail[s]! > 0) top = Math.max(top, exponent(s) + Math.log(tail[s]!));
      let sum = expUp(-top);
      for (let s = 1; s < tail.length; s++)
        if (tail[s]! > 0) sum = addUp(sum, expUp(subUp(addUp(exponent(s), logUp(tail[s]!)), top)) * riseOf(c, s));
      worst = Math.max(worst, addUp(top, logUp(sum)));
    }
    return divUp(worst, alpha - 1);
  };

  return {
    delta,
    renyi,
    epsilon: (rho, d) => epsilonOn(delta, rho, d),
    largestRho: (epsilon, d) => largestRhoOn(delta, epsilon, d),
    distributions,
  };
}

/** Up to here sizes are charged one by one, beyond it in stretches of this part of them. */
const oneByOne = 1024;
const stretch = 1 / 512;

/** 0, and the last size of every stretch. */
function endsUpTo(longest: number): readonly number[] {
  const ends = [0];
  while (ends.at(-1)! < longest) {
    const next = ends.at(-1)! + 1;
    ends.push(Math.min(longest, next <= oneByOne ? next : Math.floor(next * (1 + stretch))));
  }
  return ends;
}

/** 1 - e^(c (s-1)^2 - c s^2), rounded up. */
const riseOf = (c: number, s: number): number => -expm1Down(-mulUp(c, 2 * s - 1));
