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
    { topic: 'protected', text: secrets[policy.protect.secret](policy, kinds) },
    ...aboutPairs(policy),
    ...aboutKnown(policy),
    ...aboutNumbers(policy, kinds),
    { topic: 'from', text: adversaries[policy.protect.adversary] },
    ...assumptions(policy, kinds),
    ...aboutBudget(policy),
    ...aboutAccount(policy),
    ...notProtected(policy),
    ...toDo(policy),
  ];
}

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
  return [
    {
      topic: 'data',
      text:
        columns.size === 0
          ? `from ${basename(data.source.replace(/\?.*$/, ''))}${table}; no columns are declared, so only rows can be counted.`
          : `from ${basename(data.source.replace(/\?.*$/, ''))}${table}; ${plural(columns.size, 'column')} may be used (${kinds.join(', ')}). Anything not declared counts as missing. Numbers are ${roundingText}, before anything is compared or counted.`,
    },
    ...aboutPools(columns),
    ...(design === undefined
      ? []
      : [
          {
            topic: 'data' as const,
            text: designWords(design),
          },
        ]),
    ...merge.map(aboutMerge),
    ...[...relations.values()].map(aboutRelation),
    ...[...(tables?.values() ?? [])].map(aboutTable),
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

const aboutPools = (columns: Policy['columns']): Explanation[] => {
  const pooled = [...columns.values()].flatMap((c) =>
    c.type === 'category' ? (c.pools ?? []).map((pool) => ({ c, pool })) : [],
  );
  const texts = pooled.slice(0, 3).map(({ c, pool }) => `${c.name} (${levelLabel(pool)})`);
  const more = pooled.length > 3 ? ` and ${pooled.length - 3} more` : '';
  return pooled.length === 0
    ? []
    : [
        {
          topic: 'data',
          text: `rare answers are counted as one: ${texts.join(', ')}${more}. Which are rare is declared, not looked up.`,
        },
      ];
};

const aboutMerge = ({ columns, support }: MergedColumns): Explanation => ({
  topic: 'data',
  text: `the columns ${columns.join(', ')} go together: the policy lists ${plural(support.length, 'combination')} of their answers. A survey counts them in one joint table when that needs less noise; a row with any other combination then counts as missing in each of them.`,
});

const alsoIn = (tables: readonly LinkedTable[]): string =>
  tables.length === 0 ? '' : `, in the data and in ${listed(tables.map((t) => t.name))} together`;
const aboutTable = ({ name, unit, maxRows, period, columns, public: open }: LinkedTable): Explanation => ({
  topic: 'data',
  text: `table ${name}; ${plural(columns.size, 'column')} may be used. ${
    open
      ? 'It is public and costs nothing.'
      : `Its rows belong to whom ${unit} names, if the data names them, too; at most ${plural(maxRows, 'row')} of a person${
          period ? `, and ${period.maxRows} with one ${period.column},` : ''
        } ${maxRows === 1 ? 'is' : 'are'} used.`
  }`,
});

const aboutRelation = ({ name, columns, domain, symmetric, private: hidden }: Relation): Explanation => ({
  topic: 'data',
  text: `relation ${name}(${columns.join(', ')}), ${symmetric ? 'read both ways' : 'read as written'}, among ${domain} possible members; ${
    hidden ? 'who stands in it is private' : 'it is public and costs nothing'
  }.`,
});

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

/** Exceptions to "everything in one row is protected": the declared pairs of values. */
const aboutPairs = (policy: Policy): Explanation[] => {
  const texts = pairWords(policy).notTold;
  return texts.length === 0
    ? []
    : [
        { topic: 'protected', text: 'of that, the pairs of values below: an attacker may not tell one from the other.' },
        ...texts.map((text): Explanation => ({ topic: 'protected', text: `may not tell: ${text}.` })),
      ];
};

/** Reading of numbers that decides which data sets are neighbours. */
const aboutNumbers = (policy: Policy, kinds: TieKinds): Explanation[] => {
  const agreed = slicingsOf(policy, kinds).map(({ column }) => column.name);
  const text = readingSentence(policy, agreed);
  return text === undefined ? [] : [{ topic: 'protected', text }];
};

/** Protection that remains when totals are known to everybody. */
const aboutKnown = (policy: Policy): Explanation[] => {
  const { known } = policy;
  if (!known) return [];
  return [
    { topic: 'protected', text: 'of that, what these totals leave open: everybody is taken to know them exactly.' },
    ...knownWords(policy).notTold.map((text): Explanation => ({ topic: 'protected', text: `may not tell: ${text}.` })),
  ];
};

const adversaries = {
  informed:
    'anyone who sees every release, knows the ties declared below, and may even know the exact values of any other records. This is the stronger promise.',
  uninformed:
    'anyone who sees every release and knows the ties declared below, but not the values of other records. Someone who knows other records may learn more.',
};

const assumptions = ({ dependence, undecided, protect, known }: Policy, kinds: TieKinds): Explanation[] =>
  undecided
    ? [{ topic: 'assumption', text: 'none yet: whether records know each other is undecided, so nothing is promised.' }]
    : dependence.length === 0
      ? [
          {
            topic: 'assumption',
            text: `no record says anything about another (dependence: none)${known ? ', but for the known totals' : ''}. Where records do know each other - a household, friends, copies - more can be learned than promised here.`,
          },
        ]
      : dependence.map((d) => ({
          topic: 'assumption',
          text: tieKindOf(d, kinds).explain(d, protect.secret),
        }));

/** Priors for which the meaning of the budget is explained. */
const suspected = [rational(1, 100), rational(1, 10), rational(1, 2)];

function aboutBudget({ budget, protect }: Policy): Explanation[] {
  const addRemove = isAddRemove({ protect });
  const between = betweenValues(neighboursOf({ protect }), budget.epsilon);
  const epsilon = toNumber(between);
  const delta = toNumber(budget.delta);
  // (epsilon, delta) alone does not bound how often a belief moves further: release/accountant/belief-delta.ts. A belief budget is kept literally.
  const slip =
    delta === 0
      ? ''
      : budget.belief || budget.beliefs?.length
        ? `, except with probability ${figureText(delta)}`
        : `, except with a small probability that every plan states (delta ${figureText(delta)})`;
  const frequency = (p: number) => (p < 0.1 ? `${Math.round(p * 1000)} in 1000` : `${Math.round(p * 100)} in 100`);
  const line = (suspicion: Rational): Explanation => {
    const prior = toNumber(suspicion);
    const [low, high] = [posteriorAtLeast(suspicion, between), posteriorAtMost(suspicion, between)];
    return {
      topic: 'belief',
      text: `${protect.pairs ? 'between two values that are a pair, one' : 'somebody'} believed with ${percentFigure(prior)} (${frequency(prior)} such guesses are right) can be believed with ${percentFigure(low, Math.floor)} to ${percentFigure(high, Math.ceil)} after all releases${slip}.`,
    };
  };
  return [
    {
      topic: 'budget',
      text: addRemove
        ? `over all releases together, the odds of a record being in the data ${oddsMove(epsilon / 2, upperFigure)} (epsilon ${figureText(epsilon / 2)}), those of anything about a record that is in it ${oddsMove(epsilon, upperFigure)}. How many records there are is protected, too.`
        : `over all releases together, the odds ${protect.pairs ? 'between two values that are a pair' : 'of anything about what is protected'} ${oddsMove(epsilon, upperFigure)} (epsilon ${figureText(epsilon)})${slip}.`,
    },
    ...(budget.per
      ? [
          {
            topic: 'budget' as const,
            text: 'every step has this budget, for ever: what was spent on other steps fades as the sequence forgets them. A release about one step takes what every step may spend for as long as it goes on.',
          },
        ]
      : []),
    ...(budget.beliefs ?? []).map(
      ({ prior, posterior, floor, about }): Explanation => ({
        topic: 'belief',
        text: `you required that ${about ?? 'anything'} believed with ${percentFigure(toNumber(prior))} is believed with ${[
          posterior && `at most ${percentFigure(toNumber(posterior))}`,
          floor && `at least ${percentFigure(toNumber(floor))}`,
        ]
          .filter(Boolean)
          .join(' and ')} after all releases${slip}.`,
      }),
    ),
    ...suspected.map(line),
    ...aboutOthers(budget),
    ...aboutQuotas(budget),
    ...(epsilon > 10 ? [{ topic: 'budget' as const, text: 'this is so large that it protects almost nothing.' }] : []),
  ];
}

function aboutOthers({ others }: Policy['budget']): Explanation[] {
  if (!others) return [];
  const texts = Object.entries(others).map(([noise, cost]) => `${noise} ${figureText(toNumber(cost))}`);
  return [
    {
      topic: 'budget',
      text: `of this, ${texts.join(' and ')} per record is set aside for other publishers who do not say what they tell about these people. If they tell more, more can be learned than promised here.`,
    },
  ];
}

function aboutQuotas({ analysts }: Policy['budget']): Explanation[] {
  if (!analysts) return [];
  const named = [...analysts.named].map(([name, quota]) => `${name} at most ${figureText(toNumber(quota))}`);
  const each = analysts.each
    ? [`${named.length > 0 ? 'everybody else' : 'each analyst'} at most ${figureText(toNumber(analysts.each))}`]
    : [];
  return [
    {
      topic: 'budget',
      text: `of this budget may spend: ${[...named, ...each].join(', ')} (epsilon). It divides the budget among analysts; what protects the people in the data is the budget itself.`,
    },
  ];
}

const aboutAccount = ({ population, ledger }: Policy): Explanation[] => [
  {
    topic: 'account',
    text: `spending is recorded for ${population} in ${ledger}; every policy of this population with this ledger, and every analyst, shares it. Another ledger is another budget.`,
  },
];

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
  return lines.map((text) => ({ topic: 'not protected', text }));
}

const toDo = (policy: Policy): Explanation[] => [...toConfirm(policy), ...toDecide(policy)];

const toDecide = ({ undecided, file }: Policy): Explanation[] =>
  undecided
    ? [
        {
          topic: 'to do',
          text: `it is not said whether records know each other. Write dependence: none, or a list such as [{kind: groups, by: COLUMN, oddsRatio: inf}], into ${basename(file)}; nothing is planned or released before.`,
        },
      ]
    : [];

const toConfirm = ({ unconfirmed, file }: Policy): Explanation[] =>
  unconfirmed.length === 0
    ? []
    : [
        {
          topic: 'to do',
          text: `${plural(unconfirmed.length, 'column')} ${unconfirmed.length === 1 ? 'has a domain' : 'have domains'} read from the data. Nothing is released before you look at them: fugu confirm ${basename(file)}`,
        },
      ];
