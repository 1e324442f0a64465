import type { NamedFile } from '../../base/files/write-file.js';
import type { Policy } from '../../policy/policy.js';
import type { Release } from '../../release/session/receipt.js';
import { tableCsv } from './csv.js';
import { dataPackage } from './datapackage.js';
import { htmlReport } from './html.js';
import { publishedTable } from './published-table.js';
import { reportOf } from './report.js';
import { visible } from './visible.js';
import { workbook } from './workbook.js';

/** File that marks a folder as that of a release. */
export const receiptFile = 'receipt.json';
export const packageFile = 'datapackage.json';
export const workbookFile = 'tables.xlsx';

/** receipt.json, report.html, datapackage.json, tables.xlsx and one CSV per answer. */
export function publishedFiles(release: Release, policy: Policy): readonly NamedFile[] {
  const { receipt } = release;
  const tables = release.tables.map((table) => publishedTable(table, policy));
  const named = tables.map((table, k) => [`${fileName(table.name, k, tables.length)}.csv`, table] as const);
  return [
    [receiptFile, `${JSON.stringify(receipt, null, 2)}\n`],
    ['report.html', htmlReport(reportOf(release, policy))],
    [packageFile, `${JSON.stringify(dataPackage(receipt, named), null, 2)}\n`],
    [workbookFile, workbook(receipt.guarantee.sentences, tables)],
    ...named.map(([name, table]) => [name, tableCsv(table)] as const),
  ];
}

/**
 * File name for the table of this name, the index-th of `count`: letters and digits of every script, within the length limit of
 * any disk.
 */
export const fileName = (name: string, index: number, count: number): string => {
  const words = cutTo(longestName, visible(name.normalize('NFC').toLowerCase()).replace(/[^\p{L}\p{M}\p{N}]+/gu, '-'));
  const bare = words.replace(/^-|-$/g, '');
  if (count > 1) return `${`${index + 1}`.padStart(`${count}`.length, '0')}-${bare || 'answer'}`;
  return bare === '' || device.test(bare) ? `answer${bare && '-'}${bare}` : bare;
};
/** In bytes. */
const longestName = 120;
/** Names that Windows takes for devices, whatever their ending. */
const device = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

function cutTo(bytes: number, text: string): string {
  let prefix = '';
  for (const letter of text) {
    if (Buffer.byteLength(prefix) + Buffer.byteLength(letter) > bytes) break;
    prefix += letter;
  }
  return prefix;
}
