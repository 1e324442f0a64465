// Index of the documentation (docs/README.md), read once for the console's help and for the site.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const docs = fileURLToPath(new URL('../docs', import.meta.url));

/** Every page, by its path below docs/ without `.md`; a folder's README is the folder's page. */
export const pages = () =>
  readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => ({ file, path: pathOf(file) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));

/** Page of a file below docs/. */
export const pathOf = (file) => file.replace(/\.md$/, '').replace(/(^|\/)README$/, '') || 'index';

/** Parts of the index: a heading, and its pages with the sentence that says what each is for. */
export function parts(text = readFileSync(join(docs, 'README.md'), 'utf8')) {
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf('\n')).trim(),
      pages: [...part.matchAll(/^- \[([^\]]+)\]\(([^)]+)\): ([^]*?)(?=\n(?:- |\n|$)|$)/gm)].map(([, title, target, summary]) => ({
        title,
        path: pathOf(target),
        summary: summary.replaceAll(/\s+/g, ' ').trim(),
      })),
    }));
}
