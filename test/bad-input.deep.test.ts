import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerEpsilonCommand as registerEpsilon } from '../src/app/cli/epsilon.js';
import { registerInitCommand as registerInit } from '../src/app/cli/init.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { runCommand } from './command.js';
import { builtOnce, fugu } from './fugu.js';
import { Fault } from './inside.js';

/** Values of the data that must never appear in a fault. */
const canaries = ['zanzibar7731', '918273645'];

let folder: string;
const write = (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text);

interface Parts {
  data: string;
  protect: string;
  budget: string;
  dependence: string;
  columns: string;
  extra: string;
}
const usual: Parts = {
  data: 'data: { source: people.csv }',
  protect: 'protect: { secret: row }',
  budget: 'budget: { epsilon: 1 }',
  dependence: 'dependence: none',
  columns: `columns:
  party: { type: category, values: [dem, rep, other] }
  age: { type: integer, bounds: [17, 90] }`,
  extra: '',
};
const policy = (change: Partial<Parts> = {}): string =>
  `population: town\nledger: ledger.db\n${Object.values({ ...usual, ...change }).join('\n')}\n`;

const people = `id,home,party,age,note,same,empty\n${Array.from(
  { length: 300 },
  (_, i) =>
    `p${i},h${i >> 1},${i === 7 ? canaries[0] : ['dem', 'rep', 'other'][i % 3]},${i === 9 ? canaries[1] : 20 + (i % 60)},${canaries[0]} ${i},1,`,
).join('\n')}\n`;

beforeAll(() => {
  builtOnce();
  folder = mkdtempSync(join(tmpdir(), 'fugu-bad-'));
  write('people.csv', people);
  write('policy.yaml', policy());
  process.chdir(folder);
});
afterAll(() => {
  process.chdir(tmpdir());
  rmSync(folder, { recursive: true, force: true });
});

interface Refused {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly [detail: string]: unknown;
}

let made = 0;
const register = { release: registerRelease, init: registerInit, epsilon: registerEpsilon } as const;
const isCommand = (word: string | undefined): word is keyof typeof register => word !== undefined && word in register;

/** Runs a command that must be refused, and checks the form of every refusal. In this process for speed; some in a process of their own. */
async function refused(exit: number, words: readonly string[], yaml?: string, own = false): Promise<Refused> {
  const file = yaml === undefined ? 'policy.yaml' : `policy-${++made}.yaml`;
  if (yaml !== undefined) write(file, yaml);
  const args = words.map((w) => w.replace('POLICY', file));
  const result = own ? await ownProcess(args) : await inside(args);
  expect(result.exit, result.text).toBe(exit);
  for (const canary of canaries) expect(result.text.toLowerCase()).not.toContain(canary);
  const { error } = JSON.parse(result.text) as { error: Refused };
  expect(error.message).toMatch(/\.$/);
  expect(error.hint.length).toBeGreaterThan(10);
  expect(`${error.message} ${error.hint}`).not.toMatch(/undefined|\[object|Error:|\bat \//);
  return error;
}

async function inside(words: readonly string[]): Promise<{ exit: number | null; text: string }> {
  const [command] = words;
  if (!isCommand(command)) throw new RangeError(`no command ${command}`);
  try {
    return { exit: 0, text: await runCommand(register[command], ...words) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { exit: error.exit, text: JSON.stringify(error) };
  }
}

async function ownProcess(words: readonly string[]): Promise<{ exit: number | null; text: string }> {
  const result = await fugu({ cwd: folder }, ...words, '--json');
  expect(result.err).toBe('');
  return { exit: result.code, text: result.out };
}
const count = ['release', 'POLICY', '--query', '{"kind": "count"}'];

/** No budget is spent: the ledger is missing, or has no entry. */
async function expectNothingSpent(): Promise<void> {
  if (!existsSync(join(folder, 'ledger.db'))) return;
  const { entries, budget } = JSON.parse((await fugu({ cwd: folder }, 'ledger', 'policy.yaml', '--json')).out);
  expect({ entries, spent: budget.spent }).toEqual({ entries: [], spent: 0 });
}

describe.sequential('bad input', () => {
  it.each<[string, Partial<Parts>, string]>([
    ['a missing data file', { data: 'data: { source: nowhere.csv }' }, 'DATA_NOT_FOUND'],
    ['a missing codebook', { data: 'data: { source: people.csv, codebook: nowhere.csv }' }, 'DATA_NOT_FOUND'],
    ['a file of an unknown kind', { data: 'data: { source: people.pdf }' }, 'DATA_NOT_FOUND'],
    ['a file of SAS', { data: 'data: { source: people.sas7bdat }' }, 'DATA_NOT_FOUND'],
    ['an old workbook', { data: 'data: { source: people.xls }' }, 'DATA_NOT_FOUND'],
    ['an unknown column', { columns: 'columns: { prty: { type: category, values: [a, b] } }' }, 'COLUMN_UNKNOWN'],
    ['an unknown group column', { dependence: 'dependence: [{ kind: groups, by: hme }]' }, 'COLUMN_UNKNOWN'],
    ['bounds reversed', { columns: 'columns: { age: { type: integer, bounds: [90, 17] } }' }, 'POLICY_INVALID'],
    ['silence about dependence', { dependence: '' }, 'POLICY_INVALID'],
    ['an odds ratio below one', { dependence: 'dependence: [{ kind: groups, by: home, oddsRatio: 0.5 }]' }, 'POLICY_INVALID'],
    ['epsilon 0', { budget: 'budget: { epsilon: 0 }' }, 'POLICY_INVALID'],
    ['epsilon below 0', { budget: 'budget: { epsilon: -1 }' }, 'POLICY_INVALID'],
    ['epsilon NaN', { budget: 'budget: { epsilon: .nan }' }, 'POLICY_INVALID'],
    ['epsilon 1e400', { budget: 'budget: { epsilon: 1e400 }' }, 'LIMIT_EXCEEDED'],
    ['epsilon in words', { budget: 'budget: { epsilon: little }' }, 'POLICY_INVALID'],
    ['delta 1', { budget: 'budget: { epsilon: 1, delta: 1 }' }, 'POLICY_INVALID'],
    ['a prior above the posterior', { budget: 'budget: { belief: { prior: 0.5, posterior: 0.2 } }' }, 'POLICY_INVALID'],
    ['a prior of 0', { budget: 'budget: { belief: { prior: 0, posterior: 0.2 } }' }, 'POLICY_INVALID'],
    ['a posterior of 1', { budget: 'budget: { belief: { prior: 0.1, posterior: 1 } }' }, 'POLICY_INVALID'],
    ['a person without a unit', { protect: 'protect: { secret: person }' }, 'POLICY_INVALID'],
    ['a misspelled key', { extra: 'popluation: x' }, 'POLICY_INVALID'],
    ['a broken line of YAML', { extra: 'data: [' }, 'POLICY_SYNTAX'],
    ['unconfirmed columns', { extra: 'unconfirmed: [age]' }, 'POLICY_UNCONFIRMED'],
  ])('a policy with %s gets a clear fault', async (title, change, code) => {
    const error = await refused(2, count, policy(change), /NaN|missing data|YAML/.test(title));
    expect(error.code).toBe(code);
  });

  it.each<[string, string, string | Buffer]>([
    ['a quote that never ends', 'quote.csv', `id,party\n1,"${canaries[0]}\n2,dem\n`],
    ['lines of different length', 'ragged.csv', `id,party\n1,dem\n2,dem,${canaries[0]},${canaries[1]}\n`],
    ['two columns of one name', 'twice.csv', `party,party\n${canaries[0]},dem\n`],
    ['no line at all', 'empty.csv', ''],
    ['something else in a parquet file', 'not.parquet', `PAR1 ${canaries[0]}`],
    ['something else in a database', 'not.duckdb', `${canaries[0]}`.repeat(400)],
    ['half a packed file', 'half.csv.gz', gzipSync(Buffer.from(people.repeat(20))).subarray(0, 2000)],
    ['zero bytes', 'zeros.csv', Buffer.concat([Buffer.from(`id,party\n1,${canaries[0]}\n`), Buffer.alloc(3000)])],
  ])('data with %s gets a clear fault', async (_title, file, content) => {
    write(file, content);
    const error = await refused(2, count, policy({ data: `data: { source: ${file} }`, columns: '' }), file === 'ragged.csv');
    expect(['DATA_MALFORMED', 'DATA_NOT_FOUND']).toContain(error.code);
    await refused(2, ['init', file, '--out', `${file}.yaml`]);
    expect(existsSync(join(folder, `${file}.yaml`))).toBe(false);
  });

  it.each<[string, string[], string]>([
    ['an unknown column', ['--query', '{"kind": "mean", "column": "aeg"}'], 'COLUMN_UNKNOWN'],
    ['a column that is there but not declared', ['--query', '{"kind": "histogram", "column": "note"}'], 'COLUMN_UNKNOWN'],
    [
      'a category that is not declared',
      ['--query', '{"kind": "share", "column": "party", "values": ["green"]}'],
      'VALUE_UNKNOWN',
    ],
    ['an unknown kind', ['--query', '{"kind": "guess"}'], 'QUERY_INVALID'],
    ['no JSON', ['--query', '{kind: count}'], 'QUERY_INVALID'],
    ['a file that is not there', ['--query', '@nowhere.json'], 'DATA_NOT_FOUND'],
    ['SQL that shows rows', ['--sql', 'SELECT * FROM people'], 'QUERY_UNSUPPORTED'],
    ['SQL that changes data', ['--sql', 'DELETE FROM people'], 'QUERY_UNSUPPORTED'],
    ['SQL without sense', ['--sql', 'SELEC party'], 'QUERY_INVALID'],
    ['epsilon 0', ['--query', '{"kind": "count"}', '--epsilon', '0'], 'BUDGET_INVALID'],
    ['epsilon below 0', ['--query', '{"kind": "count"}', '--epsilon=-1'], 'BUDGET_INVALID'],
    ['epsilon NaN', ['--query', '{"kind": "count"}', '--epsilon', 'NaN'], 'BUDGET_INVALID'],
    ['epsilon 1e400', ['--query', '{"kind": "count"}', '--epsilon', '1e400'], 'LIMIT_EXCEEDED'],
    ['more clusters than people', ['--kmeans', '{"columns": ["age"], "clusters": 301}'], 'QUERY_INVALID'],
    ['clusters of no column', ['--kmeans', '{"columns": [], "clusters": 2}'], 'QUERY_INVALID'],
    ['a pattern where rows are the secret', ['--pattern', 'q(x) :- friend(x, y)'], 'QUERY_UNSUPPORTED'],
  ])('a question with %s gets a clear fault', async (_title, words, code) => {
    expect((await refused(2, ['release', 'POLICY', ...words])).code).toBe(code);
  });

  it.each<[string, string, string]>([
    ['a variable that no relation binds', 'q(w) :- friend(x, y)', 'PATTERN_UNSAFE'],
    ['a relation of other width', 'q(x) :- friend(x, y, z)', 'PATTERN_ARITY'],
    ['an unknown relation', 'q(x) :- freind(x, y)', 'RELATION_UNKNOWN'],
    ['a condition that never holds', 'q(x) :- friend(x, y), x != x', 'PATTERN_UNSATISFIABLE'],
    ['a missing bracket', 'q(x :- friend(x, y)', 'PATTERN_SYNTAX'],
  ])('a pattern with %s gets a clear fault', async (_title, pattern, code) => {
    write('friends.csv', 'a,b\n1,2\n2,3\n');
    const relations = 'relations: { friend: { table: friends.csv, columns: [a, b], domain: 100 } }';
    const yaml = policy({ protect: 'protect: { secret: edge }', extra: relations });
    expect((await refused(2, ['release', 'POLICY', '--pattern', pattern], yaml)).code).toBe(code);
  });

  it('the fault of epsilon from belief names an alternative that works', async () => {
    for (const [prior, posterior] of [
      ['0.5', '0.5'],
      ['0', '0.3'],
      ['0.1', '1'],
      ['NaN', '0.3'],
    ] as const)
      await refused(2, ['epsilon', '--prior', prior, '--posterior', posterior]);
    const mean = '{"kind": "mean", "column": "age"}';
    const error = await refused(2, ['epsilon', 'POLICY', '--query', mean, '--rows', '100', '--error', '1e-30']);
    expect(`${error.message} ${error.hint}`).toMatch(/only reaches \d/);
  });

  it('all of these faults spend nothing', expectNothingSpent);
});

describe('data that disagrees with the policy', () => {
  it('an undeclared code is a missing answer, a number out of bounds is clamped, and neither is shown', async () => {
    write('handled.yaml', policy().replace('town', 'handled'));
    const result = await fugu({ cwd: folder }, 'release', 'handled.yaml', '--survey', '--out', 'handled', '--json');
    expect(result).toMatchObject({ code: 0, err: '' });
    for (const canary of canaries) expect(result.out).not.toContain(canary);
    const [party, age] = JSON.parse(result.out).tables;
    expect(party.rows.map((r: { keys: string[] }) => r.keys[0])).toEqual(['dem', 'rep', 'other', '(missing)']);
    expect(age.rows).toHaveLength(9);
    expect(age.rows[7].keys).toEqual(['87 to 90']);
  });

  it('columns with one value, none, or thousands are released or left out, never an error', async () => {
    write('odd.csv', `one,none,many,party\n${Array.from({ length: 12_000 }, (_, i) => `1,,${i},${i % 2}`).join('\n')}\n`);
    const drafted = JSON.parse((await fugu({ cwd: folder }, 'init', 'odd.csv', '--out', 'odd.yaml', '--json')).out);
    expect(drafted.leftOut.map((c: { name: string }) => c.name)).toEqual(expect.arrayContaining(['one', 'none']));
    write(
      'odd-written.yaml',
      `data: { source: odd.csv }
protect: { secret: row }
budget: { epsilon: 1 }
dependence: none
columns:
  one: { type: category, values: [1] }
  none: { type: category, values: [a, b] }
  many: { type: category, values: [${Array.from({ length: 10_000 }, (_, i) => i).join(', ')}] }
`,
    );
    const result = await fugu({ cwd: folder }, 'release', 'odd-written.yaml', '--survey', '--json');
    expect(result).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(result.out).tables.map((t: { rows: unknown[] }) => t.rows.length)).toEqual([2, 3, 10_001]);
  });
});

describe('a budget that does not suffice', () => {
  it('the refusal reports the requested, spent and remaining amounts, and exits 3', async () => {
    const yaml = policy().replace('town', 'spenders');
    write('spend.yaml', yaml);
    const first = await fugu(
      { cwd: folder },
      'release',
      'spend.yaml',
      '--query',
      '{"kind": "count"}',
      '--epsilon',
      '0.75',
      '--json',
    );
    expect(first.code).toBe(0);
    const ask = ['release', 'POLICY', '--query', '{"kind": "histogram", "column": "party"}'];
    const error = await refused(3, [...ask, '--epsilon', '0.5'], yaml, true);
    expect(error).toMatchObject({ code: 'BUDGET_EXCEEDED', asked: 0.5, spent: 0.75, remaining: 0.25 });
    expect(error.message).toMatch(/requested 0\.5.*spent 0\.75.*remaining 0\.25/);
    await refused(2, ask, yaml.replace('epsilon: 1', 'epsilon: 9')).then((e) => expect(e.code).toBe('LEDGER_MISMATCH'));
    const { budget } = JSON.parse((await fugu({ cwd: folder }, 'ledger', 'spend.yaml', '--json')).out);
    expect(budget).toMatchObject({ spent: 0.75, remaining: 0.25 });
  });
});

describe('an output place that cannot be written', () => {
  it('the place is reported before anything is spent, and after a release the message explains how to get the answer', async () => {
    mkdirSync(join(folder, 'closed'));
    chmodSync(join(folder, 'closed'), 0o555);
    // The superuser writes into closed folders; a file in place of a folder stops everybody.
    write('file', '');
    const yaml = policy().replace('ledger.db', 'file/ledger.db');
    const ledger = await refused(5, count, yaml, true);
    expect(ledger.code).toBe('READ_ONLY');
    const out = await refused(5, [...count, '--out', 'file/report'], policy().replace('town', 'writers'));
    expect(out.hint).toMatch(/another --out/);
  });
});
