import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '../../src/app/api/fugu.js';
import type { ForeignReceipt } from './run.js';

/** Visits of the same people at another publisher, three of each person. */
const visitsEach = 3;
const visits = `id,visit,g\n${[0, 1, 2, 3, 4, 5]
  .flatMap((id) => Array.from({ length: visitsEach }, (_, k) => `p${id},v${id}-${k},${'ab'[k % 2]}\n`))
  .join('')}`;
const persons = `id,g\n${[0, 1, 2, 3, 4, 5].map((id) => `p${id},${'ab'[id % 2]}\n`).join('')}`;

/** Receipts of other publishers: by visit, by person, by a person named by another column, with Gaussian noise. */
export async function foreignReceipts(): Promise<readonly ForeignReceipt[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-foreign-'));
  const offices = [
    // One record of theirs is one visit: one of our people has three of them.
    { name: 'by visit', data: visits, protect: '{ secret: row }', of: visitsEach },
    { name: 'by visit, called a person', data: visits, protect: '{ secret: person, unit: visit, maxRows: 1 }', of: visitsEach },
    { name: 'by person', data: visits, protect: `{ secret: person, unit: id, maxRows: ${visitsEach} }`, of: 1 },
    { name: 'by row of one each', data: persons, protect: '{ secret: row }', of: 1 },
  ];
  const made: ForeignReceipt[] = [];
  try {
    for (const [k, { name, data, protect, of }] of offices.entries())
      for (const epsilon of ['0.1', '0.3']) {
        writeFileSync(join(folder, `${k}.csv`), data);
        const policy = join(folder, `${k}.yaml`);
        writeFileSync(
          policy,
          `data: { source: ${k}.csv }\npopulation: office ${k}\nledger: ledger.db\nprotect: ${protect}\nbudget: { epsilon: 1 }\ndependence: none\ncolumns: { g: { type: category, values: [a, b] } }\n`,
        );
        await using fugu = await open(policy);
        const { receipt } = await fugu.release(
          { kind: 'count', where: [{ column: 'g', op: '=', value: epsilon === '0.1' ? 'a' : 'b' }] },
          { epsilon },
        );
        made.push({ name: `${name} ${epsilon}`, receipt, records: of, epsilonOfPerson: of * Number(epsilon) });
      }
    return made;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
