import { divide, multiply, type Rational, rational, toNumber } from '../../base/exact/rational.js';
import { gaussianSampler } from '../noise/discrete-gaussian.js';
import { laplaceSampler } from '../noise/discrete-laplace.js';
import type { Allotment } from './allotment.js';
import { booked, sizeIn } from './cost.js';
import { type Effects, largest, type Scope } from './effect.js';
import { type AdditiveLaw, inDoubles, roundUp, varianceOf } from './law.js';
import { halfWidth } from './law-width.js';
import type { Mechanism } from './mechanism.js';
import type { Paid } from './paid.js';

/** Vector of whole numbers that noise is added to. */
export interface Noised {
  readonly name: string;
  readonly cells: number;
  readonly effects: Effects;
  /** Value of one unit in the answer; 1 when absent. */
  readonly unit?: number;
  /** Number of releases of the vector, adaptive or not; 1 when absent. `sensitivity` is for one release. */
  readonly times?: number;
  /** Number of tables read from it, if every cell enters each of them. */
  readonly tables?: number;
  /** True if it depends on a single class of records. */
  readonly factored?: boolean;
}

export interface Additive extends Mechanism {
  readonly law: AdditiveLaw;
  /** Variance of one cell, in units. */
  readonly variance: number;
  /**
   * Draws the noise of one vector now, so that timing cannot depend on the data, and adds it later. A shorter vector than planned
   * is charged in full, since its sensitivity is not smaller.
   */
  ready(paid: Paid, cells?: number): (exact: readonly bigint[]) => bigint[];
}

const two = rational(2);

/**
 * Discrete Laplace noise for pure epsilon, discrete Gaussian noise for rho: the least with which every record in scope stays
 * within the budget share.
 */
export function additive(what: Noised, allotment: Allotment, scope?: Scope): Additive {
  const { name, cells, effects, unit = 1, times = 1, tables, factored } = what;
  const most = largest(effects, sizeIn[allotment.noise], scope);
  const law = lawFor(allotment.noise, rational(most), divide(allotment.amount, rational(times)));
  const cost = booked(law, effects, allotment, { times, ...(scope && { scope }), ...(factored && { factored }) });
  const error95 = halfWidth(inDoubles(law), 0.05) * unit;
  const mechanism: Additive = {
    law,
    cost,
    draws: times,
    variance: varianceOf(law),
    told: { name, cells: cells * times, error95, ...(tables !== undefined && { tables }) },
    ready: (paid, count = cells) => {
      if (count > cells) throw new RangeError('more numbers than were foreseen');
      paid.take(mechanism, 1);
      const noise = draws(law, count);
      return (exact) => {
        if (exact.length !== count) throw new RangeError('one noise for each number');
        return paid.release(mechanism, exact, (list) => list.map((x, k) => x + noise[k]!));
      };
    },
  };
  return mechanism;
}

function lawFor(noise: Allotment['noise'], effect: Rational, each: Rational): AdditiveLaw {
  if (effect.num === 0n) return { kind: 'none' };
  return noise === 'pure'
    ? { kind: 'laplace', scale: roundUp(divide(effect, each)) }
    : { kind: 'gaussian', variance: roundUp(divide(effect, multiply(two, each))) };
}

function draws(law: AdditiveLaw, count: number): bigint[] {
  if (law.kind === 'none') return new Array<bigint>(count).fill(0n);
  const draw = law.kind === 'laplace' ? laplaceSampler(law.scale) : gaussianSampler(law.variance);
  return Array.from({ length: count }, draw);
}

/** Expected absolute error (Laplace) or standard deviation (Gaussian) of one cell, for the choice between distributions. */
export const spreadOf = (law: AdditiveLaw): number =>
  law.kind === 'laplace' ? toNumber(law.scale) : law.kind === 'gaussian' ? Math.sqrt(toNumber(law.variance)) : 0;
