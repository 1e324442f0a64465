import * as z from 'zod';
import { assumed, type OddsEvidence, oddsEvidence } from '../../analysis/learn/odds/odds-evidence.js';
import { toDeclare } from '../../analysis/learn/odds/odds-interval.js';
import { countTiedPairs, poolRare } from '../../analysis/learn/odds/pair-table.js';
import { Fault } from '../../base/errors.js';
import { codeText } from '../../policy/code.js';
import { readCsvTable } from './csv-table.js';
import { type FileName, fileNamed, parseOptions, withFaults } from './input.js';
import { defineRequest, field } from './request.js';

export const oddsOptions = defineRequest('OddsOptions', {
  directed: field(z.boolean().default(false), 'The two ends of a pair differ (parent and child).', {
    help: 'with --public: the two ends differ (parent and child)',
  }),
  confidence: field(z.number().gt(0).lt(1).default(0.95), 'Confidence level of the interval.', {
    value: 'c',
    help: 'of the interval',
    showsDefault: true,
    refusal: ['--confidence must be a share below 1.', 'For example 0.05 or 0.95.'],
  }),
  pool: field(z.number().min(0).lt(0.5).default(0.05), 'Values rarer than this are merged.', {
    value: 'share',
    help: 'values rarer than this are taken as one',
    showsDefault: true,
    refusal: ['--pool must be a share below 0.5.', 'For example 0.05 or 0.95.'],
  }),
});
export type OddsOptions = z.input<typeof oddsOptions>;

/** Odds ratio of tied records, with its evidence. */
export interface LearnedOdds extends Omit<OddsEvidence, 'low' | 'high' | 'assumptionFree'> {
  /** Odds ratio that a policy may declare: the upper end, rounded up. */
  readonly declare: number;
  readonly interval: readonly [low: number, high: number];
  /** Values too rare to be judged. */
  readonly unjudged: readonly string[];
  /** Assumptions of `declare`, in words. */
  readonly assumes: string;
  /** Result from the pairs alone; the same as above unless `restsOn` is `shared`. */
  readonly assumptionFree: Pick<LearnedOdds, 'declare' | 'oddsRatio' | 'interval'>;
}

export const oddsOf = ({ low, high, assumptionFree: free, ...more }: OddsEvidence, unjudged: readonly string[]): LearnedOdds => ({
  unjudged,
  declare: toDeclare(high),
  interval: [low, high],
  ...more,
  assumes: assumed[more.restsOn],
  assumptionFree: { declare: toDeclare(free.high), oddsRatio: free.oddsRatio, interval: [free.low, free.high] },
});

/**
 * Odds ratio of tied pairs in a public CSV, whose first two columns are the values of the two ends. Free; to learn it from the
 * protected table, release the question { odds: ... }.
 *
 * @example
 * const { declare } = await learnOdds('pairs.csv');
 */
export async function learnOdds(pairs: FileName, given?: OddsOptions): Promise<LearnedOdds> {
  return withFaults(() => {
    const file = fileNamed(pairs, 'The table of pairs');
    const { directed, confidence, pool } = parseOptions(oddsOptions, given);
    const { names, rows } = readCsvTable(file);
    if (names.length < 2)
      throw new Fault('DATA_MALFORMED', 'The file of pairs needs two columns.', 'One line per tie: the value of each end.', {
        place: { file },
      });
    const ends = rows.map(([a, b]) => [codeText(a!), codeText(b!)] as const);
    const values = [...new Set(ends.flat().filter((v) => v !== ''))].sort();
    const place = new Map(values.map((v, k) => [v, k]));
    const coded = ends.map(([a, b]) => [place.get(a), place.get(b)] as const);
    const { table, unjudged } = poolRare({ values, directed, counts: countTiedPairs(coded, values.length, directed) }, pool);
    return oddsOf(oddsEvidence(table, confidence), unjudged);
  });
}
