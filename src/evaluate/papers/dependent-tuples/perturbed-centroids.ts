import { backstrom, type FriendshipModel } from '../../../analysis/learn/odds/friendship-model.js';
import { Fault } from '../../../base/errors.js';
import { rational } from '../../../base/exact/rational.js';
import { laplaceSampler } from '../../../privacy/noise/discrete-laplace.js';
import { asPublished, type Calibration } from '../compare/mechanism.js';
import { fixedPointOf } from './dpm.js';
import { type CellGrid, FriendCoefficients } from './friend-model.js';

/**
 * The clustering of Liu et al. 2016: K-means on the exact data, then Laplace noise on the centres. NOT PRIVATE: assignments
 * may flip, so every scale rests on the unproven bound `assumedSensitivity`. Kept as a target for attacks and audits.
 */
export interface CentroidSetting {
  readonly people: number;
  /** Ties of the person who has most. */
  readonly mostTies: number;
  /** The L1 distance by which one record is assumed to move the centres; the paper's formulas use 1. */
  readonly assumedSensitivity: number;
  readonly epsilon: number;
  /** Possible places of people, in the unit in which the centres are published. */
  readonly grid: CellGrid;
  /** Decay of friendship with distance (Eq. 26) in that unit. */
  readonly tieDecay?: FriendshipModel;
  /** Zhu et al. 2015: the largest sum of absolute correlations of one record with the others. */
  readonly correlatedDegree?: number;
}

const assumption = 'One record moves the cluster centres by at most the stated effect, which is false.';
const calibration = (name: string, sensitivity: number, epsilon: number): Calibration => ({
  name,
  scale: sensitivity / epsilon,
  ...asPublished,
  assumption,
});

/** Ordinary Laplace noise. */
export const lpmCentroids = ({ assumedSensitivity, epsilon }: CentroidSetting): Calibration =>
  calibration('lpm', assumedSensitivity, epsilon);

/** The paper's baseline: everybody depends on everybody (L = number of tuples). */
export const groupCentroids = ({ assumedSensitivity, epsilon, people }: CentroidSetting): Calibration =>
  calibration('group', people * assumedSensitivity, epsilon);

export const zhuCentroids = ({ assumedSensitivity, epsilon, correlatedDegree, people }: CentroidSetting): Calibration =>
  calibration('zhu', (correlatedDegree ?? people) * assumedSensitivity, epsilon);

/** Eqs. 26, 18, 24 and 25: 1 + sum over ties of rho, by the fixed point of scale x epsilon. `understated` multiplies every rho (Figure 7). */
export function dpmCentroids(setting: CentroidSetting, understated = 1): Calibration {
  const { mostTies, assumedSensitivity, epsilon, grid, tieDecay = backstrom } = setting;
  if (!(understated > 0 && understated <= 1))
    throw new Fault('QUERY_INVALID', 'The share of rho must lie in (0, 1].', 'Use for example 0.8.');
  const coefficients = new FriendCoefficients(grid);
  const sensitivity = (scale: number) =>
    assumedSensitivity * (1 + mostTies * understated * coefficients.at(scale, [tieDecay])[0]!);
  const scale = fixedPointOf(sensitivity, assumedSensitivity * (1 + mostTies), epsilon);
  return calibration(understated === 1 ? 'dpm' : `dpm, rho x ${understated}`, scale * epsilon, epsilon);
}

/** Fineness of the lattice that the centres are published on. */
const grain = 2 ** 20;

/** Every coordinate of every centre gets Laplace noise of this scale. */
export function perturb(centres: Float64Array, scale: number): Float64Array {
  const draw = laplaceSampler(rational(BigInt(Math.max(1, Math.round(scale * grain)))));
  return centres.map((c) => (Math.round(c * grain) + Number(draw())) / grain);
}

/**
 * Zhu et al. 2015 on vectors: max over records of the sum of |Pearson correlation| with all others, correlations below the threshold dropped.
 * It reads the private data, which is one of the things that are wrong with it.
 */
export function correlatedDegree(vectors: Float64Array, width: number, threshold: number): number {
  const count = vectors.length / width;
  const standard = new Float64Array(vectors.length);
  for (let i = 0; i < count; i++) {
    const own = vectors.subarray(i * width, (i + 1) * width);
    const mean = own.reduce((s, v) => s + v, 0) / width;
    const length = Math.sqrt(own.reduce((s, v) => s + (v - mean) ** 2, 0));
    if (length > 0) for (let d = 0; d < width; d++) standard[i * width + d] = (own[d]! - mean) / length;
  }
  const degree = new Float64Array(count).fill(1);
  for (let i = 0; i < count; i++)
    for (let j = i + 1; j < count; j++) {
      let theta = 0;
      for (let d = 0; d < width; d++) theta += standard[i * width + d]! * standard[j * width + d]!;
      theta = Math.abs(theta);
      if (theta < threshold) continue;
      degree[i]! += theta;
      degree[j]! += theta;
    }
  return degree.reduce((m, d) => Math.max(m, d), 1);
}
