import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { Fault } from '../errors.js';
import { parseSql } from '../query/sql.js';
import { surveyBatch } from '../query/survey.js';
import type { AskOptions, Session } from '../release/session.js';

/** The words a query can be asked in, shared by plan and release. */
export interface AskWords {
  readonly query?: string;
  readonly sql?: string;
  readonly survey?: boolean;
  readonly epsilon?: string;
  readonly tidy?: boolean;
  readonly json?: boolean;
}

export const withAskOptions = (command: Command): Command =>
  command
    .argument('<policy>', 'policy file')
    .option('--query <json>', 'a query or {"queries": [...]} as JSON, or @file.json')
    .option('--sql <text>', 'the same as SQL text')
    .option('--survey', 'one histogram per declared column, with all that is left of the budget')
    .option('--epsilon <part>', "part of the policy's epsilon to use (default: a tenth; --survey: all that is left)")
    .option('--tidy', 'no negative counts, totals that agree (post-processing)')
    .option('--json', 'one JSON document on stdout');

export interface Asked {
  readonly query: unknown;
  readonly options: AskOptions;
}

export function readAsk(words: AskWords, session: Session): Asked {
  const given = [words.query, words.sql, words.survey].filter((w) => w !== undefined).length;
  if (given !== 1)
    throw new Fault('USAGE', 'Say what to ask in exactly one way.', 'Use one of --query JSON, --sql TEXT or --survey.');
  const base = { ...(words.epsilon !== undefined && { epsilon: words.epsilon }), ...(words.tidy && { tidy: true }) };
  if (words.survey)
    return {
      query: surveyBatch(session.policy),
      options: { ...base, all: words.epsilon === undefined, label: 'survey: one histogram per column' },
    };
  if (words.sql !== undefined)
    return { query: parseSql(words.sql), options: { ...base, label: words.sql.replace(/\s+/g, ' ').slice(0, 120) } };
  return { query: readJson(words.query!), options: base };
}

export function readJson(text: string): unknown {
  const source = text.startsWith('@') ? readText(text.slice(1)) : text;
  try {
    return JSON.parse(source);
  } catch {
    throw new Fault(
      'QUERY_INVALID',
      'The query is not valid JSON.',
      'Write it like {"kind": "count", "by": ["party"]}, or put it in a file and use @file.json.',
    );
  }
}

export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Fault(
      'DATA_NOT_FOUND',
      `The file ${file} cannot be read.`,
      'Check the path; it is taken relative to where you run fugu.',
    );
  }
}
