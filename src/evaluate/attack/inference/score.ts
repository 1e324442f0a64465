import type { Population } from './patterns.js';
import { logSmoothedLaplace } from './smoothed-laplace.js';
import type { AttackTarget, CentroidsTarget, OtherPeople, Round, Scorer, TotalsTarget } from './target.js';

/** Parts of the map at one rank, and the unit in which coordinates are added up. */
interface MapParts extends Pick<Round, 'parts' | 'partOfCell' | 'partOfPerson'> {
  readonly rank: number;
  readonly coordinate: (unit: number) => number;
}

/** What everybody but one person adds to each part: means and variances of counts, and of sums of both coordinates (two per part). */
interface OthersMoments {
  readonly count: Float64Array;
  readonly countVariance: Float64Array;
  readonly sum: Float64Array;
  readonly sumVariance: Float64Array;
  /** Cell centres in the unit of the sums. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  update(rest: OtherPeople): void;
}

function momentsOfOthers(
  { space, people, ranks, vector }: Population,
  known: Uint8Array | undefined,
  { parts, partOfCell, partOfPerson, rank, coordinate }: MapParts,
): OthersMoments {
  const blank = (length: number) => new Float64Array(length);
  const [x, y] = [space.x.map(coordinate), space.y.map(coordinate)];
  const [knownCount, count, countVariance] = [blank(parts), blank(parts), blank(parts)];
  const [knownSum, sum, sumVariance] = [blank(2 * parts), blank(2 * parts), blank(2 * parts)];
  const add = (person: number, sign: 1 | -1, counts: Float64Array, sums: Float64Array) => {
    const part = partOfPerson[person]!;
    const at = 2 * (person * ranks + rank);
    counts[part]! += sign;
    sums[2 * part]! += sign * coordinate(vector[at]!);
    sums[2 * part + 1]! += sign * coordinate(vector[at + 1]!);
  };
  for (let i = 0; i < people; i++) if (!known || known[i]) add(i, 1, knownCount, knownSum);

  const update = (rest: OtherPeople) => {
    count.fill(0);
    sum.fill(0);
    sumVariance.fill(0);
    const n = rest.unknown;
    if (n > 0)
      for (let s = 0; s < rest.supported; s++) {
        const cell = rest.support[s]!;
        const part = partOfCell[cell]!;
        const p = rest.share[cell]!;
        count[part]! += p;
        sum[2 * part]! += p * x[cell]!;
        sum[2 * part + 1]! += p * y[cell]!;
        sumVariance[2 * part]! += p * x[cell]! ** 2;
        sumVariance[2 * part + 1]! += p * y[cell]! ** 2;
      }
    for (let k = 0; k < parts; k++) {
      countVariance[k] = n * count[k]! * (1 - count[k]!);
      count[k] = knownCount[k]! + n * count[k]!;
    }
    for (let d = 0; d < 2 * parts; d++) {
      sumVariance[d] = n * Math.max(0, sumVariance[d]! - sum[d]! ** 2);
      sum[d] = knownSum[d]! + n * sum[d]!;
    }
    if (rest.counted) add(rest.person, -1, count, sum);
  };
  return { count, countVariance, sum, sumVariance, x, y, update };
}

export const scorerFor = (target: AttackTarget, population: Population, known: Uint8Array | undefined): Scorer =>
  target.kind === 'totals' ? scoreTotals(target, population, known) : scoreCentroids(target, population, known);

/** Coordinates centred into [-1, 1]. */
const centre = (unit: number): number => 2 * unit - 1;

function scoreTotals(target: TotalsTarget, population: Population, known: Uint8Array | undefined): Scorer {
  let rounds: ((rest: OtherPeople, scores: Float64Array) => void)[] = [];
  return {
    turnTo(rank) {
      rounds = target.rounds(rank).map((round) => {
        const moments = momentsOfOthers(population, known, { ...round, rank, coordinate: centre });
        return scoreRound(round, moments);
      });
    },
    score(rest, scores) {
      scores.fill(0);
      for (const add of rounds) add(rest, scores);
    },
  };
}

/** Adds to each cell what one more record there changes in the log-likelihood of a round's counts and sums. */
function scoreRound({ parts, partOfCell, counts, countScale, sums, sumScale: scale }: Round, others: OthersMoments) {
  const { count, countVariance, sum, sumVariance, x, y } = others;
  const [countGain, sumBase, off] = [new Float64Array(parts), new Float64Array(2 * parts), new Float64Array(2 * parts)];
  return (rest: OtherPeople, scores: Float64Array): void => {
    others.update(rest);
    for (let k = 0; k < parts; k++) {
      const left = counts[k]! - count[k]!;
      const variance = countVariance[k]!;
      countGain[k] = logSmoothedLaplace(left - 1, countScale, variance) - logSmoothedLaplace(left, countScale, variance);
    }
    if (scale !== undefined)
      for (let d = 0; d < 2 * parts; d++) {
        off[d] = (sums?.[d] ?? 0) - sum[d]!;
        sumBase[d] = logSmoothedLaplace(off[d]!, scale, sumVariance[d]!);
      }
    for (let s = 0; s < rest.supported; s++) {
      const cell = rest.support[s]!;
      const k = 2 * partOfCell[cell]!;
      scores[cell]! += countGain[k >> 1]!;
      if (scale === undefined) continue;
      scores[cell]! +=
        logSmoothedLaplace(off[k]! - x[cell]!, scale, sumVariance[k]!) -
        sumBase[k]! +
        logSmoothedLaplace(off[k + 1]! - y[cell]!, scale, sumVariance[k + 1]!) -
        sumBase[k + 1]!;
    }
  };
}

/** Eq. 6 of Liu et al. 2016 with the assignment held fixed: O(1) per candidate, since it moves the mean of one cluster only. */
function scoreCentroids(target: CentroidsTarget, population: Population, known: Uint8Array | undefined): Scorer {
  const { parts, scale } = target;
  const base = new Float64Array(2 * parts);
  let partOfCell: Uint16Array;
  let means: Float64Array;
  let others: OthersMoments;
  return {
    turnTo(rank) {
      partOfCell = target.partOfCell(rank);
      means = target.means(rank);
      others = momentsOfOthers(population, known, { ...target, partOfCell, rank, coordinate: (unit) => unit });
    },
    score(rest, scores) {
      others.update(rest);
      const { count, sum, sumVariance: variance, x, y } = others;
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
          logSmoothedLaplace(means[k]! - (sum[k]! + x[cell]!) / n, scale, variance[k]!) -
          base[k]! +
          logSmoothedLaplace(means[k + 1]! - (sum[k + 1]! + y[cell]!) / n, scale, variance[k + 1]!) -
          base[k + 1]!;
      }
    },
  };
}
