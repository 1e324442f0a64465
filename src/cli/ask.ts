import type { Command } from 'commander';
import { Fault } from '../errors.js';
import { readsRelations } from '../pattern/query/sql.js';
import { parseSql } from '../query/sql/sql.js';
import type { AskOptions, Session } from '../release/session.js';
import { chooseSurveyBatch } from '../survey/plan.js';
import { type AnalysisAsk, analyses } from './analyses.js';
import { patternAsk } from './pattern-analysis.js';
import { readJson } from './read-input.js';

/** The words a query can be asked in, shared by plan and release. */
export interface AskWords {
  readonly query?: string;
  readonly sql?: string;
  readonly survey?: boolean;
  readonly epsilon?: string;
  readonly tidy?: boolean;
  readonly fresh?: boolean;
  readonly json?: boolean;
  /** Analyses are asked by flags of their own. */
  readonly [flag: string]: unknown;
}

export function withAskOptions(command: Command): Command {
  command
    .argument('<policy>', 'policy file')
    .option('--query <json>', 'a query or {"queries": [...]} as JSON, or @file.json')
    .option('--sql <text>', 'the same as SQL text')
    .option('--survey', 'one histogram per declared column, with all that is left of the budget');
  for (const { flag, argument, description } of analyses) command.option(`--${flag} ${argument}`, description);
  return command
    .option('--gamma <gamma>', 'with --pattern: accept (epsilon, gamma)-adversarial privacy')
    .option('--degree <n>', 'with --pattern: public guess (secret edge) or limit (secret person) of ties per person')
    .option('--mechanism <name>', 'with --pattern: insist on one mechanism')
    .option('--form <name>', 'with --pattern degrees: cumulative, sequence or histogram')
    .option('--epsilon <part>', "part of the policy's epsilon to use (default: a tenth; --survey: all that is left)")
    .option('--fresh', 'ask the data as it is now and pay, also when an answer to the same request is recorded')
    .option('--tidy', 'no negative counts, totals that agree (post-processing)')
    .option('--json', 'one JSON document on stdout');
}

/** A batch of queries, or one analysis. */
export type Asked =
  | { readonly query: unknown; readonly options: AskOptions }
  | { readonly analysis: AnalysisAsk; readonly text: string; readonly options: AskOptions };

export function readAsk(words: AskWords, session: Session): Asked {
  const analysis = analyses.filter(({ flag }) => words[flag] !== undefined);
  const given = [words.query, words.sql, words.survey].filter((w) => w !== undefined).length + analysis.length;
  if (given !== 1)
    throw new Fault(
      'USAGE',
      'Say what to ask in exactly one way.',
      `Use one of --query JSON, --sql TEXT, --survey, ${analyses.map(({ flag }) => `--${flag}`).join(', ')}.`,
    );
  const base: AskOptions = {
    ...(words.epsilon !== undefined && { epsilon: words.epsilon }),
    ...(words.tidy && { tidy: true }),
    ...(words.fresh && { fresh: true }),
  };
  if (analysis[0]) return { analysis: analysis[0], text: words[analysis[0].flag] as string, options: base };
  if (words.survey)
    return {
      query: chooseSurveyBatch(session.policy, session.account, base),
      options: { ...base, all: words.epsilon === undefined, label: 'survey: one histogram per column' },
    };
  // SQL whose tables are declared relations is a pattern.
  if (words.sql !== undefined && readsRelations(words.sql, session.policy.relations))
    return { analysis: patternAsk, text: words.sql, options: base };
  if (words.sql !== undefined)
    return {
      query: parseSql(words.sql, session.policy),
      options: { ...base, label: words.sql.replace(/\s+/g, ' ').slice(0, 120) },
    };
  return { query: readJson(words.query!), options: base };
}
