import { accessSync, constants, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Command } from 'commander';
import { describeColumns } from '../engine/describe.js';
import { Fault } from '../errors.js';
import { writeNew } from '../files/write-file.js';
import { readCodebook } from '../policy/codebook/codebook.js';
import { type Draft, draftPolicy } from '../policy/draft/draft.js';
import { canonicalPath } from '../policy/population.js';
import { openEngine } from '../terms/open.js';
import { parsePolicy } from '../terms/read.js';
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
    .action(async (data: string, words: InitWords) => {
      const { draft, file } = await initPolicy(data, words);
      emit(words.json, { policy: file, ...draft, text: undefined }, () => initText(draft, words.out));
    });
}

export async function initPolicy(data: string, words: Omit<InitWords, 'json'>): Promise<{ draft: Draft; file: string }> {
  const file = await canonicalPath(resolve(words.out));
  const source = resolve(data);
  const codebookPath = words.codebook === undefined ? undefined : resolve(words.codebook);
  const codebook = codebookPath === undefined ? undefined : await readCodebook(codebookPath);
  const engine = await openEngine({ source, ...(words.table !== undefined && { table: words.table }) });
  let draft: Draft;
  try {
    refuseNamelessData(
      (await engine.columns()).map((c) => c.name),
      source,
    );
    const fromPolicy = (path: string) => relative(dirname(file), path).split(sep).join('/');
    const folder = dirname(await canonicalPath(source));
    draft = draftPolicy(await describeColumns(engine, progress('looking at columns')), {
      source: fromPolicy(source),
      ...(words.table !== undefined && { table: words.table }),
      ...(codebookPath !== undefined && { codebookPath: fromPolicy(codebookPath), codebook: codebook! }),
      ...(!canWrite(folder) && { ledger: join(dirname(file), '.fugu', 'ledger.db') }),
    });
  } finally {
    await engine.close();
  }
  await parsePolicy(draft.text, file);
  if (!writeNew(file, draft.text, { hint: 'Choose another place with --out.' }))
    throw new Fault('USAGE', `${words.out} exists already.`, 'Choose another name with --out, or move it away.');
  return { draft, file };
}

/** A file without a header would show the first person's answers as column names. */
function refuseNamelessData(names: readonly string[], file: string): void {
  const numbers = names.filter((name) => name.trim() !== '' && Number.isFinite(Number(name))).length;
  if (numbers * 3 >= names.length)
    throw new Fault(
      'DATA_MALFORMED',
      'The first line of the data does not look like names of columns.',
      'Add a first line with the names of the columns.',
      {
        place: { file, line: 1 },
      },
    );
}

/** By its mode too: the superuser may write anywhere, but a folder marked read-only was meant to stay as it is. */
function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return (statSync(folder).mode & 0o222) !== 0;
  } catch {
    return false;
  }
}

function initText(draft: Draft, out: string): string {
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
