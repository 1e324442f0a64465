import { backstrom } from '../../src/analysis/learn/odds/friendship-model.js';
import type { Population } from '../../src/evaluate/attack/inference/patterns.js';
import { kilometresPerMile } from '../../src/evaluate/attack/inference/space.js';
import type { Calibration } from '../../src/evaluate/papers/compare/mechanism.js';
import {
  type CentroidSetting,
  correlatedDegree,
  dpmCentroids,
  groupCentroids,
  lpmCentroids,
  zhuCentroids,
} from '../../src/evaluate/papers/dependent-tuples/perturbed-centroids.js';

export type Published = Readonly<Record<'lpm' | 'dpm' | 'dpm90' | 'dpm80' | 'zhu' | 'group', Calibration>>;

const mostTies = ({ people, friendStart }: Population): number => {
  let most = 0;
  for (let i = 0; i < people; i++) most = Math.max(most, friendStart[i + 1]! - friendStart[i]!);
  return most;
};

/** Threshold from which correlations of two people's patterns count. */
const threshold = 0.5;

/**
 * The paper's four lines on one population; coordinates in units of the box,
 * the distribution of friends (miles) converted to it.
 */
export function publishedLines(population: Population): (epsilon: number) => Published {
  const { space, people } = population;
  const box = (2 * space.reach) / kilometresPerMile;
  const common = {
    people,
    mostTies: mostTies(population),
    assumedSensitivity: 1,
    grid: { side: space.side, step: 1 / space.side },
    law: { b: backstrom.b / box, c: backstrom.c },
    correlatedDegree: correlatedDegree(population.vector, 2 * population.ranks, threshold),
  };
  const known = new Map<number, Published>();
  return (epsilon) => {
    const found = known.get(epsilon);
    if (found) return found;
    const setting: CentroidSetting = { ...common, epsilon };
    const made: Published = {
      lpm: lpmCentroids(setting),
      dpm: dpmCentroids(setting),
      dpm90: dpmCentroids(setting, 0.9),
      dpm80: dpmCentroids(setting, 0.8),
      zhu: zhuCentroids(setting),
      group: groupCentroids(setting),
    };
    known.set(epsilon, made);
    return made;
  };
}
