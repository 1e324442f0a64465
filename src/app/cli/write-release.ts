import { Fault } from '../../base/errors.js';
import { type NamedFile, refuseUnwritableFolder, writeFolder } from '../../base/files/write-file.js';
import { existsSync, readdirSync, readFileSync } from '../../base/platform/files.js';
import { basename, join } from '../../base/platform/paths.js';
import type { Policy } from '../../policy/policy.js';
import type { Release } from '../../release/session/receipt.js';
import type { ResultAnswer, ResultTable } from '../report/answer-tables.js';
import { csvOf } from '../report/csv.js';
import { htmlReport } from '../report/html.js';
import { fileName, packageFile, publishedFiles, receiptFile, workbookFile } from '../report/published-folder.js';
import { type AnswerSection, analysisReport } from '../report/report.js';
import { numberText } from '../report/terminal-text.js';

const anotherOut = { hint: 'Choose another --out.' };

/** Refuses a folder that holds a release or cannot be written to; called before payment. */
export function refuseSecondRelease(directory: string | undefined, overwrite: boolean | undefined): void {
  if (directory === undefined) return;
  const released = existsSync(join(directory, receiptFile));
  // Files of such names would be taken for those of a replaced release.
  if (!released && existsSync(join(directory, packageFile)))
    throw new Fault('USAGE', 'The folder of --out holds a data package that is no release.', 'Choose another --out.');
  if (released && !overwrite)
    throw new Fault(
      'USAGE',
      'The folder of --out holds a release already, and two must not be mixed.',
      'Choose another --out, or add --overwrite to replace it.',
    );
  const named = [receiptFile, packageFile, workbookFile, 'report.html', 'result.json'];
  refuseUnwritableFolder(directory, named, anotherOut);
  refuseUnwritableFolder(directory, namesTaken(directory), anotherOut);
}

/** Folders and links with the name of a table: the tables' names are known only after the answer. */
function namesTaken(directory: string): readonly string[] {
  try {
    const there = readdirSync(directory, { withFileTypes: true });
    return there.filter((entry) => /\.csv$/i.test(entry.name) && !entry.isFile()).map(({ name }) => name);
  } catch (error) {
    // A missing folder holds nothing; a folder that cannot be listed may hold anything.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw new Fault('USAGE', 'The folder of --out cannot be listed.', 'Check its permissions, or choose another --out.');
  }
}

/** DIR/receipt.json, report.html, datapackage.json, tables.xlsx and one CSV per answer. */
export async function writeRelease(directory: string, release: Release, policy: Policy): Promise<void> {
  writeFiles(directory, publishedFiles(release, policy));
}

/** DIR/receipt.json, DIR/result.json, DIR/report.html and one CSV per table of the result. */
export function writeAnalysis(directory: string, answer: ResultAnswer, tables: readonly ResultTable[], policy: Policy): void {
  const { receipt } = answer;
  writeFiles(directory, [
    [receiptFile, `${JSON.stringify(receipt, null, 2)}\n`],
    ['result.json', `${JSON.stringify(answer.result, null, 2)}\n`],
    ['report.html', htmlReport(analysisReport(receipt, policy, tables.map(sectionOf)))],
    ...tables.map((t) => [`${fileName(t.name, 0, 1)}.csv`, csvOf([t.header, ...t.rows])] as const),
  ]);
}

const sectionOf = ({ name, header, rows, drawing }: ResultTable): AnswerSection => ({
  title: name,
  measure: '',
  panels: [],
  columns: header,
  rows: rows.map((row) => row.map((x) => (typeof x === 'number' ? numberText(x) : x))),
  error: '',
  ...(drawing && { drawing }),
});

function writeFiles(directory: string, files: readonly NamedFile[]): void {
  const gone = filesOf(directory).filter((name) => files.every(([written]) => written !== name));
  writeFolder(directory, files, anotherOut, gone);
}

/** Files of the replaced release; no others are touched. */
function filesOf(directory: string): readonly string[] {
  try {
    const { resources, privacy } = JSON.parse(readFileSync(join(directory, packageFile), 'utf8'));
    // Other programs write data packages as well, but without a privacy promise.
    if (privacy === undefined) return [];
    const names = (resources as readonly { path: unknown }[]).map(({ path }) => path);
    return [
      packageFile,
      workbookFile,
      ...names.filter((path): path is string => typeof path === 'string' && path === basename(path)),
    ];
  } catch {
    return [];
  }
}
