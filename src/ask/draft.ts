import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import * as z from 'zod';
import { describeColumns } from '../engine/describe.js';
import { Fault } from '../errors.js';
import { writeNew } from '../files/write-file.js';
import { readCodebook } from '../policy/codebook/codebook.js';
import { type Draft, draftPolicy as draftFrom } from '../policy/draft/draft.js';
import { canonicalPath } from '../policy/population.js';
import { hasDictionary } from '../statfile/statfile.js';
import { openEngine } from '../terms/open.js';
import { parsePolicy } from '../terms/read.js';
import { type FileName, faulting, fileNamed, progress, readOptions } from './door.js';
import { closing } from './opened.js';

const options = z.strictObject({
  /** A CSV with the columns name,value,label[,missing], a survey file, or a DDI codebook (.xml). A survey file is its own codebook unless one is named. */
  codebook: z.string().min(1).optional(),
  /** The table of a duckdb file, the sheet of a workbook. */
  table: z.string().min(1).optional(),
  /** Where to write the policy; never over a file that is there. */
  out: z.string().min(1).default('policy.yaml'),
  progress: progress.optional(),
});
export type DraftOptions = z.input<typeof options>;

export interface DraftedPolicy extends Draft {
  /** Where it was written. */
  readonly policy: string;
}

/**
 * Drafts a policy for a csv, parquet, duckdb or survey file (.sav, .dta, .xpt, .xlsx) and writes it. Domains and bounds are read from the data and marked: confirm them before releasing.
 *
 * @example
 * const { policy, unconfirmed } = await draftPolicy('survey.csv', { out: 'drafted.yaml' });
 * await confirmPolicy(policy, { columns: unconfirmed });
 */
export async function draftPolicy(data: FileName, given?: DraftOptions): Promise<DraftedPolicy> {
  return faulting(async () => {
    const { codebook, table, out, progress } = readOptions(options, given);
    const file = await canonicalPath(resolve(out));
    const source = resolve(fileNamed(data, 'The data'));
    const named = codebook === undefined ? undefined : resolve(codebook);
    const told = named ?? (hasDictionary(source) ? source : undefined);
    const book = told === undefined ? undefined : await readCodebook(told);
    // A survey file that labels nothing is no codebook.
    const codebookPath = named ?? (book?.size ? told : undefined);
    const engine = await openEngine({ source, ...(table !== undefined && { table }) });
    const draft = await closing(engine, async () => {
      refuseNamelessData(
        (await engine.columns()).map((c) => c.name),
        source,
      );
      const fromPolicy = (path: string) => relative(dirname(file), path).split(sep).join('/');
      const folder = dirname(await canonicalPath(source));
      return draftFrom(await describeColumns(engine, progress), {
        source: fromPolicy(source),
        ...(table !== undefined && { table }),
        ...(codebookPath !== undefined && { codebookPath: fromPolicy(codebookPath), codebook: book! }),
        ...(!canWrite(folder) && { ledger: join(dirname(file), '.fugu', 'ledger.db') }),
      });
    });
    await parsePolicy(draft.text, file);
    if (!writeNew(file, draft.text, { hint: 'Choose another place with --out.' }))
      throw new Fault('USAGE', `${out} exists already.`, 'Choose another name with --out, or move it away.');
    return { policy: file, ...draft };
  });
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
