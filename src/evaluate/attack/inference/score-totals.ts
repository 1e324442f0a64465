import type { Population } from './patterns.js';
import { logSmoothedLaplace } from './smoothed-laplace.js';
import type { OtherPeople, Round, Scorer, TotalsTarget } from './target.js';

const centre = (u: number): number => 2 * u - 1;

/** Known totals of one round at one rank, and buffers for the residuals of one person. */
interface Tally {
  readonly round: Round;
  readonly known: Float64Array;
  readonly knownSums: Float64Array;
  readonly count: Float64Array;
  readonly countVariance: Float64Array;
  readonly sum: Float64Array;
  readonly sumVariance: Float64Array;
  /** Log-likelihood of the count residual with and without one more record. */
  readonly countGain: Float64Array;
  readonly sumBase: Float64Array;
}

export function scoreTotals(target: TotalsTarget, people: Population, known: Uint8Array | undefined): Scorer {
  const { space, ranks, vector } = people;
  const cellX = space.x.map(centre);
  const cellY = space.y.map(centre);
  let rank = 0;
  let tallies: Tally[] = [];

  const turnTo = (next: number) => {
    rank = next;
    tallies = target.rounds(rank).map((round) => {
      const blank = (n: number) => new Float64Array(n);
      const k = round.parts;
      const tally: Tally = {
        round,
        known: blank(k),
        knownSums: blank(2 * k),
        count: blank(k),
        countVariance: blank(k),
        sum: blank(2 * k),
        sumVariance: blank(2 * k),
        countGain: blank(k),
        sumBase: blank(2 * k),
      };
      for (let i = 0; i < people.people; i++) {
        if (known && !known[i]) continue;
        const part = round.partOfPerson[i]!;
        const at = 2 * (i * ranks + rank);
        tally.known[part]!++;
        tally.knownSums[2 * part]! += centre(vector[at]!);
        tally.knownSums[2 * part + 1]! += centre(vector[at + 1]!);
      }
      return tally;
    });
  };

  /** Residuals: published - known - expected values of the unknown; variances: those of the unknown. */
  const residuals = (tally: Tally, rest: OtherPeople) => {
    const { round, count, countVariance, sum, sumVariance } = tally;
    count.fill(0);
    sum.fill(0);
    sumVariance.fill(0);
    if (rest.unknown > 0)
      for (let s = 0; s < rest.supported; s++) {
        const cell = rest.support[s]!;
        const part = round.partOfCell[cell]!;
        const p = rest.share[cell]!;
        count[part]! += p;
        sum[2 * part]! += p * cellX[cell]!;
        sum[2 * part + 1]! += p * cellY[cell]!;
        sumVariance[2 * part]! += p * cellX[cell]! ** 2;
        sumVariance[2 * part + 1]! += p * cellY[cell]! ** 2;
      }
    const n = rest.unknown;
    for (let k = 0; k < round.parts; k++) {
      const share = count[k]!;
      countVariance[k] = n * share * (1 - share);
      count[k] = round.counts[k]! - tally.known[k]! - n * share;
      for (let d = 2 * k; d < 2 * k + 2; d++) {
        sumVariance[d] = n * Math.max(0, sumVariance[d]! - sum[d]! * sum[d]!);
        sum[d] = (round.sums?.[d] ?? 0) - tally.knownSums[d]! - n * sum[d]!;
      }
    }
    if (!rest.counted) return;
    const own = round.partOfPerson[rest.person]!;
    const at = 2 * (rest.person * ranks + rank);
    count[own]! += 1;
    sum[2 * own]! += centre(vector[at]!);
    sum[2 * own + 1]! += centre(vector[at + 1]!);
  };

  const score = (rest: OtherPeople, scores: Float64Array) => {
    scores.fill(0);
    for (const tally of tallies) {
      residuals(tally, rest);
      const { round, count, countVariance, sum, sumVariance, countGain, sumBase } = tally;
      const scale = round.sumScale;
      for (let k = 0; k < round.parts; k++) {
        countGain[k] =
          logSmoothedLaplace(count[k]! - 1, round.countScale, countVariance[k]!) -
          logSmoothedLaplace(count[k]!, round.countScale, countVariance[k]!);
        if (scale === undefined) continue;
        sumBase[2 * k] = logSmoothedLaplace(sum[2 * k]!, scale, sumVariance[2 * k]!);
        sumBase[2 * k + 1] = logSmoothedLaplace(sum[2 * k + 1]!, scale, sumVariance[2 * k + 1]!);
      }
      for (let s = 0; s < rest.supported; s++) {
        const cell = rest.support[s]!;
        const k = round.partOfCell[cell]!;
        let gain = countGain[k]!;
        if (scale !== undefined)
          gain +=
            logSmoothedLaplace(sum[2 * k]! - cellX[cell]!, scale, sumVariance[2 * k]!) -
            sumBase[2 * k]! +
            logSmoothedLaplace(sum[2 * k + 1]! - cellY[cell]!, scale, sumVariance[2 * k + 1]!) -
            sumBase[2 * k + 1]!;
        scores[cell]! += gain;
      }
    }
  };
  return { turnTo, score };
}
