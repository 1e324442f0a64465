import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const main = join(root, 'dist', 'app', 'cli', 'main.js');
const python = process.env.FUGU_PYTHON ?? 'python3';
const run = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(python, words, { cwd: tmpdir(), encoding: 'utf8', env: { ...process.env, FUGU: `node ${main}`, ...env } });
const succeeds = (code: string) => run(['-c', code]).status === 0;

const version = succeeds('import sys; assert sys.version_info >= (3, 9)');
const installer = version && succeeds('import pip');

describe('the Python package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-python-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.skipIf(!version)(
    `the Python package passes its own tests${version ? '' : ' (skipped: there is no Python 3.9 or later)'}`,
    () => {
      const done = run(['-m', 'unittest', 'discover', '-s', join(root, 'python', 'tests')], {
        PYTHONPATH: join(root, 'python', 'src'),
        PYTHONDONTWRITEBYTECODE: '1',
      });
      expect(done.stderr).toMatch(/OK/);
      expect(done.status).toBe(0);
    },
    300_000,
  );

  // The build tool lies in the package's folder: nothing is fetched.
  it.skipIf(!installer)(`pip can install the Python package${installer ? '' : ' (skipped: there is no pip)'}`, () => {
    cpSync(join(root, 'python'), join(folder, 'source'), { recursive: true });
    const target = join(folder, 'installed');
    const done = run([
      ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-index'],
      ...['--target', target, join(folder, 'source')],
    ]);
    expect(done.stderr.replace(/^WARNING.*$/gm, '').trim()).toBe('');
    expect(done.status).toBe(0);
    const used = run(
      [
        '-c',
        [
          'import fugu, sys',
          `assert fugu.__file__.startswith(${JSON.stringify(target)})`,
          'policy = fugu.init({"party": ["left", "right"] * 100, "age": list(range(20, 70)) * 4}, sys.argv[1], budget={"epsilon": 1}, dependence="none", frames="rows")',
          'policy.confirm("all")',
          'print(policy.plan(sql="SELECT party, COUNT(*) FROM data GROUP BY party", epsilon=0.5)["epsilon"])',
          'for row in policy.release(sql="SELECT party, COUNT(*) FROM data GROUP BY party", epsilon=0.5): print(row["party"], row["value"], row["low"], row["high"])',
        ].join('\n'),
        join(folder, 'town'),
      ],
      { PYTHONPATH: target },
    );
    expect(used.stderr).toBe('');
    expect(used.stdout).toMatch(/^0\.5\nleft -?\d/);
  });
});
