import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { AskOptions } from '../api/fugu.js';
import type { Question } from '../api/kinds.js';
import { readJson, readYaml } from '../api/named-text.js';
import { splitNames } from '../api/names.js';
import { acceptOption, newBudgetOption } from './confirm-spending.js';

/** Options that state the question, shared by plan and release. */
export interface QuestionOptions {
  readonly query?: string;
  readonly sql?: string;
  readonly survey?: boolean;
  readonly weight?: string;
  readonly columns?: string;
  readonly except?: string;
  readonly workload?: string;
  readonly pattern?: string;
  readonly kmeans?: string;
  readonly classify?: string;
  readonly gamma?: string;
  readonly degree?: string;
  readonly mechanism?: string;
  readonly form?: string;
  readonly epsilon?: string;
  readonly acceptNoProtection?: boolean;
  readonly newBudget?: string;
  readonly tidy?: boolean;
  readonly fresh?: boolean;
  readonly json?: boolean;
}

/** Releases that are more than tables have flags of their own. */
const analyses = {
  pattern: [
    '<query>',
    "a count over relations: triangles, degrees, 2-paths from 'v', or 'q(x,y) :- friend(x,y), friend(y,x), x != y'",
  ],
  kmeans: ['<json>', 'cluster centres: {"columns": ["x", "y"], "clusters": 8}'],
  classify: ['<json>', 'a linear classifier: {"label": "income", "positive": [">50K"], "features": ["age", "education"]}'],
} as const;

export function withQuestionOptions(command: Command): Command {
  command
    .argument('<policy>', 'policy file')
    .option('--query <json>', 'a query or {"queries": [...]} as JSON, or @file.json')
    .option('--sql <text>', 'the same as SQL text')
    .option('--survey', 'one histogram per question, with all that is left of the budget')
    .option('--columns <names>', 'with --survey: these questions only; names and patterns (q*), separated by commas')
    .option('--except <names>', 'with --survey: not these, in the same form')
    .option('--weight <column>', 'with --survey: answers count by this declared weight')
    .option(
      '--workload <file>',
      'many tables that agree with one another: a YAML file of tables:, as docs/how-to/workloads.md shows',
    );
  for (const [flag, [argument, description]] of Object.entries(analyses)) command.option(`--${flag} ${argument}`, description);
  return command
    .option('--gamma <gamma>', 'with --pattern: accept (epsilon, gamma)-adversarial privacy')
    .option('--degree <n>', 'with --pattern: public guess (secret edge) or limit (secret person) of ties per person')
    .option('--mechanism <name>', 'with --pattern: insist on one mechanism')
    .option('--form <name>', 'with --pattern degrees: cumulative, sequence or histogram')
    .option('--epsilon <part>', "part of the policy's epsilon to use (default: a tenth; --survey: all that is left)")
    .option(...acceptOption)
    .option(...newBudgetOption)
    .option('--fresh', 'ask the data as it is now and pay, also when an answer to the same request is recorded')
    .option('--tidy', 'no negative counts, totals that agree (post-processing)')
    .option('--json', 'one JSON document on stdout');
}

export const optionsFrom = ({ epsilon, tidy, fresh }: QuestionOptions): AskOptions => ({ epsilon, tidy, fresh });

export async function questionFrom(words: QuestionOptions): Promise<Question> {
  const { query, sql, survey, workload, pattern, kmeans, classify } = words;
  if ([query, sql, survey, workload, pattern, kmeans, classify].filter((w) => w !== undefined).length !== 1)
    throw new Fault(
      'USAGE',
      'Say what to ask in exactly one way.',
      `Use one of --query JSON, --sql TEXT, --survey, --workload FILE, ${Object.keys(analyses)
        .map((flag) => `--${flag}`)
        .join(', ')}.`,
    );
  if (sql === undefined && pattern === undefined) refusePatternWords(words);
  if (survey) return { survey: true, ...chosenIn(words) };
  if (words.columns !== undefined || words.except !== undefined || words.weight !== undefined)
    throw new Fault('USAGE', '--columns, --except and --weight go with --survey.', 'Other questions name their own columns.');
  if (sql !== undefined) return { sql, ...patternWords(words) };
  if (workload !== undefined) return { workload: await readYaml(workload, workloadKind) } as Question;
  if (pattern !== undefined) return { pattern, ...patternWords(words) };
  if (kmeans !== undefined) return { kmeans: readJson(kmeans) } as Question;
  return (classify !== undefined ? { classify: readJson(classify) } : readJson(query!)) as Question;
}

export const workloadKind = {
  name: 'The workload',
  starts: 'A workload starts with tables:, and has lines such as "- { all: 2, of: [age, region] }".',
};

const chosenIn = ({ columns, except, weight }: QuestionOptions) => ({
  ...(weight !== undefined && { weight }),
  ...(columns !== undefined && { columns: [...splitNames(columns)] }),
  ...(except !== undefined && { except: [...splitNames(except)] }),
});

function refusePatternWords({ gamma, degree, mechanism, form }: QuestionOptions): void {
  const given = Object.entries({ gamma, degree, mechanism, form }).find(([, value]) => value !== undefined);
  if (given) throw new Fault('USAGE', `--${given[0]} goes with --pattern.`, 'Leave it out, or ask for a pattern.');
}

type PatternWords = Extract<Question, { readonly pattern: string }>;

function patternWords({ gamma, mechanism, degree, form }: QuestionOptions): Omit<PatternWords, 'pattern'> {
  if (form !== undefined && form !== 'cumulative' && form !== 'sequence' && form !== 'histogram')
    throw new Fault('USAGE', 'The form is cumulative, sequence or histogram.', 'Leave --form out for cumulative.');
  return {
    gamma,
    mechanism: mechanism as PatternWords['mechanism'],
    degree: degree === undefined ? undefined : wholeNumber(degree),
    form,
  };
}

function wholeNumber(text: string): number {
  const n = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
  if (n < 1) throw new Fault('USAGE', 'The degree must be a whole number of at least 1.', 'Write for example --degree 100.');
  return n;
}
