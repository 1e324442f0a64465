import { type NamedText, writeFolder } from '../files/write-file.js';
import type { Policy } from '../policy/policy.js';
import type { Release } from '../release/receipt.js';
import { answerCsv, csvOf } from '../report/csv.js';
import { htmlReport } from '../report/html.js';
import { type AnswerSection, analysisReport, reportOf } from '../report/report.js';
import type { ResultAnswer, ShownTable } from './answer-tables.js';
import { figure } from './output.js';

/** DIR/receipt.json, DIR/report.html and one CSV per answer. */
export async function writeRelease(directory: string, release: Release, policy: Policy): Promise<void> {
  writeFiles(directory, [
    ['receipt.json', `${JSON.stringify(release.receipt, null, 2)}\n`],
    ['report.html', htmlReport(reportOf(release, policy))],
    ...release.tables.map((t, k) => [`${fileName(t.name, k, release.tables.length)}.csv`, answerCsv(t)] as const),
  ]);
}

/** DIR/receipt.json, DIR/result.json, DIR/report.html and one CSV per table of the result. */
export function writeAnalysis(directory: string, answer: ResultAnswer, tables: readonly ShownTable[], policy: Policy): void {
  writeFiles(directory, [
    ['receipt.json', `${JSON.stringify(answer.receipt, null, 2)}\n`],
    ['result.json', `${JSON.stringify(answer.result, null, 2)}\n`],
    ['report.html', htmlReport(analysisReport(answer.receipt, policy, tables.map(sectionOf)))],
    ...tables.map((t) => [`${fileName(t.name, 0, 1)}.csv`, csvOf([t.header, ...t.rows])] as const),
  ]);
}

const sectionOf = ({ name, header, rows, drawing }: ShownTable): AnswerSection => ({
  title: name,
  measure: '',
  panels: [],
  columns: header,
  rows: rows.map((row) => row.map((x) => (typeof x === 'number' ? figure(x) : x))),
  error: '',
  ...(drawing && { drawing }),
});

const writeFiles = (directory: string, files: readonly NamedText[]): void =>
  writeFolder(directory, files, { hint: 'Choose another --out.' });

const fileName = (name: string, index: number, count: number): string => {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
  return count > 1 ? `${`${index + 1}`.padStart(`${count}`.length, '0')}-${words}` : words || 'answer';
};
