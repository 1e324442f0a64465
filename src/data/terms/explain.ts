import { type Rational, rational, toNumber } from '../../base/exact/rational.js';
import { basename } from '../../base/platform/paths.js';
import { oddsMove, posteriorAtLeast, posteriorAtMost } from '../../policy/belief.js';
import { levelLabel } from '../../policy/domain.js';
import { figureText, percentFigure, upperFigure } from '../../policy/figures.js';
import { knownWords } from '../../policy/known/words.js';
import { betweenValues, isAddRemove, neighboursOf } from '../../policy/neighbours.js';
import { readingSentence, roundingText } from '../../policy/number-reading.js';
import { pairWords } from '../../policy/pairs/words.js';
import type { Column, LinkedTable, MergedColumns, Policy, Relation, SecretKind } from '../../policy/policy.js';
import { ownTables } from '../../policy/tables.js';
import { type TieKinds, tieKindOf, tieKinds } from '../ties/kinds.js';
import { slicingsOf } from '../ties/slicings.js';

/** One plain sentence about one option of a policy. */
export interface Explanation {
  readonly topic: 'data' | 'protected' | 'from' | 'assumption' | 'budget' | 'belief' | 'account' | 'not protected' | 'to do';
  readonly text: string;
}

/** Promise of a policy in plain words, one line per option. Reports print the same lines. */
export const explainPolicy = (policy: Policy): string[] =>
  explain(policy).map(({ topic, text }) => `${topic.charAt(0).toUpperCase()}${topic.slice(1)}: ${text}`);

export function explain(policy: Policy, kinds: TieKinds = tieKinds): readonly Explanation[] {
  return [
    ...aboutData(policy),
    ...says('protected', secrets[policy.protect.secret](policy, kinds)),
    ...aboutPairs(policy),
    ...aboutKnown(policy),
    ...aboutNumbers(policy, kinds),
    ...says('from', adversaries[policy.protect.adversary]),
    ...assumptions(policy, kinds),
    ...aboutBudget(policy),
    ...aboutAccount(policy),
    ...notProtected(policy),
    ...toDo(policy),
  ];
}

const says = (topic: Explanation['topic'], ...texts: readonly string[]): Explanation[] => texts.map((text) => ({ topic, text }));

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
const plural = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

function aboutData({ data, columns, relations, tables, design, merge = [] }: Policy): Explanation[] {
  const typeOf = (column: Column) => ('date' in column ? 'date' : column.type);
  const count = (type: Column['type'] | 'date') => [...columns.values()].filter((c) => typeOf(c) === type).length;
  const kinds = (
    [
      ['category', 'with fixed answers'],
      ['multi', 'where several answers may be ticked'],
      ['integer', 'of whole numbers'],
      ['number', 'of numbers'],
      ['date', 'of dates'],
      ['weight', 'of weights'],
    ] as const
  )
    .filter(([type]) => count(type) > 0)
    .map(([type, words]) => `${count(type)} ${words}`);
  const table = data.table === undefined ? '' : `, table ${data.table}`;
  const source = `from ${basename(data.source.replace(/\?.*$/, ''))}${table}`;
  return [
    ...says(
      'data',
      columns.size === 0
        ? `${source}; no columns are declared, so only rows can be counted.`
        : `${source}; ${plural(columns.size, 'column')} may be used (${kinds.join(', ')}). Anything not declared counts as missing. Numbers are ${roundingText}, before anything is compared or counted.`,
      ...poolWords(columns),
      ...(design ? [designWords(design)] : []),
      ...merge.map(mergeWords),
      ...[...relations.values()].map(relationWords),
      ...[...(tables?.values() ?? [])].map(tableWords),
    ),
  ];
}

function designWords({ effect, clusters, population, strata, weights }: NonNullable<Policy['design']>): string {
  const more = [
    ...(clusters ? [`groups by ${clusters.mixed.join(', ')} are mixed in every cluster as anywhere`] : []),
    ...(population === undefined ? [] : [`of ${population.toLocaleString('en-US')} people in all`]),
    ...(strata ? [`sampled apart by ${strata.column}, whose sizes are declared`] : []),
    ...(weights
      ? [
          `weights ${weights.column} have the mean ${figureText(weights.mean)} and make variances ${figureText(weights.effect)} times as large`,
        ]
      : []),
  ];
  return `percentages come with sampling error, too: a share varies ${effect === 1 ? 'as much' : `${figureText(effect)} times as much`} as in a simple random sample of as many people, and those who did not answer are like those who did${more.length > 0 ? `; ${more.join('; ')}` : ''}. All of it is declared, not looked up.`;
}

function poolWords(columns: Policy['columns']): string[] {
  const pooled = [...columns.values()].flatMap((c) =>
    c.type === 'category' ? (c.pools ?? []).map((pool) => `${c.name} (${levelLabel(pool)})`) : [],
  );
  if (pooled.length === 0) return [];
  const more = pooled.length > 3 ? ` and ${pooled.length - 3} more` : '';
  return [`rare answers are counted as one: ${pooled.slice(0, 3).join(', ')}${more}. Which are rare is declared, not looked up.`];
}

const mergeWords = ({ columns, support }: MergedColumns): string =>
  `the columns ${columns.join(', ')} go together: the policy lists ${plural(support.length, 'combination')} of their answers. A survey counts them in one joint table when that needs less noise; a row with any other combination then counts as missing in each of them.`;

const alsoIn = (tables: readonly LinkedTable[]): string =>
  tables.length === 0 ? '' : `, in the data and in ${listed(tables.map((t) => t.name))} together`;
function tableWords({ name, unit, maxRows, period, columns, public: open }: LinkedTable): string {
  const start = `table ${name}; ${plural(columns.size, 'column')} may be used.`;
  if (open) return `${start} It is public and costs nothing.`;
  const each = period ? `, and ${period.maxRows} with one ${period.column},` : '';
  return `${start} Its rows belong to whom ${unit} names, if the data names them, too; at most ${plural(maxRows, 'row')} of a person${each} ${maxRows === 1 ? 'is' : 'are'} used.`;
}

const relationWords = ({ name, columns, domain, symmetric, private: hidden }: Relation): string =>
  `relation ${name}(${columns.join(', ')}), ${symmetric ? 'read both ways' : 'read as written'}, among ${domain} possible members; ${
    hidden ? 'who stands in it is private' : 'it is public and costs nothing'
  }.`;

const secrets: Record<SecretKind, (policy: Policy, kinds: TieKinds) => string> = {
  row: () => 'everything one row says. One row is taken to be one person.',
  person: ({ protect, ...policy }) =>
    `everything said by all rows with the same ${protect.unit}${alsoIn(ownTables(policy))}. At most ${plural(protect.maxRows, 'row')} of a person ${protect.maxRows === 1 ? 'is' : 'are'} used; ${protect.pairs ? 'whoever has more is left out, because which of them to use would hang on what they say' : 'further ones are left out'}.`,
  answer: () => 'one answer: a single cell of one row. Several answers of the same person taken together are protected less.',
  step: ({ dependence, protect: { window = 1 } }, kinds) => {
    const [step] = dependence.flatMap((d) => tieKindOf(d, kinds).step?.(d) ?? []);
    return window > 1
      ? `${window} steps in a row of a sequence, taken together; one of them is ${step}.`
      : `one step of a sequence: ${step}.`;
  },
  edge: ({ relations }) =>
    `whether one pair stands in a private relation (${[...relations.values()]
      .filter((r) => r.private)
      .map((r) => r.name)
      .join(', ')}).`,
};

const mayNotTell = (intro: string, texts: readonly string[]) =>
  says('protected', intro, ...texts.map((text) => `may not tell: ${text}.`));

/** Exceptions to "everything in one row is protected": the declared pairs of values. */
function aboutPairs(policy: Policy): Explanation[] {
  const texts = pairWords(policy).notTold;
  if (texts.length === 0) return [];
  return mayNotTell('of that, the pairs of values below: an attacker may not tell one from the other.', texts);
}

/** Reading of numbers that decides which data sets are neighbours. */
function aboutNumbers(policy: Policy, kinds: TieKinds): Explanation[] {
  const agreed = slicingsOf(policy, kinds).map(({ column }) => column.name);
  const text = readingSentence(policy, agreed);
  return text === undefined ? [] : says('protected', text);
}

/** Protection that remains when totals are known to everybody. */
function aboutKnown(policy: Policy): Explanation[] {
  if (!policy.known) return [];
  const intro = 'of that, what these totals leave open: everybody is taken to know them exactly.';
  return mayNotTell(intro, knownWords(policy).notTold);
}

const adversaries = {
  informed:
    'anyone who sees every release, knows the ties declared below, and may even know the exact values of any other records. This is the stronger promise.',
  uninformed:
    'anyone who sees every release and knows the ties declared below, but not the values of other records. Someone who knows other records may learn more.',
};

function assumptions({ dependence, undecided, protect, known }: Policy, kinds: TieKinds): Explanation[] {
  if (undecided) return says('assumption', 'none yet: whether records know each other is undecided, so nothing is promised.');
  if (dependence.length > 0) return says('assumption', ...dependence.map((d) => tieKindOf(d, kinds).explain(d, protect.secret)));
  return says(
    'assumption',
    `no record says anything about another (dependence: none)${known ? ', but for the known totals' : ''}. Where records do know each other - a household, friends, copies - more can be learned than promised here.`,
  );
}

/** Priors for which the meaning of the budget is explained. */
const suspected = [rational(1, 100), rational(1, 10), rational(1, 2)];

function aboutBudget({ budget, protect }: Policy): Explanation[] {
  const between = betweenValues(neighboursOf({ protect }), budget.epsilon);
  const epsilon = toNumber(between);
  const slip = slipWords(budget);
  const about = protect.pairs ? 'between two values that are a pair' : 'of anything about what is protected';
  return [
    ...says(
      'budget',
      isAddRemove({ protect })
        ? `over all releases together, the odds of a record being in the data ${oddsMove(epsilon / 2, upperFigure)} (epsilon ${figureText(epsilon / 2)}), those of anything about a record that is in it ${oddsMove(epsilon, upperFigure)}. How many records there are is protected, too.`
        : `over all releases together, the odds ${about} ${oddsMove(epsilon, upperFigure)} (epsilon ${figureText(epsilon)})${slip}.`,
      ...(budget.per
        ? [
            'every step has this budget, for ever: what was spent on other steps fades as the sequence forgets them. A release about one step takes what every step may spend for as long as it goes on.',
          ]
        : []),
    ),
    ...says('belief', ...requiredBeliefs(budget, slip), ...suspected.map((prior) => beliefWords(prior, between, protect, slip))),
    ...says('budget', ...othersWords(budget), ...quotaWords(budget)),
    ...(epsilon > 10 ? says('budget', 'this is so large that it protects almost nothing.') : []),
  ];
}

/** (epsilon, delta) alone does not bound how often a belief moves further: release/accountant/belief-delta.ts. A belief budget is kept literally. */
function slipWords(budget: Policy['budget']): string {
  const delta = toNumber(budget.delta);
  if (delta === 0) return '';
  return budget.belief || budget.beliefs?.length
    ? `, except with probability ${figureText(delta)}`
    : `, except with a small probability that every plan states (delta ${figureText(delta)})`;
}

const requiredBeliefs = ({ beliefs = [] }: Policy['budget'], slip: string): string[] =>
  beliefs.map(({ prior, posterior, floor, about }) => {
    const ends = [
      posterior && `at most ${percentFigure(toNumber(posterior))}`,
      floor && `at least ${percentFigure(toNumber(floor))}`,
    ];
    return `you required that ${about ?? 'anything'} believed with ${percentFigure(toNumber(prior))} is believed with ${ends.filter(Boolean).join(' and ')} after all releases${slip}.`;
  });

function beliefWords(suspicion: Rational, epsilon: Rational, protect: Policy['protect'], slip: string): string {
  const prior = toNumber(suspicion);
  const [low, high] = [posteriorAtLeast(suspicion, epsilon), posteriorAtMost(suspicion, epsilon)];
  const frequency = prior < 0.1 ? `${Math.round(prior * 1000)} in 1000` : `${Math.round(prior * 100)} in 100`;
  return `${protect.pairs ? 'between two values that are a pair, one' : 'somebody'} believed with ${percentFigure(prior)} (${frequency} such guesses are right) can be believed with ${percentFigure(low, Math.floor)} to ${percentFigure(high, Math.ceil)} after all releases${slip}.`;
}

function othersWords({ others }: Policy['budget']): string[] {
  if (!others) return [];
  const texts = Object.entries(others).map(([noise, cost]) => `${noise} ${figureText(toNumber(cost))}`);
  return [
    `of this, ${texts.join(' and ')} per record is set aside for other publishers who do not say what they tell about these people. If they tell more, more can be learned than promised here.`,
  ];
}

function quotaWords({ analysts }: Policy['budget']): string[] {
  if (!analysts) return [];
  const named = [...analysts.named].map(([name, quota]) => `${name} at most ${figureText(toNumber(quota))}`);
  const each = analysts.each
    ? [`${named.length > 0 ? 'everybody else' : 'each analyst'} at most ${figureText(toNumber(analysts.each))}`]
    : [];
  return [
    `of this budget may spend: ${[...named, ...each].join(', ')} (epsilon). It divides the budget among analysts; what protects the people in the data is the budget itself.`,
  ];
}

const aboutAccount = ({ population, ledger }: Policy): Explanation[] =>
  says(
    'account',
    `spending is recorded for ${population} in ${ledger}; every policy of this population with this ledger, and every analyst, shares it. Another ledger is another budget.`,
  );

function notProtected(policy: Policy): Explanation[] {
  const open = [...policy.columns.values()].filter((c) => c.public).map((c) => c.name);
  const lines = [
    'what holds for people in general, and so for each of them (that smokers fall ill is learned from others, too).',
    `${isAddRemove(policy) ? '' : 'how many rows there are, '}which columns exist, and what this policy says.`,
    policy.dependence.length === 0
      ? 'any dependence between records.'
      : 'any dependence that is not declared above, and strengths beyond the declared ones.',
    'what other sources say about the same people.',
    ...(open.length > 0 ? [`the ${open.length === 1 ? 'column' : 'columns'} ${open.join(', ')}: declared public.`] : []),
    ...[...(policy.tables?.values() ?? [])].filter((t) => t.public).map((t) => `the table ${t.name}: declared public.`),
    ...knownWords(policy).learned.map((text) => `may learn: ${text}.`),
    ...pairWords(policy).learned.map((text) => `may learn: ${text}.`),
    ...(policy.protect.pairs
      ? [
          'what may be learned of a row can say something about the rest of it: that follows from how people are, not from the answers.',
        ]
      : []),
    ...(policy.protect.secret === 'row' ? ['somebody who fills several rows: declare secret: person with a unit.'] : []),
  ];
  return says('not protected', ...lines);
}

function toDo({ unconfirmed, undecided, file }: Policy): Explanation[] {
  const domains = `${plural(unconfirmed.length, 'column')} ${unconfirmed.length === 1 ? 'has a domain' : 'have domains'}`;
  return says(
    'to do',
    ...(unconfirmed.length > 0
      ? [`${domains} read from the data. Nothing is released before you look at them: fugu confirm ${basename(file)}`]
      : []),
    ...(undecided
      ? [
          `it is not said whether records know each other. Write dependence: none, or a list such as [{kind: groups, by: COLUMN, oddsRatio: inf}], into ${basename(file)}; nothing is planned or released before.`,
        ]
      : []),
  );
}
