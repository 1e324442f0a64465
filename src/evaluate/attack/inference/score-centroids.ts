import type { Population } from './patterns.js';
import { logSmoothedLaplace } from './smoothed-laplace.js';
import type { CentroidsTarget, OtherPeople, Scorer } from './target.js';

/** Eq. 6 of Liu et al. 2016 with the assignment held fixed: O(1) per candidate, since it moves the mean of one cluster only. */
export function scoreCentroids(target: CentroidsTarget, people: Population, known: Uint8Array | undefined): Scorer {
  const { parts, partOfPerson, scale } = target;
  const { space, ranks, vector } = people;
  const [knownCount, knownSum] = [new Float64Array(parts), new Float64Array(2 * parts)];
  const [count, sum, variance, base] = [
    new Float64Array(parts),
    new Float64Array(2 * parts),
    new Float64Array(2 * parts),
    new Float64Array(2 * parts),
  ];
  let rank = 0;
  let partOfCell: Uint16Array = new Uint16Array();
  let means: Float64Array = new Float64Array();

  const turnTo = (next: number) => {
    rank = next;
    partOfCell = target.partOfCell(rank);
    means = target.means(rank);
    knownCount.fill(0);
    knownSum.fill(0);
    for (let i = 0; i < people.people; i++) {
      if (known && !known[i]) continue;
      const at = 2 * (i * ranks + rank);
      knownCount[partOfPerson[i]!]!++;
      knownSum[2 * partOfPerson[i]!]! += vector[at]!;
      knownSum[2 * partOfPerson[i]! + 1]! += vector[at + 1]!;
    }
  };

  const others = (rest: OtherPeople) => {
    count.set(knownCount);
    sum.set(knownSum);
    variance.fill(0);
    if (rest.unknown > 0) {
      for (let s = 0; s < rest.supported; s++) {
        const cell = rest.support[s]!;
        const part = partOfCell[cell]!;
        const p = rest.share[cell]! * rest.unknown;
        const [x, y] = [space.x[cell]!, space.y[cell]!];
        count[part]! += p;
        sum[2 * part]! += p * x;
        sum[2 * part + 1]! += p * y;
        variance[2 * part]! += p * x * x;
        variance[2 * part + 1]! += p * y * y;
      }
      for (let d = 0; d < 2 * parts; d++) {
        const mean = sum[d]! - knownSum[d]!;
        variance[d] = Math.max(0, variance[d]! - (mean * mean) / rest.unknown);
      }
    }
    if (!rest.counted) return;
    const own = partOfPerson[rest.person]!;
    const at = 2 * (rest.person * ranks + rank);
    count[own]! -= 1;
    sum[2 * own]! -= vector[at]!;
    sum[2 * own + 1]! -= vector[at + 1]!;
  };

  const score = (rest: OtherPeople, scores: Float64Array) => {
    others(rest);
    for (let d = 0; d < 2 * parts; d++) {
      const n = count[d >> 1]!;
      // Nobody else is in the cluster: without the candidate its mean carries no information.
      if (n > 0.5) variance[d]! /= n * n;
      base[d] = n > 0.5 ? logSmoothedLaplace(means[d]! - sum[d]! / n, scale, variance[d]!) : -Math.log(2 * scale);
    }
    for (let s = 0; s < rest.supported; s++) {
      const cell = rest.support[s]!;
      const k = 2 * partOfCell[cell]!;
      const n = count[k >> 1]! + 1;
      scores[cell] =
        logSmoothedLaplace(means[k]! - (sum[k]! + space.x[cell]!) / n, scale, variance[k]!) -
        base[k]! +
        logSmoothedLaplace(means[k + 1]! - (sum[k + 1]! + space.y[cell]!) / n, scale, variance[k + 1]!) -
        base[k + 1]!;
    }
  };
  return { turnTo, score };
}
