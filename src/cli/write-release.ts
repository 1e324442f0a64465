import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../errors.js';
import type { Policy } from '../policy/policy.js';
import type { Release } from '../release/receipt.js';
import { answerCsv } from '../report/csv.js';
import { htmlReport } from '../report/html.js';
import { reportOf } from '../report/report.js';

/** DIR/receipt.json, DIR/report.html and one CSV per answer. */
export async function writeRelease(directory: string, release: Release, policy: Policy): Promise<void> {
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'receipt.json'), `${JSON.stringify(release.receipt, null, 2)}\n`);
    writeFileSync(join(directory, 'report.html'), htmlReport(reportOf(release, policy)));
    release.tables.forEach((table, k) => {
      writeFileSync(join(directory, `${fileName(table.name, k, release.tables.length)}.csv`), answerCsv(table));
    });
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault(
      'READ_ONLY',
      `The folder ${directory} cannot be written.`,
      'The answer is recorded: run the same command with another --out and it is replayed for free.',
    );
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
