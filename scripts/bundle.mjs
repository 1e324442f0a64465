// dist/start: the command line in few files. tsc builds six hundred, and opening them takes most of a short command's time.
// Chunks are cut at dynamic imports, so that a command loads only its own code (test/start.test.ts). The library stays as built by tsc.
import { rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { licencesOf } from './licences.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = (name) => fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));
const out = fileURLToPath(new URL('../dist/start', import.meta.url));

/**
 * Files started by name keep their name (analysis/learn/network/pool.ts, release/ledger/rescue/child.ts,
 * app/service/worker.ts).
 */
const input = {
  main: built('app/cli/main'),
  'chunk-worker': built('analysis/learn/network/chunk-worker'),
  'child-main': built('release/ledger/rescue/child-main'),
  'aside-worker': built('app/service/aside-worker'),
};
/** Packages loaded from where they are installed: they bring binaries, lack a licence file, or look for optional packages. */
const external = [/^@duckdb\/node-bindings/, /^libsql$/, /^pgsql-ast-parser$/, /^pg$/];

/** Options of commands are computed from the schemas of their requests here, so that no command loads a schema to print its help. */
const tables = fileURLToPath(new URL('../dist/app/cli/option-tables.js', import.meta.url));
const optionTables = {
  name: 'option-tables',
  async load(id) {
    if (id !== tables) return undefined;
    const computed = Object.entries(await import(pathToFileURL(tables).href));
    return computed.map(([name, table]) => `export const ${name} = ${JSON.stringify(table)};`).join('\n');
  },
};

const bundle = await rolldown({ input, external, platform: 'node', cwd: root, logLevel: 'warn', plugins: [optionTables] });
rmSync(out, { recursive: true, force: true });
const { output } = await bundle.write({
  dir: out,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  // Names are kept for crash reports; reading white space takes a tenth of the start.
  minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
});
await bundle.close();

/** The sources in each bundled file: for tests, not for the package. */
const modules = Object.fromEntries(
  output
    .filter(({ type }) => type === 'chunk')
    .map(({ fileName, moduleIds }) => [fileName, moduleIds.map((id) => relative(root, id).replaceAll('\\', '/'))]),
);

/** Packages that are part of the files come with their licences. */
writeFileSync(join(out, 'LICENCES.txt'), licencesOf(Object.values(modules).flat(), root));
writeFileSync(fileURLToPath(new URL('../dist/.start-modules.json', import.meta.url)), `${JSON.stringify(modules, undefined, 1)}\n`);
