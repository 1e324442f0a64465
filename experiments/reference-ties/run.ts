import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publicData } from '../data.js';
import { measure } from './measure.js';
import { fileOf, type Line, lineOf, pageOf } from './page.js';
import { referenceTies, sources } from './ties.js';

/** Odds ratios of ties on public data, as a table to cite. `--write`: into docs/ and into the committed file. */
export async function run(out: string): Promise<void> {
  const folder = publicData('', sources.acs.file);
  if (!folder)
    return console.log('The public data is not beside the checkout; docs/reference/reference-ties.md says what it gave.');
  const lines: Line[] = [];
  for (const tie of referenceTies) {
    lines.push(lineOf(await measure(folder, tie)));
    const { between, value, pairs, oddsRatio, declare } = lines.at(-1)!;
    console.log(`${between}: ${value}: ${oddsRatio}, declare ${declare} (${pairs} pairs)`);
  }
  writeFileSync(join(out, 'measured.csv'), fileOf(lines));
  if (!process.argv.includes('--write')) return;
  writeFileSync(join('experiments', 'reference-ties', 'measured.csv'), fileOf(lines));
  writeFileSync(join('docs', 'reference', 'reference-ties.md'), pageOf(lines));
}
