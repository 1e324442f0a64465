import type { SynthResult } from '../../analysis/synth/release.js';
import { Fault } from '../../base/errors.js';
import { type NamedFile, refuseUnwritableFolder, writeFolder } from '../../base/files/write-file.js';
import { existsSync } from '../../base/platform/files.js';
import { basename, dirname, join } from '../../base/platform/paths.js';
import type { Policy } from '../../policy/policy.js';
import type { Receipt } from '../../release/session/receipt.js';
import { synthParquet } from '../api/synth-file.js';
import { synthCsv } from '../report/synth-csv.js';
import { synthPackage } from '../report/synth-package.js';
import { synthPage } from '../report/synth-page.js';

/** Endings of the files written with the rows, after the rows' name without its ending. */
const sideFiles = ['.receipt.json', '.dictionary.json', '.html'] as const;
const stemOf = (out: string): string => basename(out).replace(/\.(csv|parquet)$/i, '');

const anotherOut = { hint: 'Choose another --out.' };

/** Refuses an invalid or existing output before anything is spent. */
export function refuseExisting(out: string, overwrite: boolean | undefined): void {
  if (!/\.(csv|parquet)$/i.test(out))
    throw new Fault('USAGE', 'Synthetic rows are written as .csv or .parquet.', 'Write for example --out synth.csv.');
  const there = [basename(out), ...sideFiles.map((end) => `${stemOf(out)}${end}`)].find((name) =>
    existsSync(join(dirname(out), name)),
  );
  if (there !== undefined && !overwrite)
    throw new Fault('USAGE', `There is a file ${there} already.`, 'Choose another --out, or add --overwrite to replace it.');
  refuseUnwritableFolder(dirname(out), [basename(out), ...sideFiles.map((end) => `${stemOf(out)}${end}`)], anotherOut);
}

/** Writes the rows with their receipt, dictionary and quality page; all of them or none. */
export async function writeSynth(
  out: string,
  answer: { readonly result: SynthResult; readonly receipt: Receipt },
  policy: Policy,
): Promise<readonly string[]> {
  const [name, stem] = [basename(out), stemOf(out)];
  const { columns } = answer.result;
  const files: readonly NamedFile[] = [
    [name, /\.parquet$/i.test(out) ? await synthParquet(columns) : synthCsv(columns, policy)],
    [`${stem}.receipt.json`, `${JSON.stringify(answer.receipt, null, 2)}\n`],
    [`${stem}.dictionary.json`, `${JSON.stringify(synthPackage(answer, policy, name), null, 2)}\n`],
    [`${stem}.html`, synthPage(answer)],
  ];
  writeFolder(dirname(out), files, anotherOut);
  return files.map(([file]) => join(dirname(out), file));
}
