import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtOnce, fugu, mainFile } from './fugu.js';

let folder: string;
beforeAll(() => {
  builtOnce();
  folder = mkdtempSync(join(tmpdir(), 'fugu-start-'));
  writeFileSync(join(folder, 'people.csv'), 'party\ndem\nrep\n');
  writeFileSync(
    join(folder, 'policy.yaml'),
    'data: { source: people.csv }\nprotect: { secret: row }\nbudget: { epsilon: 8 }\npopulation: town\nledger: ledger.db\ndependence: none\ncolumns:\n  party: { type: category, values: [dem, rep] }\n',
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const home = dirname(mainFile);
const model = fileURLToPath(new URL('../examples/models/household.json', import.meta.url));

/** Source files loaded when a command ends: V8 lists the built files, the build maps them to sources. */
async function loadedBy(...words: string[]): Promise<readonly string[]> {
  const modules = JSON.parse(readFileSync(join(home, '..', '.start-modules.json'), 'utf8')) as Record<string, readonly string[]>;
  const coverage = mkdtempSync(join(folder, 'loaded-'));
  const { code, err } = await fugu({ cwd: folder, env: { NODE_V8_COVERAGE: coverage } }, ...words);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const scripts = readdirSync(coverage).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as { result: readonly { url: string }[] };
    return result.filter(({ url }) => url.startsWith('file:')).map(({ url }) => fileURLToPath(url));
  });
  return scripts.flatMap((script) => (dirname(script) === home ? modules[script.slice(home.length + 1)]! : [script]));
}

/** Forms, databases, ledgers, and reports beyond the words that every command prints. */
const heavy = {
  forms: /node_modules\/(zod|yaml)\//,
  'a parser of SQL': /node_modules\/pgsql-ast-parser\//,
  'a database': /node_modules\/(@duckdb|libsql|@libsql)\/|^dist\/(data\/engine\/duckdb|release\/ledger)\//,
  'releases or analyses':
    /^dist\/(release\/session\/(?!outcome)|analysis\/(survey|learn\/(?!network\/(best-structure|family-scores|cell-counter)|odds\/friend))|evaluate\/attack)/,
  reports: /^dist\/app\/report\/(?!terminal-text|json-text|visible|number)/,
} as const;
const found = (sources: readonly string[]): readonly string[] =>
  Object.entries(heavy).flatMap(([name, pattern]) => (sources.some((source) => pattern.test(source)) ? [name] : []));

describe('the modules that a command loads', () => {
  it.each<[string, string[]]>([
    ['--version', ['--version']],
    ['--help', ['--help']],
    ['the help of a command', ['release', '--help']],
    ['epsilon from belief', ['epsilon', '--prior', '0.1', '--posterior', '0.3']],
    ['epsilon into belief', ['epsilon', '--epsilon', '1']],
    ['leak', ['leak', model, '--base', '0.1']],
  ])('the command %s loads what it needs and no more', async (_, words) => {
    const sources = await loadedBy(...words);
    expect(sources).toContain('dist/app/cli/main.js');
    expect(sources.filter((source) => Object.values(heavy).some((pattern) => pattern.test(source)))).toEqual([]);
  });

  it('a release loads its database and forms, but no learning, no SQL and no page: what is not seen would prove nothing', async () => {
    const ask = ['release', 'policy.yaml', '--query', '{"kind": "histogram", "column": "party"}', '--epsilon', '1'];
    const loaded = await loadedBy(...ask);
    expect(found(loaded)).toEqual(['forms', 'a database', 'releases or analyses', 'reports']);
    expect(
      loaded.filter((source) =>
        /^dist\/(analysis\/(learn|pattern|survey)|evaluate\/(attack|papers))\/|^dist\/app\/report\/(html|line-chart|attack)/.test(
          source,
        ),
      ),
    ).toEqual([]);
    expect(await loadedBy(...ask, '--out', 'report')).toContain('dist/app/report/html.js');
  });
});
