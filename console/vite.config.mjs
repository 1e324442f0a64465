import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { docsPlugin } from '../scripts/docs-pages.mjs';
import { licencesOf } from '../scripts/licences.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Packages that are part of the files come with their licences. */
const licences = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const ids = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    const places = ids.map((id) => relative(root, id.replace(/^\0/, '')).replaceAll('\\', '/'));
    this.emitFile({ type: 'asset', fileName: 'LICENCES.txt', source: licencesOf(places, root) });
  },
};

/** All scripts are separate files, since the page allows no inline script. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [docsPlugin, licences],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
  },
});
