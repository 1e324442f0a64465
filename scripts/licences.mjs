// The licences of packages that are part of built files, as one text.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const inside = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//;

/** `ids` are the bundled modules; `root` is the folder their paths are relative to. */
export function licencesOf(ids, root) {
  const packages = new Map(ids.flatMap((id) => (inside.exec(id) ? [[inside.exec(id)[2], inside.exec(id)[1]]] : [])));
  const texts = [...packages].sort().map(([name, folder]) => {
    const file = readdirSync(join(root, folder)).find((f) => /^(licen[cs]e|copying)/i.test(f));
    if (file === undefined) throw new Error(`${name} comes without its licence`);
    return `${name}\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
