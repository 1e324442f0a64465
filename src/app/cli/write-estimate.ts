import { Fault } from '../../base/errors.js';
import { writeFolder } from '../../base/files/write-file.js';
import { existsSync } from '../../base/platform/files.js';
import { join } from '../../base/platform/paths.js';
import type { Policy } from '../../policy/policy.js';
import type { EstimatedTables } from '../api/estimate.js';
import { tableCsv } from '../report/csv.js';
import { fileName } from '../report/published-folder.js';
import { publishedTable } from '../report/published-table.js';

const madeOf = 'estimate.json';

/** DIR/estimate.json, which lists the origin of the tables, and one CSV per table. */
export function writeEstimate(directory: string, estimated: EstimatedTables, policy: Policy, overwrite = false): void {
  const { tables, ...document } = estimated;
  if (!overwrite && existsSync(join(directory, madeOf)))
    throw new Fault(
      'USAGE',
      'The folder of --out holds an estimate already.',
      'Choose another --out, or add --overwrite to replace it.',
    );
  writeFolder(
    directory,
    [
      [madeOf, `${JSON.stringify(document, null, 2)}\n`],
      ...tables.map(
        (table, k) => [`${fileName(table.name, k, tables.length)}.csv`, tableCsv(publishedTable(table, policy))] as const,
      ),
    ],
    { hint: 'Choose another --out.' },
  );
}
