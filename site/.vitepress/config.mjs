import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { docs, parts } from '../../scripts/docs-index.mjs';

/** Links to folders lead to their index; links that leave docs/ are text, since the site has no such page. */
function keepLinksInside(md) {
  md.core.ruler.push('inside', ({ tokens, env }) => {
    for (const { children } of tokens)
      for (const [k, token] of (children ?? []).entries()) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null;
        if (href === null || /^([a-z][a-z+.-]*:|#)/i.test(href)) continue;
        const [path, anchor] = href.split('#');
        const target = posix.normalize(posix.join(dirname(env.relativePath.replace(/index\.md$/, 'README.md')), path));
        if (!target.startsWith('..') && existsSync(join(docs, target))) {
          const page = target.replace(/(^|\/)README\.md$/, '$1').replace(/\.md$/, '.html');
          token.attrSet('href', `/${page}${anchor ? `#${anchor}` : ''}`);
          continue;
        }
        const close = children.findIndex((other, at) => at > k && other.type === 'link_close' && other.level === token.level);
        for (const end of [token, children[close]]) Object.assign(end, { type: 'text', tag: '', nesting: 0, content: '' });
      }
  });
}

/** Pages lie outside this folder; the packages that they are compiled against lie in it. */
const packagesOfSite = {
  name: 'packages-of-site',
  enforce: 'pre',
  resolveId(source, importer, { ssr }) {
    if (!/^vue($|\/)/.test(source)) return undefined;
    if (ssr) return { id: source, external: true };
    return importer?.startsWith(docs) ? this.resolve(source, fileURLToPath(import.meta.url), { skipSelf: true }) : undefined;
  },
};

/** The site: pages and order come from docs/README.md, search from the pages themselves; nothing is loaded from elsewhere. */
export default defineConfig({
  title: 'Fugu',
  description: 'Private statistics for data whose records know each other',
  srcDir: '../docs',
  outDir: './dist',
  cacheDir: './.cache',
  rewrites: (file) => file.replace(/(^|\/)README\.md$/, '$1index.md'),
  markdown: { config: keepLinksInside },
  vite: { plugins: [packagesOfSite], publicDir: false },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: parts().map(({ title, pages }) => ({
      text: title,
      collapsed: false,
      items: pages.map(({ title: text, path }) => ({ text, link: `/${path === 'index' ? '' : path}` })),
    })),
  },
});
