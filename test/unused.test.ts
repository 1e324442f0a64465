import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const script = import(/* @vite-ignore */ join(import.meta.dirname, '..', 'scripts', 'unused.mjs'));
const manifest = {
  dependencies: { zod: '1' },
  devDependencies: { typescript: '1', vitest: '1' },
  scripts: { build: 'tsc -p .' },
  overrides: { rolldown: '1' },
};
/** A small project in which everything is needed. */
const tidy: Readonly<Record<string, string>> = {
  'src/index.ts': "export { make } from './make.js';",
  'src/make.ts':
    "import * as z from 'zod';\nimport type { Part } from './part.js';\nexport const make = (part: Part) => z.string(part);",
  'src/part.ts': 'export interface Part { readonly size: Size }\nexport type Size = number;',
  'src/make.test.ts':
    "import { it } from 'vitest';\nimport { make } from './make.js';\nimport { made } from '../test/made.js';\nit(make, made);",
  'test/made.ts': 'export const made = 1;',
};
const found = async (changes: Readonly<Record<string, string>>, terms = {}, options = {}): Promise<string[]> => {
  const { unused } = await script;
  const list: [string, string][] = unused(new Map(Object.entries({ ...tidy, ...changes })), { ...manifest, ...terms }, options);
  return list.map(([file, words]) => `${file}: ${words}`);
};

describe('the finder of unused code', () => {
  it('the finder is silent if everything is used', async () => {
    expect(await found({})).toEqual([]);
  });

  it.each([
    ['a file that nobody reaches', { 'src/lost.ts': 'export const lost = 1;' }, ['src/lost.ts: nobody reaches this file']],
    [
      'a file that only tests reach',
      {
        'src/old.ts': 'export const old = 1;',
        'src/old.test.ts': "import { it } from 'vitest';\nimport { old } from './old.js';\nit(old);",
      },
      ['src/old.ts: only tests reach this file'],
    ],
    [
      'an export without a taker',
      { 'test/made.ts': 'export const made = 1;\nexport const more = 2;' },
      ['test/made.ts: more is not used'],
    ],
    [
      'an export that is used at home only',
      { 'test/made.ts': 'export const base = 1;\nexport const made = base + 1;' },
      ['test/made.ts: base is exported and used here only'],
    ],
    [
      'a type without a taker',
      { 'src/part.ts': 'export interface Part { readonly size: number }\nexport type Size = number;' },
      ['src/part.ts: Size is not used'],
    ],
    [
      'a tool in the product',
      { 'src/part.ts': "import { it } from 'vitest';\nexport type Part = typeof it;" },
      ['src/part.ts: imports vitest, which is no dependency'],
    ],
    [
      'a package that is not declared',
      { 'test/made.ts': "import chalk from 'chalk';\nexport const made = chalk;" },
      ['test/made.ts: imports chalk, which is not declared'],
    ],
  ])('the finder reports %s', async (_what, changes, expected) => {
    expect(await found(changes)).toEqual(expected);
  });

  it('the finder reports a package that nobody imports', async () => {
    expect(await found({}, { dependencies: { zod: '1', yaml: '2' } })).toEqual(['package.json: yaml is declared and not used']);
  });

  it('the finder accepts modules taken as a whole, by name from a late import, by type, or started as a worker', async () => {
    const changes = {
      'src/index.ts':
        "export * from './make.js';\nexport const late = async () => { const { one } = await import('./late.js'); return one; };\nexport const place = new URL('./run.js', import.meta.url);\nexport type T = import('./typed.js').Typed;",
      'src/late.ts': 'export const one = 1;\nexport const two = 2;',
      'src/run.ts': 'export {};',
      'src/typed.ts': 'export type Typed = 1;',
    };
    expect(await found(changes)).toEqual(['src/late.ts: two is not used']);
  });

  it('the finder reports on request code that only tests use', async () => {
    const changes = {
      'src/make.ts': `${tidy['src/make.ts']}\nexport const taste = 1;`,
      'src/make.test.ts':
        "import { it } from 'vitest';\nimport { taste } from './make.js';\nimport { made } from '../test/made.js';\nit(taste, made);",
    };
    expect(await found(changes)).toEqual([]);
    expect(await found(changes, {}, { tests: true })).toEqual(['src/make.ts: only tests use taste']);
  });
});
