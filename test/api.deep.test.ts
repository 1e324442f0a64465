import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as library from '../src/index.js';
import { builtOnce, fugu } from './fugu.js';

const root = join(import.meta.dirname, '..');
const script = (word: string): string =>
  execFileSync(process.execPath, [join(root, 'scripts/api.mjs'), word], { encoding: 'utf8', maxBuffer: 2 ** 26 });
const examples = JSON.parse(script('--examples')) as readonly { readonly name: string; readonly example?: string }[];
const run = promisify(execFile);

/** Data of the examples. */
const table = (header: string, rows: number, row: (i: number) => string) =>
  `${header}\n${Array.from({ length: rows }, (_, i) => row(i)).join('\n')}\n`;
const files: Readonly<Record<string, string>> = {
  'survey.csv': table(
    'id,party,age,vote',
    400,
    (i) => `p${i},${['left', 'right', 'none'][i % 3]},${20 + (i % 60)},${['yes', 'no'][i % 2]}`,
  ),
  'policy.yaml': `data: { source: survey.csv }
protect: { secret: row, unit: id }
budget: { epsilon: 2 }
population: town
ledger: ledger.db
dependence: [{ kind: ties, relation: pair, column: party, oddsRatio: 2 }]
relations:
  pair: { table: ties.csv, columns: [a, b], domain: 400, symmetric: true, private: false }
columns:
  party: { type: category, values: [left, right, none] }
  age: { type: integer, bounds: [18, 90] }
  vote: { type: category, values: ["yes", "no"] }
`,
  'visits.csv': table('day', 12, (i) => `${1 + (i % 4)}`),
  'visits.yaml': `data: { source: visits.csv }
protect: { secret: row }
budget: { epsilon: 2 }
ledger: visits.db
dependence: none
columns: { day: { type: integer, bounds: [1, 365], public: true } }
`,
  'moves.csv': table('person,day,place', 12, (i) => `p${i % 3},${1 + Math.floor(i / 3)},${['home', 'away'][i % 2]}`),
  'moves.yaml': `data: { source: moves.csv }
protect: { secret: row }
budget: { epsilon: 4 }
ledger: moves.db
dependence: [{ kind: sequence, by: person, order: day, state: place, transition: forward.json }]
columns:
  day: { type: integer, bounds: [1, 365], public: true }
  place: { type: category, values: [home, away] }
`,
  'town.csv': table('id,city,income', 400, (i) => `p${i},${['Ulm', 'Bonn'][i % 2]},${1000 + i}`),
  'stays.csv': table('id,nights', 400, (i) => `p${i % 100},${i % 9}`),
  'town.yaml': `data: { source: town.csv }
protect: { secret: person, unit: id, maxRows: 1 }
budget: { epsilon: 2 }
ledger: town.db
dependence: none
columns: {}
tables:
  stays: { source: stays.csv, unit: id, maxRows: 4, columns: { nights: { type: integer, bounds: [0, 9] } } }
`,
  'place.json': '{"cells": [[0,0],[1,0],[0,1],[2,2]], "belief": [0.3,0.3,0.2,0.2]}',
  'ties.csv': 'a,b\np1,p2\n',
  'forward.json': '[[0.9, 0.1], [0.2, 0.8]]',
  'backward.json': '[[0.9, 0.1], [0.2, 0.8]]',
  'model.json': JSON.stringify({
    records: [
      { id: 'a', values: [0, 1] },
      { id: 'b', values: [0, 1] },
    ],
    factors: [
      {
        records: ['a', 'b'],
        table: [
          [2, 1],
          [1, 2],
        ],
      },
    ],
  }),
  'pairs.csv': table('mine,theirs', 300, (i) => `${i % 2 ? 'left' : 'right'},${i % 3 ? 'left' : 'right'}`),
  'places.csv': table('id,x,y', 6, (i) => `p${i},${i},${2 * i}`),
  'attributes.csv': table('id,age,club', 6, (i) => `p${i},${20 + i},${i % 2 ? 'chess' : 'golf'}`),
};

let folder: string;
beforeAll(async () => {
  builtOnce();
  folder = mkdtempSync(join(tmpdir(), 'fugu-api-'));
  const before = join(folder, 'before');
  cpSync(join(root, 'examples/household-survey'), before, { recursive: true, filter: (path) => !path.endsWith('.fugu') });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(before, name), text);
  const output = await fugu(
    { cwd: before },
    'release',
    'policy.yaml',
    '--query',
    '{"kind":"histogram","column":"party"}',
    '--epsilon',
    '0.5',
    '--out',
    'out',
  );
  expect(output.err).toBe('');
  const moves = await fugu(
    { cwd: before },
    'stream',
    'moves.yaml',
    '--every',
    'day',
    '--query',
    '{"kind":"histogram","column":"place"}',
    '--json',
  );
  expect(moves.err).toBe('');
  writeFileSync(join(before, 'moves.jsonl'), moves.out);
  expect((await fugu({ cwd: before }, 'ledger', 'policy.yaml', 'backup', 'ledger.backup')).err).toBe('');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the page about the library', () => {
  it('the page equals the sources (node scripts/api.mjs writes it)', () => {
    expect(readFileSync(join(root, 'docs/reference/api.md'), 'utf8') === script('--print')).toBe(true);
  });

  it('the page mentions only exported types', () => expect(JSON.parse(script('--unexported'))).toEqual([]));

  it('the page has an example for every function', () => {
    const functions = Object.entries(library).flatMap(([name, value]) =>
      typeof value === 'function' && name !== 'Fault' ? [name] : [],
    );
    expect(examples.map(({ name }) => name).sort()).toEqual(functions.sort());
    expect(examples.filter(({ example }) => !example)).toEqual([]);
  });

  it.each(examples)('the example of $name runs', async ({ name, example }) => {
    const cwd = join(folder, name);
    cpSync(join(folder, 'before'), cwd, { recursive: true });
    const names = Object.keys(library).join(', ');
    writeFileSync(
      join(cwd, 'example.mjs'),
      `import { ${names} } from ${JSON.stringify(join(root, 'dist/index.js'))};\n${example}\n`,
    );
    if (name === 'backupLedger') rmSync(join(cwd, 'ledger.backup'));
    const { stderr } = await run(process.execPath, ['example.mjs'], { cwd });
    expect(stderr).toBe('');
  });
});
