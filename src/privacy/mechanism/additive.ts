import { divide, multiply, type Rational, rational } from '../../base/exact/rational.js';
import { gaussianSampler } from '../noise/discrete-gaussian.js';
import { laplaceSampler } from '../noise/discrete-laplace.js';
import type { BudgetShare } from './budget-share.js';
import { type AdditiveDistribution, inDoubles, roundUp, varianceOf } from './distribution.js';
import { noiseHalfWidth, noiseScale } from './half-width.js';
import type { Mechanism } from './mechanism.js';
import { chargedCost, sensitivityNorm } from './mechanism-cost.js';
import type { Payment } from './payment.js';
import { type ClassScope, largestSensitivity, type RecordSensitivity } from './sensitivity.js';

/** Vector of whole numbers that noise is added to. */
export interface VectorQuery {
  readonly name: string;
  readonly cells: number;
  readonly sensitivity: RecordSensitivity;
  /** Value of one unit in the answer; 1 when absent. */
  readonly unit?: number;
  /** Number of releases of the vector, adaptive or not; 1 when absent. `sensitivity` is for one release. */
  readonly times?: number;
  /** Number of tables read from it, if every cell enters each of them. */
  readonly tables?: number;
  /** True if it depends on a single class of records. */
  readonly factored?: boolean;
}

export interface AdditiveMechanism extends Mechanism {
  readonly distribution: AdditiveDistribution;
  /** Variance of one cell, in units. */
  readonly variance: number;
  /**
   * Draws the noise of one vector now, so that timing cannot depend on the data, and adds it later. A shorter vector than planned
   * is charged in full, since its sensitivity is not smaller.
   */
  prepare(payment: Payment, cells?: number): (exact: readonly bigint[]) => bigint[];
}

const two = rational(2);

/**
 * Discrete Laplace noise for pure epsilon, discrete Gaussian noise for rho: the least with which every record in scope stays
 * within the budget share.
 */
export function additiveMechanism(what: VectorQuery, share: BudgetShare, scope?: ClassScope): AdditiveMechanism {
  const { name, cells, sensitivity, unit = 1, times = 1, tables, factored } = what;
  const most = largestSensitivity(sensitivity, sensitivityNorm[share.noise], scope);
  const distribution = distributionFor(share.noise, rational(most), divide(share.amount, rational(times)));
  const error95 = noiseHalfWidth(inDoubles(distribution), 0.05) * unit;
  const cost = chargedCost(distribution, sensitivity, share, { times, ...(scope && { scope }), ...(factored && { factored }) });
  const mechanism: AdditiveMechanism = {
    distribution,
    cost,
    draws: times,
    variance: varianceOf(distribution),
    summary: { name, cells: cells * times, error95, ...(tables !== undefined && { tables }) },
    prepare: (payment, count = cells) => {
      if (count > cells) throw new RangeError('more numbers than were foreseen');
      payment.take(mechanism, 1);
      const noise = draws(distribution, count);
      return (exact) => {
        if (exact.length !== count) throw new RangeError('one noise for each number');
        return payment.release(mechanism, exact, (list) => list.map((x, k) => x + noise[k]!));
      };
    },
  };
  return mechanism;
}

function distributionFor(noise: BudgetShare['noise'], sensitivity: Rational, each: Rational): AdditiveDistribution {
  if (sensitivity.num === 0n) return { kind: 'none' };
  return noise === 'pure'
    ? { kind: 'laplace', scale: roundUp(divide(sensitivity, each)) }
    : { kind: 'gaussian', variance: roundUp(divide(sensitivity, multiply(two, each))) };
}

function draws(distribution: AdditiveDistribution, count: number): bigint[] {
  if (distribution.kind === 'none') return new Array<bigint>(count).fill(0n);
  const draw = distribution.kind === 'laplace' ? laplaceSampler(distribution.scale) : gaussianSampler(distribution.variance);
  return Array.from({ length: count }, draw);
}

/** Expected absolute error (Laplace) or standard deviation (Gaussian) of one cell, for the choice between distributions. */
export const noiseWidth = (distribution: AdditiveDistribution): number => noiseScale(inDoubles(distribution));
