import type { NamedFile } from '../files/write-file.js';
import type { Policy } from '../policy/policy.js';
import { publicName } from '../policy/population.js';
import type { Receipt, Release } from '../release/receipt.js';
import { tableCsv } from './csv.js';
import { dataPackage } from './datapackage.js';
import { htmlReport } from './html.js';
import { publishedTable } from './published-table.js';
import { reportOf } from './report.js';
import { workbook } from './workbook.js';

/** The file that makes a folder the folder of a release. */
export const receiptFile = 'receipt.json';
export const packageFile = 'datapackage.json';
export const workbookFile = 'tables.xlsx';

/** receipt.json, report.html, datapackage.json, tables.xlsx and one CSV per answer. */
export function publishedFiles(release: Release, policy: Policy): readonly NamedFile[] {
  const receipt = publishedReceipt(release.receipt, policy);
  const tables = release.tables.map((table) => publishedTable(table, policy));
  const named = tables.map((table, k) => [`${fileName(table.name, k, tables.length)}.csv`, table] as const);
  return [
    [receiptFile, `${JSON.stringify(receipt, null, 2)}\n`],
    ['report.html', htmlReport(reportOf({ ...release, receipt }, policy))],
    [packageFile, `${JSON.stringify(dataPackage(receipt, publicName(policy), named), null, 2)}\n`],
    [workbookFile, workbook(receipt.guarantee.sentences, tables)],
    ...named.map(([name, table]) => [name, tableCsv(table)] as const),
  ];
}

/** A population that was never named is named after the path of its data, which is nobody's business. */
export const publishedReceipt = (receipt: Receipt, policy: Policy): Receipt => ({ ...receipt, population: publicName(policy) });

/** A file's name for the table of this name, the index-th of so many. */
export const fileName = (name: string, index: number, count: number): string => {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
  return count > 1 ? `${`${index + 1}`.padStart(`${count}`.length, '0')}-${words}` : words || 'answer';
};
