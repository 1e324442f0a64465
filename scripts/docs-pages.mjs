// Documentation as HTML, and as a plugin for the build of the console.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { Marked } from 'marked';
import { docs, pages, parts, pathOf } from './docs-index.mjs';

/** Anchor of a heading, as GitHub writes it. */
const anchorOf = (heading) =>
  heading
    .replaceAll(/<[^>]*>/g, '')
    .toLowerCase()
    .replaceAll(/&\w+;|[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * A page as HTML. Links to other pages begin with `help:`; those that leave docs/ are text.
 * Pictures have the source `image:FILE`, with the file's path below docs/.
 */
export function htmlOf(file, text = readFileSync(join(docs, file), 'utf8')) {
  const headings = [];
  const images = new Set();
  const below = (target) => posix.normalize(posix.join(dirname(file), decodeURI(target)));
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const inner = this.parser.parseInline(tokens);
        const id = anchorOf(inner);
        headings.push({ id, depth, text: inner.replaceAll(/<[^>]*>/g, '') });
        return `<h${depth} id="${id}" tabindex="-1">${inner}</h${depth}>\n`;
      },
      code: ({ text: code }) => `<pre tabindex="0"><code>${escaped(code)}</code></pre>\n`,
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        if (/^[a-z][a-z+.-]*:/i.test(href)) return `<a href="${href}" rel="noreferrer" target="_blank">${inner}</a>`;
        const [path, anchor] = href.split('#');
        const target = path === '' ? file : below(path);
        const page = target.endsWith('.md') ? target : posix.join(target, 'README.md');
        if (target.startsWith('..') || !existsSync(join(docs, page))) return inner;
        return `<a href="help:${pathOf(page)}${anchor ? `#${anchor}` : ''}">${inner}</a>`;
      },
      image({ href, text: alt }) {
        const image = below(href);
        images.add(image);
        return `<img src="image:${image}" alt="${alt}" loading="lazy">`;
      },
      table(token) {
        const cells = (row, tag) => `<tr>${row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        const body = token.rows.map((row) => cells(row, 'td')).join('\n');
        return `<div class="wide" tabindex="0"><table><thead>${cells(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  const html = marked.parse(text);
  return { html, headings, images: [...images], title: headings[0]?.text ?? file };
}

/** Vite plugin: `virtual:docs` has the index and every page, a chunk each. */
export const docsPlugin = {
  name: 'docs',
  buildStart() {
    docsPlugin.files = new Map(pages().map(({ file, path }) => [path, file]));
  },
  resolveId: (id) => (id === 'virtual:docs' || id.startsWith('virtual:docs/') ? `\0${id}` : undefined),
  load(id) {
    if (id === '\0virtual:docs') {
      const all = pages();
      const listed = parts();
      const shown = new Set(listed.flatMap((part) => part.pages.map(({ path }) => path)));
      const headings = Object.fromEntries(
        all.filter(({ path }) => shown.has(path)).map(({ file, path }) => [path, htmlOf(file).headings.map((h) => h.text)]),
      );
      const loads = all.map(({ path }) => `${JSON.stringify(path)}: () => import(${JSON.stringify(`virtual:docs/${path}`)})`);
      return `export const parts = ${JSON.stringify(listed)};\nexport const headings = ${JSON.stringify(headings)};\nexport const pages = {${loads.join(',\n')}};`;
    }
    if (!id.startsWith('\0virtual:docs/')) return undefined;
    const { html, images } = htmlOf(docsPlugin.files.get(id.slice('\0virtual:docs/'.length)));
    const imports = images.map((image, k) => `import image${k} from ${JSON.stringify(join(docs, image))};`);
    const replaced = images.map((image, k) => `.replaceAll(${JSON.stringify(`image:${image}`)}, image${k})`);
    return `${imports.join('\n')}\nexport default ${JSON.stringify(html)}${replaced.join('')};`;
  },
};
