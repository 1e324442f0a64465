import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', 'src');
/** A room imports only rooms to its left (and its own files). */
const order = [
  'files',
  'input',
  'exact',
  'noise',
  'mechanism',
  'policy',
  'engine',
  'dependence',
  'ties',
  'terms',
  'audit',
  'papers',
  'count',
  'query',
  'accounting',
  'ledger',
  'release',
  'pattern',
  'survey',
  'learn',
  'attack',
  'ask',
  'report',
  'cli',
];
const drivers: Record<string, RegExp> = {
  '@duckdb/node-api': /^engine\/duckdb\//,
  libsql: /^ledger\/index\/sqlite/,
  commander: /^cli\//,
  'pgsql-ast-parser': /^(query|pattern)\/(sql|query\/sql)/,
  yaml: /^policy\//,
};

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((f) => f.endsWith('.ts'))
  .map((f) => f.replaceAll('\\', '/'));
const sources = files.filter((f) => !f.endsWith('.test.ts'));
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const imports = (file: string): string[] =>
  [...text(file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((m) => {
    const target = m[1]!;
    return target.startsWith('.') ? relative(root, join(root, file, '..', target)).replaceAll('\\', '/') : target;
  });
const room = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '');

describe('the rooms', () => {
  it('are all in the order list', () => {
    expect([...new Set(sources.map(room))].filter((r) => r !== '' && !order.includes(r))).toEqual([]);
  });

  it('import only rooms above them', () => {
    const wrong = sources.flatMap((file) =>
      imports(file)
        .filter(
          (target) =>
            order.includes(room(target)) && room(file) !== '' && order.indexOf(room(target)) > order.indexOf(room(file)),
        )
        .map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('open exact answers only in engine, count, pattern, learn and release', () => {
    const wrong = sources.filter(
      (f) => !/^(engine|count|pattern|learn|release|ties|attack)\//.test(f) && imports(f).some((t) => t === 'engine/exact.js'),
    );
    expect(wrong).toEqual([]);
  });

  it('draw randomness only in noise/bits.ts', () => {
    const random = /Math\.random|randomBytes|randomFill|randomInt|getRandomValues|webcrypto/;
    expect(sources.filter((f) => f !== 'noise/bits.ts' && random.test(text(f)))).toEqual([]);
  });

  it('confine each driver to its adapter', () => {
    const wrong = sources.flatMap((f) =>
      imports(f)
        .filter((t) => drivers[t] && !drivers[t].test(f))
        .map((t) => `${f} -> ${t}`),
    );
    expect(wrong).toEqual([]);
  });

  it('have no drawer for odds and ends', () => {
    expect(files.filter((f) => /(^|\/)(utils?|common|helpers?|types|misc)(\/|\.ts$)/.test(f))).toEqual([]);
  });
});
