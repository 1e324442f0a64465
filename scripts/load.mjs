// Modules of src for scripts that run before a build: bundled to one file, then imported.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Exports of each file of src, such as `app/service/openapi.ts`. */
export async function loadSources(...files) {
  const bundle = await rolldown({
    input: 'sources',
    external: [/^[a-z@]/],
    platform: 'node',
    cwd: root,
    logLevel: 'silent',
    plugins: [
      {
        name: 'sources',
        resolveId: (id) => (id === 'sources' ? id : undefined),
        load: (id) =>
          id === 'sources' ? files.map((file, k) => `export * as m${k} from ${JSON.stringify(join(root, 'src', file))};`).join('\n') : undefined,
      },
    ],
  });
  // Packages are found from inside the project only.
  const folder = join(root, 'node_modules', '.cache', 'fugu', `${process.pid}-${Date.now()}`);
  mkdirSync(folder, { recursive: true });
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'sources.mjs', chunkFileNames: '[name]-[hash].mjs' });
  await bundle.close();
  const loaded = await import(pathToFileURL(join(folder, 'sources.mjs')).href);
  return files.map((_, k) => loaded[`m${k}`]);
}
