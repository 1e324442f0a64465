import { addUp, divUp, expm1Down, expUp, logUp, mulUp, subUp } from '../../exact/outward.js';
import type { Rational } from '../../exact/rational.js';
import { epsilonOn, largestRhoOn } from '../gaussian/delta-curve.js';
import { zcdpDelta } from '../gaussian/zcdp-delta.js';
import type { FactorGraph } from '../graph/factor-graph.js';
import { type ClusterLaw, clusterLaws } from './clusters.js';

/**
 * Gaussian noise under ties: every record spends rho of zCDP, and a change of one record changes a random cluster of them. A cluster of s records
 * costs rho s^2, and both the hockey-stick divergence and exp((alpha-1) Renyi) are jointly convex, so they average over the cluster
 * (percolation.proof.md). Averaging delta itself, each size at its own best order and never above 1, is at least as good as averaging at one order.
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
  readonly laws: readonly ClusterLaw[];
}

export const percolation = (graph: FactorGraph, used?: Uint8Array): Percolation => percolationOf(clusterLaws(graph, used));

export function percolationOf(laws: readonly ClusterLaw[]): Percolation {
  const longest = laws.reduce((m, l) => Math.max(m, l.tail.length - 1), 1);

  const delta = (rho: number, epsilon: number): number => {
    const charge = [0];
    for (let s = 1; s <= longest && charge[s - 1]! < 1; s++)
      charge.push(Math.max(charge[s - 1]!, zcdpDelta(mulUp(rho, mulUp(s, s)), epsilon)));
    let worst = 0;
    for (const { tail } of laws) {
      let sum = 0;
      for (let s = 1; s < Math.min(charge.length, tail.length); s++)
        sum = addUp(sum, mulUp(subUp(charge[s]!, charge[s - 1]!), tail[s]!));
      worst = Math.max(worst, sum);
    }
    return Math.min(1, worst);
  };

  const renyi = (rho: number, alpha: number): number => {
    const less = subUp(alpha, 1);
    let worst = 0;
    for (const { tail } of laws) {
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
    laws,
  };
}

/** 1 - e^(c (s-1)^2 - c s^2), rounded up. */
const riseOf = (c: number, s: number): number => -expm1Down(-mulUp(c, 2 * s - 1));
