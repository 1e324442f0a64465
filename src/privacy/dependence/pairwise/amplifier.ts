import { divide, fromNumber, type Rational, toNumberDown, toNumberUp } from '../../../base/exact/rational.js';
import { answersTo, type RecordClass } from '../../mechanism/record-class.js';
import type { ClassScope } from '../../mechanism/sensitivity.js';
import type { Amplifier } from '../amplifier.js';
import { commonBaseCost } from '../base-cost.js';
import { wholeLevels } from '../condition.js';
import { type Resolution, resolutionWords } from '../model/resolution.js';
import { largestPairwiseBase, type PairwiseSpread, pairwiseLeakage } from './leakage.js';

/** Origin of the tables, and so who vouches for them. */
export type TableOrigin =
  | { readonly kind: 'public'; readonly from: string }
  | { readonly kind: 'unpaid' }
  | { readonly kind: 'paid' };

const voucher: Record<TableOrigin['kind'], string> = {
  public: 'The two-column tables come from a public source and describe this population.',
  unpaid:
    'The two-column tables were learned from the protected rows themselves and not paid for: what they reveal is not counted.',
  paid: 'The spread of the two-column tables was released privately, from the budget of the people it was learned from, and describes this population.',
};

/** The route "uninformed attacker, one answer, columns noised one by one and read by levels, two-column tables of these levels known". */
export function pairwiseAmplifier(spread: PairwiseSpread, origin: TableOrigin, resolution: Resolution): Amplifier {
  const columns = new Set<RecordClass>(spread.names.map(answersTo));
  const sampled =
    spread.confidence < 1
      ? [
          `The tables are a sample of independent respondents; the bound holds with probability ${spread.confidence} over that sample.`,
        ]
      : ['The two-column tables are exactly right.'];
  const scope: ClassScope = (record) => columns.has(record);
  return {
    name: 'pairwise',
    scope,
    // The spread is summed over the other columns, so it needs one base for all.
    leakage: (base) => pairwiseLeakage(spread, toNumberUp(commonBaseCost(base, scope))),
    largestBase: (epsilon, parts) => {
      const common = fromNumber(largestPairwiseBase(spread, toNumberDown(epsilon)));
      return parts ? divide(common, commonBaseCost(parts, scope)) : common;
    },
    gaussian: [],
    conditions: [wholeLevels(resolution)],
    whatIf: (base: Rational) =>
      [0.05, 0.1].map((more) => ({
        change: `every answer predicts every other ${100 * more} points better than the tables say`,
        leakage: pairwiseLeakage(widened(spread, more), toNumberUp(base)),
      })),
    factoredOnly: true,
    assumptions: [
      'Respondents are independent of one another.',
      'The attacker knows how answers go together in the population, but no other answer of the person.',
      voucher[origin.kind],
      ...resolutionWords(resolution),
      ...(spread.secrets
        ? ['Rare answers to a question count as one secret together; which of them it was is protected by composition only.']
        : []),
      ...(spread.least !== undefined
        ? [
            `Only answers that at least ${spread.least} people in the sample gave are covered; rarer ones are protected by composition only.`,
          ]
        : []),
      ...(spread.forms
        ? ['Public forms and gates are known to the attacker; an answer nobody gave on a form is impossible on it.']
        : []),
      ...sampled,
    ],
    method:
      'Pairwise bound: columns are noised one by one, and two-column tables limit what the other answers say about one (no graph, every joint with these tables).',
  };
}

const widened = (spread: PairwiseSpread, more: number): PairwiseSpread => ({
  ...spread,
  tilts: spread.tilts.map(({ tilt, spread: s }) => ({
    tilt,
    spread: Math.min(s + more * (spread.columns - 1), tilt * (spread.columns - 1)),
  })),
});
