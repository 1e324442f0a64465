import { Fault } from '../../base/errors.js';
import { parseRational, rational } from '../../base/exact/rational.js';
import { posteriorAtMost } from '../../policy/belief.js';
import type { DraftAnswers, Found } from '../api/draft.js';
import { percentText } from '../report/number.js';

/** Question that only the steward can answer, for a page: the same as `fugu init` on a terminal. */
export interface InterviewQuestion {
  readonly id: keyof InterviewAnswers;
  readonly text: string;
  /** Permitted answers; any text of the right form when absent. */
  readonly choices?: readonly { readonly value: string; readonly text: string }[];
  /** Several of the choices may be selected. */
  readonly several?: true;
  /** Default until an answer is given. */
  readonly usual?: string | readonly string[];
  readonly answer?: string | readonly string[];
  /** Nothing is released before this is answered. */
  readonly needed?: true;
}

export interface InterviewAnswers {
  readonly columns?: readonly string[] | undefined;
  readonly person?: string | undefined;
  readonly maxRows?: string | undefined;
  readonly dependence?: string | undefined;
  readonly oddsRatio?: string | undefined;
  readonly missing?: readonly string[] | undefined;
  readonly weights?: readonly string[] | undefined;
  /** "epsilon 1", or "belief 0.1 0.3": from 10 % to 30 % at most. */
  readonly budget?: string | undefined;
}

const named = ({ columns }: Found, is: Found['columns'][number]['is']): readonly string[] =>
  columns.filter((c) => c.is === is).map(({ name }) => name);

export function interviewQuestions(found: Found, answers: InterviewAnswers): readonly InterviewQuestion[] {
  const given = <K extends keyof InterviewAnswers>(id: K) => (answers[id] === undefined ? {} : { answer: answers[id]! });
  const questions = named(found, 'question');
  return [
    {
      id: 'columns',
      text: 'Which columns may be used in questions? Ids, groups, dates, timings and free text are left out unless you choose them.',
      choices: found.columns.map(({ name, is, why }) => ({ value: name, text: why === '' ? is : why })),
      several: true,
      usual: questions,
      ...given('columns'),
    },
    ...personQuestions(found, answers, given),
    ...dependenceQuestions(found, answers, given),
    {
      id: 'budget',
      text: 'How much may all releases together reveal about one person? Whoever gives something a chance of 10 % today may come to give it this chance, and no more. Lower is safer, but noisier.',
      choices: budgets.map((epsilon) => ({
        value: `epsilon ${epsilon}`,
        text: `10 % becomes at most ${percentText(posteriorAtMost(rational(1, 10), parseRational(epsilon)), 'up')}`,
      })),
      usual: 'epsilon 1',
      ...given('budget'),
    },
    ...codeQuestions(found, given),
  ];
}

const budgets = ['0.1', '0.5', '1', '2', '4'];
const amountForm = String.raw`\d{1,9}(?:\.\d{1,9})?`;
const budgetForm = new RegExp(`^(?:epsilon (${amountForm})|belief (${amountForm}) (${amountForm}))$`);

function budgetOf(text: string): NonNullable<DraftAnswers['budget']> {
  const [, epsilon, prior, posterior] = budgetForm.exec(text) ?? [];
  if (epsilon !== undefined) return { epsilon };
  if (prior !== undefined && posterior !== undefined) return { belief: { prior, posterior } };
  throw new Fault('USAGE', 'A budget is an epsilon or a belief.', 'Answer for example "epsilon 1", or "belief 0.1 0.3".');
}

type Given = <K extends keyof InterviewAnswers>(id: K) => { answer?: NonNullable<InterviewAnswers[K]> };

function personQuestions({ panels }: Found, answers: InterviewAnswers, given: Given): readonly InterviewQuestion[] {
  if (panels.length === 0) return [];
  const [first] = panels;
  const chosen = panels.find(({ unit }) => unit === (answers.person ?? first!.unit));
  return [
    {
      id: 'person',
      text: 'Several rows share one value here. Is that one person with several rows, to be protected as one?',
      choices: [
        ...panels.map(({ unit, order }) => ({
          value: unit,
          text: order === undefined ? 'one person each' : `a row for each ${order}`,
        })),
        { value: 'row', text: 'No: each row is a secret of its own.' },
      ],
      usual: first!.unit,
      ...given('person'),
    },
    ...(chosen
      ? [
          {
            id: 'maxRows' as const,
            text: 'At most how many rows of one person may count? The rest is left out.',
            usual: String(chosen.maxRows),
            ...given('maxRows'),
          },
        ]
      : []),
  ];
}

function dependenceQuestions(found: Found, answers: InterviewAnswers, given: Given): readonly InterviewQuestion[] {
  const tied = answers.dependence !== undefined && answers.dependence !== 'none';
  return [
    {
      id: 'dependence',
      text: 'Does any row say something about another (a household, a couple, a class)? The column that says who belongs together, or none.',
      choices: [
        { value: 'none', text: 'No row says anything about another.' },
        ...found.groups.map(({ name, rowsEach, why }) => ({
          value: name,
          text: `about ${rowsEach} rows share each value; ${why}`,
        })),
        ...found.columns
          .filter(({ name }) => !found.groups.some((g) => g.name === name))
          .map(({ name }) => ({ value: name, text: 'another column' })),
      ],
      needed: true,
      ...given('dependence'),
    },
    ...(tied
      ? [
          {
            id: 'oddsRatio' as const,
            text: 'How alike do they answer, in what ties them most, as an odds ratio? 1 strangers, 81 two of them agree nine times in ten, inf as if all gave the same answers: the only one that is safe for every question.',
            usual: 'inf',
            ...given('oddsRatio'),
          },
        ]
      : []),
  ];
}

/** Codes and weights, as far as the data seems to have any. */
function codeQuestions(found: Found, given: Given): readonly InterviewQuestion[] {
  const codes = [...new Set(found.columns.flatMap(({ missing }) => missing))];
  const weights = named(found, 'weight');
  return [
    ...(codes.length > 0
      ? [
          {
            id: 'missing' as const,
            text: 'Which codes mean "no answer"?',
            choices: codes.map((value) => ({ value, text: value })),
            several: true as const,
            usual: codes,
            ...given('missing'),
          },
        ]
      : []),
    ...(weights.length > 0
      ? [
          {
            id: 'weights' as const,
            text: 'Which of these are survey weights?',
            choices: weights.map((value) => ({ value, text: 'looks like a weight' })),
            several: true as const,
            usual: weights,
            ...given('weights'),
          },
        ]
      : []),
  ];
}

/** Answers in the form of a draft; missing ones are left to the draft. */
export function draftAnswersFrom(found: Found, answers: InterviewAnswers): DraftAnswers {
  const { columns, person, maxRows, dependence, oddsRatio, missing, weights, budget } = answers;
  const noWeights = weights && named(found, 'weight').filter((name) => !weights.includes(name));
  if (maxRows !== undefined && !/^[1-9]\d{0,5}$/.test(maxRows))
    throw new Fault('USAGE', 'How many rows count is a whole number.', 'Answer for example 5.');
  if (oddsRatio !== undefined && !/^(inf|\d{1,12}(\.\d{1,6})?)$/.test(oddsRatio))
    throw new Fault('USAGE', 'An odds ratio is a number of at least 1, or inf.', 'Answer for example 81.');
  return {
    ...(columns && columns.length > 0 && { columns: [...columns] }),
    ...(person === 'row' ? { secret: 'row' as const } : personOf(found, person, maxRows)),
    ...(dependence !== undefined && {
      dependence: dependence === 'none' ? ('none' as const) : { by: dependence, oddsRatio: oddsRatio ?? 'inf' },
    }),
    ...(missing && { missing: [...missing] }),
    ...(budget !== undefined && { budget: budgetOf(budget) }),
    ...(noWeights && noWeights.length > 0 && { noWeights }),
  };
}

function personOf({ panels }: Found, person: string | undefined, maxRows: string | undefined): DraftAnswers {
  const unit = person ?? (maxRows === undefined ? undefined : panels[0]?.unit);
  return unit === undefined ? {} : { person: { unit, ...(maxRows !== undefined && { maxRows: Number(maxRows) }) } };
}
