import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Fault } from '../errors.js';
import { type NamedFile, writeFolder } from '../files/write-file.js';
import type { Policy } from '../policy/policy.js';
import { publicName } from '../policy/population.js';
import type { Receipt, Release } from '../release/receipt.js';
import { csvOf, tableCsv } from '../report/csv.js';
import { dataPackage } from '../report/datapackage.js';
import { htmlReport } from '../report/html.js';
import { publishedTable } from '../report/published-table.js';
import { type AnswerSection, analysisReport, reportOf } from '../report/report.js';
import { workbook } from '../report/workbook.js';
import type { ResultAnswer, ShownTable } from './answer-tables.js';
import { figure } from './output.js';

/** The file that makes a folder the folder of a release. */
const receiptFile = 'receipt.json';

/** A folder holds one release. Asked before anything is spent. */
export function refuseSecondRelease(directory: string | undefined, overwrite: boolean | undefined): void {
  if (directory === undefined || overwrite || !existsSync(join(directory, receiptFile))) return;
  throw new Fault(
    'USAGE',
    'The folder of --out holds a release already, and two must not be mixed.',
    'Choose another --out, or add --overwrite to replace it.',
  );
}

/** DIR/receipt.json, report.html, datapackage.json, tables.xlsx and one CSV per answer. */
export async function writeRelease(directory: string, release: Release, policy: Policy): Promise<void> {
  const receipt = published(release.receipt, policy);
  const tables = release.tables.map((table) => publishedTable(table, policy));
  const named = tables.map((table, k) => [`${fileName(table.name, k, tables.length)}.csv`, table] as const);
  writeFiles(directory, [
    [receiptFile, `${JSON.stringify(receipt, null, 2)}\n`],
    ['report.html', htmlReport(reportOf({ ...release, receipt }, policy))],
    ['datapackage.json', `${JSON.stringify(dataPackage(receipt, publicName(policy), named), null, 2)}\n`],
    ['tables.xlsx', workbook(receipt.guarantee.sentences, tables)],
    ...named.map(([name, table]) => [name, tableCsv(table)] as const),
  ]);
}

/** DIR/receipt.json, DIR/result.json, DIR/report.html and one CSV per table of the result. */
export function writeAnalysis(directory: string, answer: ResultAnswer, tables: readonly ShownTable[], policy: Policy): void {
  const receipt = published(answer.receipt, policy);
  writeFiles(directory, [
    [receiptFile, `${JSON.stringify(receipt, null, 2)}\n`],
    ['result.json', `${JSON.stringify(answer.result, null, 2)}\n`],
    ['report.html', htmlReport(analysisReport(receipt, policy, tables.map(sectionOf)))],
    ...tables.map((t) => [`${fileName(t.name, 0, 1)}.csv`, csvOf([t.header, ...t.rows])] as const),
  ]);
}

/** A population that was never named is named after the path of its data, which is nobody's business. */
const published = (receipt: Receipt, policy: Policy): Receipt => ({ ...receipt, population: publicName(policy) });

const sectionOf = ({ name, header, rows, drawing }: ShownTable): AnswerSection => ({
  title: name,
  measure: '',
  panels: [],
  columns: header,
  rows: rows.map((row) => row.map((x) => (typeof x === 'number' ? figure(x) : x))),
  error: '',
  ...(drawing && { drawing }),
});

function writeFiles(directory: string, files: readonly NamedFile[]): void {
  const gone = filesOf(directory).filter((name) => files.every(([kept]) => kept !== name));
  writeFolder(directory, files, { hint: 'Choose another --out.' }, gone);
}

/** What the release that is replaced has of its own: nothing else is touched. */
function filesOf(directory: string): readonly string[] {
  try {
    const { resources } = JSON.parse(readFileSync(join(directory, 'datapackage.json'), 'utf8'));
    const names = (resources as readonly { path: unknown }[]).map(({ path }) => path);
    return [
      'datapackage.json',
      'tables.xlsx',
      ...names.filter((path): path is string => typeof path === 'string' && path === basename(path)),
    ];
  } catch {
    return [];
  }
}

const fileName = (name: string, index: number, count: number): string => {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
  return count > 1 ? `${`${index + 1}`.padStart(`${count}`.length, '0')}-${words}` : words || 'answer';
};
