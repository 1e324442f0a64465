import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { version } from '../src/base/version.js';
import { builtOnce } from './fugu.js';

const root = join(import.meta.dirname, '..');
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const script = (name: string) => import(/* @vite-ignore */ join(root, 'scripts', name));
// biome-ignore lint/suspicious/noExplicitAny: package-lock.json
type Lock = { packages: Record<string, any> };
const lock: Lock = read('package-lock.json');

describe('the lock file', () => {
  it('the lock file has a hash for every package of every platform, and names no registry', async () => {
    const { problems, locked } = await script('lock-integrity.mjs');
    expect(problems(lock)).toEqual([]);
    expect(locked(lock).length).toBeGreaterThan(100);
    const bindings = locked(lock).filter((p: { name: string }) => p.name.startsWith('@duckdb/node-bindings-'));
    expect(bindings.length).toBe(8);
    expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toMatch(/registry|\.tgz/);
  });

  it('the test notices a missing hash', async () => {
    const { problems } = await script('lock-integrity.mjs');
    const name = 'node_modules/@duckdb/node-bindings-darwin-arm64';
    const planted = (entry: object): Lock => ({ packages: { ...lock.packages, [name]: { ...lock.packages[name], ...entry } } });
    expect(problems(planted({ integrity: undefined }))).toHaveLength(1);
    expect(problems(planted({ integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }))).toHaveLength(1);
    expect(problems(planted({ resolved: 'somewhere' }))).toHaveLength(1);
  });
});

describe('the shipped package', () => {
  it('the package has one version, whatever it is installed with', () => {
    expect(read('package.json').version).toBe(version);
    expect(lock.packages[''].version).toBe(version);
    const found = (file: string, form: RegExp) => form.exec(readFileSync(join(root, file), 'utf8'))?.[1];
    expect(found('python/pyproject.toml', /^version = "(.*)"$/m)).toBe(version);
    expect(found('python/src/fugu/__init__.py', /^__version__ = "(.*)"$/m)).toBe(version);
    expect(found('r/DESCRIPTION', /^Version: (.*)$/m)).toBe(version);
  });

  it('the package lists every dependency it may install, with version and hash', async () => {
    const { billOf, neededBy } = await script('sbom.mjs');
    const { components } = billOf(lock);
    const inConsole = neededBy(lock, ['@observablehq/plot', 'preact']);
    expect(inConsole).toContain('node_modules/d3-scale');
    const runtime = Object.entries(lock.packages).filter(
      ([place, entry]) => place !== '' && (!entry.dev || inConsole.has(place)),
    );
    expect(components.map((c: { 'bom-ref': string }) => c['bom-ref'])).toEqual(runtime.map(([place]) => place));
    for (const name of Object.keys(read('package.json').dependencies)) {
      const part = components.find((c: { name: string }) => c.name === name);
      expect(part, name).toMatchObject({ version: lock.packages[`node_modules/${name}`].version, scope: 'required' });
      const [{ alg, content }] = part.hashes;
      expect(alg).toBe('SHA-512');
      expect(`sha512-${Buffer.from(content, 'hex').toString('base64')}`).toBe(lock.packages[`node_modules/${name}`].integrity);
    }
    expect(billOf(lock)).toEqual(billOf(lock));
  });

  it('the package is the built library and its documents, nothing else', () => {
    builtOnce();
    const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const files: string[] = JSON.parse(output)[0].files.map((f: { path: string }) => f.path);
    const built = /^dist\/(?!.*\.test\.)[^.]+(\.[^./]+)*\.(js|d\.ts)$/;
    const console =
      /^dist\/console\/(index\.html|LICENCES\.txt|assets\/((index|icon)-[\w-]+\.(css|svg)|[a-z-]+-[\w-]{8}\.(png|svg)))$/;
    const named = ['dist/sbom.json', 'dist/start/LICENCES.txt'];
    expect(files.filter((f) => !built.test(f) && !console.test(f) && !named.includes(f)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
      'policy.schema.json',
    ]);
    for (const file of ['dist/index.js', 'dist/start/main.js', 'dist/start/chunk-worker.js', 'dist/start/child-main.js'])
      expect(files).toContain(file);
  });
});
