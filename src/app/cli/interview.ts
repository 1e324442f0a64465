import type { DraftAnswers, Found } from '../api/draft.js';
import { isPattern, splitNames } from '../api/names.js';
import { type AskLine, askUntil, askYesNo } from './dialogue.js';
import { printNote } from './output.js';

/**
 * Interview on facts that only the steward knows: which columns are questions, which records are tied, which codes mean "no
 * answer". Given answers are kept.
 */
export const interview =
  (ask: AskLine) =>
  async (found: Found, given: DraftAnswers): Promise<DraftAnswers> => ({
    ...given,
    ...(given.columns || given.except ? {} : await whichColumns(ask, found)),
    ...(given.person || given.secret ? {} : await whosePerson(ask, found)),
    ...(given.dependence !== undefined ? {} : await whoKnowsWhom(ask, found)),
    ...(given.missing ? {} : await noAnswer(ask, found)),
    ...(await weights(ask, found)),
  });

const listed = (names: readonly string[]): string =>
  `${names.slice(0, 6).join(', ')}${names.length > 6 ? ` and ${names.length - 6} more` : ''}`;
const named = ({ columns }: Found, is: Found['columns'][number]['is']): readonly string[] =>
  columns.filter((c) => c.is === is).map(({ name }) => name);

const kinds = [
  ['group', 'that name groups of rows'],
  ['id', 'that name a person or a row'],
  ['person', 'that say who or where somebody is'],
  ['free text', 'that hold what people wrote'],
  ['timing', 'that are timings'],
  ['design', 'that say how the sample was drawn'],
  ['device', 'about devices, or that hold addresses'],
  ['date', 'that are dates or times'],
  ['commas', 'with decimal commas, where others have points (write points)'],
  ['dressed', 'with signs between thousands, a currency or % (write 1234.5)'],
  ['empty', 'that are empty or always the same'],
] as const;

async function whichColumns(ask: AskLine, found: Found): Promise<DraftAnswers> {
  const questions = named(found, 'question');
  printNote(`The data has ${found.columns.length} columns; ${questions.length} look like questions: ${listed(questions)}.`);
  for (const [is, words] of kinds) {
    const names = named(found, is);
    if (names.length > 0) printNote(`  Left out, ${names.length} ${words}: ${listed(names)}.`);
  }
  const all = found.columns.map(({ name }) => name);
  const known = (names: readonly string[]) => names.every((name) => isPattern(name) || all.includes(name));
  const keep = await askUntil(
    ask,
    'Which columns to use? Names and patterns such as q*,age - or Enter for all that look like questions: ',
    (answer) => (known(splitNames(answer)) ? splitNames(answer) : undefined),
    [],
  );
  return keep.length > 0 ? { columns: [...keep] } : {};
}

async function whoKnowsWhom(ask: AskLine, found: Found): Promise<DraftAnswers> {
  for (const { name, rowsEach, why, sure } of found.groups.slice(0, 3))
    if (
      await askYesNo(
        ask,
        `Rows share values of ${name} (about ${rowsEach} each; ${why}). Do people with one value know each other?`,
        sure,
      )
    )
      return { dependence: { by: name, oddsRatio: await strength(ask) } };
  const all = found.columns.map(({ name }) => name);
  printNote('Does any row say something about another (a household, a couple, a class, the same person again)?');
  const answer = await askUntil(
    ask,
    '  The column that says who belongs together, "none", or Enter to decide later (nothing is released before): ',
    (text) => {
      if (/^(none|no)$/i.test(text)) return 'none';
      return all.includes(text) ? text : undefined;
    },
    '',
  );
  if (answer === '') return { dependence: 'undecided' };
  return answer === 'none' ? { dependence: 'none' } : { dependence: { by: answer, oddsRatio: await strength(ask) } };
}

/** Odds ratio of a tie without a stated strength: a number measured for one question does not bound all of them. */
export const unknownStrength = 'inf';

/** Values of docs/reference/reference-ties.md (test/reference-ties.test.ts compares them). */
export const measuredTies = {
  'income class': '3.8',
  'a disability': '5.4',
  'health insurance': '52',
  education: '340',
} as const;

async function strength(ask: AskLine): Promise<string> {
  const measured = Object.entries(measuredTies).map(([what, declare]) => `${declare} ${what}`);
  printNote(
    '  How alike do they answer, in what ties them most? As an odds ratio: 1 strangers, 81 two of them agree nine times in ten.',
  );
  printNote(`  Measured between couples in public data: ${measured.join(', ')} (more in docs/reference/reference-ties.md).`);
  return askUntil(
    ask,
    '  The odds ratio, or Enter for inf, as if all gave the same answers: the only one that is safe for every question [inf]: ',
    (text) => (/^(inf|\d+(\.\d+)?)$/.test(text) && Number(text) !== 0 && !(Number(text) < 1) ? text : undefined),
    unknownStrength,
  );
}

async function whosePerson(ask: AskLine, { panels }: Found): Promise<DraftAnswers> {
  for (const { unit, order, maxRows } of panels.slice(0, 3)) {
    const rows = order === undefined ? 'Several rows share one' : `There is a row for each ${order} of one`;
    if (!(await askYesNo(ask, `${rows} ${unit}. Is that one person with several rows, to be protected as one?`, true))) continue;
    const most = await askUntil(
      ask,
      `At most how many rows of one person may count (the rest is left out)? [${maxRows}]: `,
      (text) => (/^\d{1,6}$/.test(text) && Number(text) > 0 ? Number(text) : undefined),
      maxRows,
    );
    return { person: { unit, maxRows: most } };
  }
  if (panels.length > 0) printNote('  Each row is then a secret of its own (secret: row).');
  return panels.length > 0 ? { secret: 'row' } : {};
}

async function noAnswer(ask: AskLine, { columns }: Found): Promise<DraftAnswers> {
  const counts = new Map<string, number>();
  for (const { missing } of columns) for (const code of missing) counts.set(code, (counts.get(code) ?? 0) + 1);
  if (counts.size === 0) return {};
  const codes = [...counts].sort((a, b) => b[1] - a[1]).map(([code]) => code);
  const answer = await ask(
    `These seem to mean "no answer": ${listed(codes)}. Enter if so, or the codes that do, separated by commas: `,
  );
  return answer === '' ? {} : { missing: [...splitNames(answer)] };
}

async function weights(ask: AskLine, found: Found): Promise<DraftAnswers> {
  const names = named(found, 'weight');
  if (names.length === 0) return {};
  return (await askYesNo(
    ask,
    `${names.length === 1 ? `Is ${listed(names)} a survey weight` : `Are these survey weights: ${listed(names)}`}?`,
    true,
  ))
    ? {}
    : { noWeights: [...names] };
}
