import { Fault } from '../../base/errors.js';
import type { AskOptions } from '../api/fugu.js';
import type { Question } from '../api/kinds.js';
import type { planOptions, releaseOptions } from './option-tables.js';
import { type CommandOptions, type OptionWords, type ValuesOf, valuesOf } from './request-options.js';

/** What plan and release are asked. */
type QuestionValues = ValuesOf<typeof planOptions> | ValuesOf<typeof releaseOptions>;

export const optionsFrom = ({ epsilon, tidy, fresh }: QuestionValues): AskOptions => ({ epsilon, tidy, fresh });

const ways = ['query', 'sql', 'survey', 'workload', 'pattern', 'kmeans', 'classify'];

/** The question that words ask; what goes with another question is refused before anything is read. */
export async function readQuestion<V extends QuestionValues>(
  options: CommandOptions<V>,
  words: OptionWords,
): Promise<{ readonly question: Question; readonly values: V }> {
  if (ways.filter((way) => words[way] !== undefined).length !== 1)
    throw new Fault(
      'USAGE',
      'Say what to ask in exactly one way.',
      'Use one of --query JSON, --sql TEXT, --survey, --workload FILE, --pattern, --kmeans, --classify.',
    );
  const misplaced = ['gamma', 'degree', 'mechanism', 'form'].find((name) => words[name] !== undefined);
  if (misplaced !== undefined && words.sql === undefined && words.pattern === undefined)
    throw new Fault('USAGE', `--${misplaced} goes with --pattern.`, 'Leave it out, or ask for a pattern.');
  if (!words.survey && ['columns', 'except', 'weight'].some((name) => words[name] !== undefined))
    throw new Fault('USAGE', '--columns, --except and --weight go with --survey.', 'Other questions name their own columns.');
  const values = await valuesOf(options, words);
  return { question: questionFrom(values), values };
}

function questionFrom(values: QuestionValues): Question {
  const { query, sql, survey, columns, except, weight, workload, pattern, kmeans, classify } = values;
  const { gamma, degree, mechanism, form } = values;
  if (survey) return { survey, columns, except, weight };
  if (sql !== undefined) return { sql, gamma, degree, mechanism, form };
  if (pattern !== undefined) return { pattern, gamma, degree, mechanism, form };
  if (workload !== undefined) return { workload };
  if (kmeans !== undefined) return { kmeans };
  return classify !== undefined ? { classify } : query!;
}
