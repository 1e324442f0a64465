import { toNumber } from '../../src/base/exact/rational.js';
import type { AnswerRow } from '../../src/query/bound.js';
import type { SelectionMeasure } from '../../src/query/count/measure.js';
import { type Case, policyOf } from './cases.js';
import { samples, type Times } from './samples.js';
import { type Budget, boundWithNoise, countedTimes, type Data, type Exact, released, truthOf } from './world.js';
import { worstRows } from './worst-rows.js';

/** Coverage of the confidence intervals of one number, over draws. */
export interface Held {
  readonly keys: readonly string[];
  /**
   * In percent: of the noise alone, for a statement about these rows; of noise and sampling,
   * for a statement about the population.
   */
  readonly noise: number;
  readonly both: number | undefined;
  /** For the latter: how often the interval lies below and above the true value, in percent. */
  readonly below: number;
  readonly above: number;
  /** Percentage of draws in which the interval lacked one end, and in which it lacked both. */
  readonly open: number;
  readonly without: number;
}

interface Ends {
  readonly low: number | null;
  readonly high: number | null;
}
const fails = ({ low, high }: Ends, x: number): number => (low !== null && x < low ? 1 : high !== null && x > high ? -1 : 0);

/**
 * Coverage of the confidence intervals of one query at one size and budget. `own` counts rows with multiplicity;
 * it may be passed on.
 */
export function trialOf(own: Case, people: Data, n: number, budget: Budget, known?: (times: Times) => Exact) {
  const { query, sample = 'alike', rows = () => true, parts = false, rank } = own;
  const policy = policyOf(own, people, n);
  const ask = boundWithNoise(policy, query, budget);
  const count = own.worst ? () => worstRows(ask, n) : (known ?? countedTimes(policy, ask, people));
  const { whole, draw } = samples[sample];
  // The population has equal weights, so its query needs no weight.
  const { weight: _, ...plainly } = query as { weight?: string };
  const plain = boundWithNoise(policy, sample === 'weights' ? plainly : query, budget);
  const ofAll = truthOf(plain, (sample === 'weights' ? countedTimes(policy, plain, people) : count)(whole(people, n)))[0]!.rows;
  const seen = ofAll.map(({ keys }) => ({ keys, held: 0, of: 0, below: 0, above: 0, bothOf: 0, open: 0, without: 0 }));
  const told = (row: AnswerRow) => (parts ? row.share : row)?.value;
  const observe = (times: Times, random: () => number): void => {
    const exact = count(times);
    const truth = truthOf(ask, exact)[0]!.rows;
    const [table] = released(ask, exact, random);
    table!.rows.forEach((row, j) => {
      if (!rows(row.keys) || typeof told(row) !== 'number' || typeof told(truth[j]!) !== 'number') return;
      const tally = seen[j]!;
      tally.of++;
      if (rank) {
        if (rankOff(ask.bound.measures[0] as SelectionMeasure, exact[0]!, j, row.value!) <= row[rank]!) tally.held++;
        return;
      }
      const ends = parts ? row.share! : row;
      if (fails(ends, told(truth[j]!)!) === 0) tally.held++;
      if (ends.low === null || ends.high === null) tally.open++;
      if (ends.low === null && ends.high === null) tally.without++;
      const wide = (parts ? row.share! : row).withSampling;
      if (!wide) return;
      tally.bothOf++;
      const failed = fails(wide, told(ofAll[j]!)!);
      if (failed < 0) tally.below++;
      if (failed > 0) tally.above++;
    });
  };
  const found = (): readonly Held[] =>
    seen
      .filter(({ of }) => of > 0)
      .map(({ keys, held, of, below, above, bothOf, open, without }) => ({
        keys,
        noise: (100 * held) / of,
        both: bothOf > 0 ? 100 - (100 * (below + above)) / bothOf : undefined,
        below: (100 * below) / Math.max(1, bothOf),
        above: (100 * above) / Math.max(1, bothOf),
        open: (100 * open) / of,
        without: (100 * without) / of,
      }));
  return { draw: (random: () => number) => draw(people, n, random), observe, found, count };
}

/** Number of rows by which a value misses the exact quantile of a group. */
function rankOff({ candidates, penalties, perRank }: SelectionMeasure, counts: readonly bigint[], group: number, value: number) {
  const width = candidates.length;
  const at = candidates.findIndex((candidate) => toNumber(candidate) === value);
  return Number(penalties(counts.slice(group * width, (group + 1) * width))[at]!) / perRank;
}

/** Coverage of confidence intervals, over draws of a sample and of noise. */
export function coverage(
  own: Case,
  people: Data,
  n: number,
  budget: Budget,
  { draws, random }: { readonly draws: number; readonly random: () => number },
): readonly Held[] {
  const trial = trialOf(own, people, n, budget);
  for (let k = 0; k < draws; k++) trial.observe(trial.draw(random), random);
  return trial.found();
}
