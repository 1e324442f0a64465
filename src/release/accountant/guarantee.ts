import { addUp } from '../../base/exact/outward.js';
import { type Rational, rational, toNumber } from '../../base/exact/rational.js';
import { slicingsOf } from '../../data/ties/slicings.js';
import { oddsFactorText, posteriorAtMost } from '../../policy/belief.js';
import { protectsNothing } from '../../policy/budget.js';
import type { KnownTotals } from '../../policy/known/known.js';
import { betweenValues, neighboursOf } from '../../policy/neighbours.js';
import { readingSentence } from '../../policy/number-reading.js';
import type { Policy, SecretKind } from '../../policy/policy.js';
import { coarseColumns, columnList } from '../../privacy/dependence/model/resolution.js';
import type { Account, LeakageRoute } from './account.js';
import { naturalFrequency, percentText, probabilityText } from './belief-words.js';

/** Promise of a release and its assumptions: plain data, printed by every plan, receipt and report. */
export interface Guarantee {
  readonly certified: boolean;
  /** Present where the budget is so large that nothing is certified. */
  readonly protectsNothing?: true;
  readonly secret: SecretKind;
  readonly adversary: 'informed' | 'uninformed';
  /** `replace` when absent. Between two values of a record odds move by epsilon, under `add-remove` by twice that. */
  readonly neighbours?: 'add-remove';
  /** Declared pairs of values that stay indistinguishable, column by column; any two values when absent. */
  readonly pairs?: readonly string[];
  /** Exact totals that the attacker knows; the promise is about what they leave open. */
  readonly known?: readonly string[];
  readonly epsilon: number;
  readonly delta: number;
  /** Probability that the odds move further, when the whole budget is spent. */
  readonly failure: number;
  readonly assumptions: readonly string[];
  /** The theorem behind the choice of noise. */
  readonly how: string;
  /** The promise in plain words, one sentence each. */
  readonly sentences: readonly string[];
}

const secretWords: Record<SecretKind, string> = {
  row: 'one row (one person)',
  person: 'everything one person contributed',
  answer: 'one answer of one person',
  step: 'one time step',
  edge: 'one tuple of a relation',
};

/**
 * The definition matters: a table of counts needs twice the Laplace noise under replacement that it needs under adding or
 * removing a record. Where costs are recorded by values of public columns, neighbours agree in them (slices.proof.md).
 */
function neighboursIn(policy: Policy, levels: string): string {
  if (neighboursOf(policy) === 'add-remove')
    return ' How many records there are is protected, too (neighbouring data sets: one record added or removed).';
  if (policy.known) {
    const { together } = policy.known;
    return ` How many records there are is public (neighbouring data sets: ${together === 1 ? 'one record' : `up to ${together} records at once`} replaced by others with the same totals, where no part of them could be replaced alone).`;
  }
  const columns = slicingsOf(policy).map(({ column }) => column.name);
  if (policy.protect.pairs)
    return ` How many records there are is public (neighbouring data sets: ${policy.protect.secret === 'person' ? 'the rows of one person replaced by as many others, each of them by one' : 'one record replaced by another'} that differs from it in nothing but values that are pairs${columns.length === 0 ? '' : `, with the same ${columnList(columns)}, which everybody knows`}).`;
  if (columns.length === 0)
    return ` How many records there are is public${isAllProtected(policy, levels) ? '; what each of them says is protected' : ''} (neighbouring data sets: one record replaced by any other).`;
  return ` How many records there are is public (neighbouring data sets: one record replaced by any other with the same ${columnList(columns)}, which everybody knows and which stays the same also where the data file is replaced).`;
}

/** True if everything that a record says is protected: no public column, and no column by its levels only. */
const isAllProtected = ({ protect: { secret }, columns }: Policy, levels: string): boolean =>
  (secret === 'row' || secret === 'person') && levels === '' && ![...columns.values()].some((column) => column.public);

/** Promise of an account for any of its routes; the common parts are computed once. */
export function guaranteeFor(policy: Policy, account: Account): (route: LeakageRoute) => Guarantee {
  const { secret, adversary } = policy.protect;
  const neighbours = neighboursOf(policy);
  const pairs = policy.protect.pairs && pairSentences(policy);
  const common = {
    secret,
    adversary,
    ...(neighbours === 'add-remove' && { neighbours }),
    ...(pairs && { pairs }),
    ...(policy.known && { known: policy.known.descriptions }),
    epsilon: toNumber(account.epsilon),
    delta: toNumber(account.delta),
    failure: Math.min(1, account.routes.map((r) => r.gaussian?.failure ?? 0).reduce(addUp, 0)),
  };
  const nothing = protectsNothing({ ...policy.budget, epsilon: betweenValues(neighbours, policy.budget.epsilon) });
  const sentences = [
    ...(nothing === undefined ? [] : [`This budget protects nothing: ${nothing}.`]),
    ...promiseSentences(policy, account, common),
    ...limitSentences(policy),
  ];
  return (route) => ({
    certified: nothing === undefined,
    ...(nothing !== undefined && { protectsNothing: true }),
    ...common,
    // Any route may prove the account in the end, so the assumptions of all of them belong to the promise.
    assumptions: [...new Set([route, ...account.routes].flatMap(({ amplifier }) => amplifier.assumptions))],
    how: route.how,
    sentences,
  });
}

type Promised = Pick<Guarantee, 'adversary' | 'epsilon' | 'delta' | 'failure' | 'pairs'>;

/** What is protected, from whom, and how far odds and beliefs may move. */
function promiseSentences(policy: Policy, account: Account, promised: Promised): readonly string[] {
  const { adversary, failure, pairs } = promised;
  const known =
    adversary === 'informed'
      ? 'knows the declared ties and may know the exact values of any other records'
      : 'knows the declared ties but no exact values of other records';
  const totals = policy.known
    ? `, who knows ${policy.known.descriptions.join(' and ')} exactly and takes records for independent otherwise,`
    : '';
  const values = betweenValues(neighboursOf(policy), account.epsilon);
  const belief = (prior: Rational) => percentText(posteriorAtMost(prior, values), 'up');
  const asRead = readingSentence(
    policy,
    slicingsOf(policy).map(({ column }) => column.name),
  );
  const except = failure === 0 ? '' : ` Both hold except with probability ${probabilityText(failure)}.`;
  return [
    `Protected: ${secretIn(policy)}${byLevels(account)}, from an attacker who ${known}${totals} and who sees every release of this population.`,
    `${oddsSentence(policy, promised)}${neighboursIn(policy, byLevels(account))}`,
    ...(asRead === undefined ? [] : [asRead]),
    ...(pairs
      ? [
          'Over several pairs in a row, the odds move by at most that many times epsilon; values that no chain of pairs connects may be distinguished. What follows is about two values that are a pair.',
        ]
      : []),
    `An attacker who believes something with 10 % before may believe it with at most ${belief(rational(1, 10))} after, one at 50 % with at most ${belief(rational(1, 2))}.${except}`,
    naturalFrequency(policy.budget.belief?.prior ?? rational(1, 10), values, failure).sentence,
  ];
}

function oddsSentence(policy: Policy, { epsilon, delta, failure, pairs }: Promised): string {
  const factor = (x: number) =>
    oddsFactorText(
      x,
      (y) => `${Math.ceil(100 * y) / 100}`,
      (y) => `${shortAbove(y)}`,
    );
  const within = `by at most a factor of ${factor(epsilon)} (epsilon ${shortAbove(epsilon)})`;
  if (neighboursOf(policy) === 'add-remove')
    return `Together, all releases within the budget move the odds between a record being in the data, with whatever values, and not being in it ${within}; between any two values of a record that is in it by at most a factor of ${factor(2 * epsilon)} (twice that).`;
  const between = comparedValues(policy, pairs);
  if (delta === 0) return `Together, all releases within the budget move the odds between ${between} ${within}.`;
  return `From all releases within the budget together, this attacker cannot distinguish ${between} beyond this limit: the odds between the true one and ${pairs ? 'one that is a pair with it' : 'any other'} move ${within}, except with probability ${probabilityText(failure)}. In the terms of the field: (${shortAbove(epsilon)}, ${delta})-indistinguishable for any such two.`;
}

function comparedValues({ known }: Policy, pairs: Promised['pairs']): string {
  if (known) return betweenGiven(known);
  return pairs ? `any two values that are a declared pair (${pairs.join('; ')})` : 'any two values of what is protected';
}

/** What the promise does not cover. */
const limitSentences = ({ protect, budget, known }: Policy): readonly string[] => [
  ...(protect.pairs
    ? [
        'What may be learned of a record, because no pair hides it, can say something about the rest of it; that is not limited by this.',
      ]
    : []),
  ...(budget.others
    ? [
        `All releases include those of others about the same people, up to ${Object.entries(budget.others)
          .map(([noise, cost]) => `${noise} ${toNumber(cost)}`)
          .join(' and ')} per record, which is set aside for them; if they release more, this does not hold.`,
      ]
    : []),
  ...(known ? ['What the known totals reveal about a person is known without any release, and is not limited by this.'] : []),
  'What can be learned about a person from other data, or from what is generally true of people like them, is not limited by this.',
];

/** About one row if the totals give the rows of each kind, else about rows that change together (known.proof.md). */
const betweenGiven = ({ singles }: KnownTotals): string =>
  singles
    ? 'any two values of what is protected that the known totals leave possible'
    : 'any two ways in which some rows could be filled in that agree with the known totals, where no part of them could be exchanged alone';

/** Column by column, as declared; any two values of the other columns. */
const pairSentences = ({ protect: { pairs }, columns }: Policy): readonly string[] => {
  const rest = [...columns.keys()].some((name) => !pairs!.columns.has(name));
  return [
    ...pairs!.declarations.map((t) => `${t.columns.join(' and ')}: ${t.text}`),
    ...(rest ? ['any two values of other columns'] : []),
  ];
};

const secretIn = ({ protect: { secret, window = 1 } }: Policy): string =>
  window > 1 ? `${window} time steps in a row, taken together` : secretWords[secret];

/** Five significant digits, rounded up. */
function shortAbove(x: number): number {
  const short = Number(x.toPrecision(5));
  return short >= x ? short : Number((short + 10 ** (Math.floor(Math.log10(x)) - 4)).toPrecision(5));
}

/** Under a route that covers answers by level, only the level is the protected secret. */
function byLevels({ routes }: Account): string {
  const names = routes.flatMap(({ conditions }) =>
    conditions.flatMap(({ need }) => (need.kind === 'levels' ? coarseColumns(need.resolution) : [])),
  );
  return names.length === 0 ? '' : ` (of ${columnList([...new Set(names)])} the range or pool that the declared tables know)`;
}
