import { basename } from 'node:path';
import type { Command } from 'commander';
import type { DraftedPolicy } from '../ask/draft.js';
import { bold, emit, progress } from './output.js';

interface InitWords {
  readonly codebook?: string;
  readonly table?: string;
  readonly out: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command('init')
    .description('draft a policy for a csv, parquet or duckdb file')
    .argument('<data>', 'the data file')
    .option('--codebook <file>', 'a CSV with the columns name,value,label[,missing]')
    .option('--table <name>', 'the table of a duckdb file')
    .option('--out <file>', 'where to write the policy', 'policy.yaml')
    .option('--json', 'print one JSON document')
    .action(async (data: string, { json, ...words }: InitWords) => {
      const { draftPolicy } = await import('../ask/draft.js');
      const draft = await draftPolicy(data, { ...words, progress: progress('looking at columns') });
      emit(json, { ...draft, text: undefined }, () => initText(draft, words.out));
    });
}

function initText(draft: DraftedPolicy, out: string): string {
  const name = basename(out);
  return [
    `${bold(out)} declares ${draft.declared} columns and leaves out ${draft.leftOut.length} (ids, dates, free text).`,
    'Read it: what is protected, the budget, and whether records know each other are for you to decide.',
    '',
    'Next:',
    ...(draft.unconfirmed.length > 0
      ? [`  fugu confirm ${name}   look at what was read from the data (${draft.unconfirmed.length} columns) and accept it`]
      : []),
    `  fugu check ${name}     what is protected from whom, in plain words`,
    `  fugu release ${name} --survey`,
  ].join('\n');
}
