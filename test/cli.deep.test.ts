import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from './command.js';
import { builtOnce, type CommandResult, fugu } from './fugu.js';
import { registerOf } from './register-of.js';

/** Each command once as JSON in a process of its own, and once for people, on one folder. */
let folder: string;
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const run = (...words: string[]): Promise<CommandResult> => fugu({ cwd: folder }, ...words);

const people = (rows: number) =>
  `id,home,party,age,income\n${Array.from({ length: rows }, (_, i) => `p${i},h${Math.floor(i / 3)},${['dem', 'rep', 'other'][i % 3]},${20 + (i % 60)},${(i * 37) % 100}`).join('\n')}\n`;
const policy = (more = '') => `data: { source: people.csv }
protect: { secret: row }
budget: { epsilon: 8 }
population: town
ledger: ledger.db
dependence:
  - { kind: groups, by: home, oddsRatio: 4 }
columns:
  party: { type: category, values: { dem: Democrat, rep: Republican, other: Other } }
  age: { type: integer, bounds: [17, 90] }
  Income: { type: integer, bounds: [0, 100] }
${more}`;

beforeAll(() => {
  builtOnce();
  folder = mkdtempSync(join(tmpdir(), 'fugu-cli-'));
  write('people.csv', people(900).replace('income', 'Income'));
  write('policy.yaml', policy());
  write('friends.csv', `a,b\n${Array.from({ length: 300 }, (_, i) => `${i % 40},${(i * 7 + 1) % 40}`).join('\n')}\n`);
  write(
    'ties.yaml',
    `data: { source: people.csv }
protect: { secret: edge }
budget: { epsilon: 4 }
population: friends
ledger: ledger.db
dependence: none
relations:
  Friend: { table: friends.csv, columns: [a, b], domain: 200, symmetric: true }
`,
  );
  write('asia.bif', bif);
  process.chdir(folder);
});
afterAll(() => {
  process.chdir(tmpdir());
  rmSync(folder, { recursive: true, force: true });
});

const bif = `network tiny {
}
variable smoke { type discrete [ 2 ] { yes, no }; }
variable lung { type discrete [ 2 ] { yes, no }; }
probability ( smoke ) { table 0.5, 0.5; }
probability ( lung | smoke ) { (yes) 0.2, 0.8; (no) 0.05, 0.95; }
`;
const household = fileURLToPath(new URL('../examples/models/household.json', import.meta.url));

/** Output for people holds no leftovers of a program. */
function expectWords(text: string): void {
  expect(text.trim()).not.toBe('');
  expect(text).not.toMatch(/undefined|NaN|\[object |^\s+at .*:\d+:\d+/m);
}

describe('every command, for people and for programs', () => {
  it.each<[string, string[]]>([
    ['init', ['init', 'people.csv', '--out', 'OUT.yaml']],
    ['confirm', ['confirm', 'policy.yaml', '--all']],
    ['check', ['check', 'policy.yaml']],
    ['plan', ['plan', 'policy.yaml', '--query', '{"kind": "mean", "column": "age", "by": ["party"]}']],
    ['plan of a survey', ['plan', 'policy.yaml', '--survey', '--epsilon', '0.5']],
    ['release by query', ['release', 'policy.yaml', '--query', '{"kind": "histogram", "column": "party"}', '--out', 'OUT']],
    ['release by SQL', ['release', 'policy.yaml', '--sql', 'SELECT party, COUNT(*) FROM people WHERE age > 30 GROUP BY party']],
    ['release of a survey', ['release', 'policy.yaml', '--survey', '--epsilon', '1', '--tidy']],
    ['release of clusters', ['release', 'policy.yaml', '--kmeans', '{"columns": ["age", "Income"], "clusters": 2}']],
    [
      'release of a classifier',
      ['release', 'policy.yaml', '--classify', '{"label": "party", "positive": ["dem"], "features": ["age"]}'],
    ],
    ['release of a pattern', ['release', 'ties.yaml', '--pattern', 'triangles', '--epsilon', '0.5', '--out', 'OUT']],
    ['release of a join', ['release', 'ties.yaml', '--sql', 'SELECT COUNT(*) FROM Friend f JOIN Friend g ON f.B = g.a']],
    ['attack', ['attack', 'policy.yaml', '--release', 'release-by-query-json', '--out', 'OUT.html']],
    ['ledger', ['ledger', 'policy.yaml']],
    ['ledger verify', ['ledger', 'policy.yaml', 'verify']],
    ['epsilon from belief', ['epsilon', '--prior', '0.1', '--posterior', '0.3']],
    ['epsilon from an error', ['epsilon', 'policy.yaml', '--query', '{"kind": "count"}', '--error', '20']],
    ['learn', ['learn', 'columns', 'policy.yaml', '--out', 'OUT.json']],
    ['posterior', ['posterior', '--universe', '1,2,3', '--known', '1,1', '--answer', '4', '--scale', '1']],
    ['posterior on a model', ['posterior', household, '--about', 'ann', '--answer', '3', '--scale', '1']],
    ['leak', ['leak', household, '--base', '0.1']],
    ['leak of a Bayesian network', ['leak', 'asia.bif', '--epsilon', '1']],
    ['audit', ['audit', household, '--query', 'sum', '--scale', '2']],
    ['compare', ['compare', 'asia.bif', '--query', 'sum', '--epsilon', '1']],
    ['pattern', ['pattern', 'triangles', '--domain', '100', '--epsilon', '1', '--symmetric']],
  ])('the command %s answers people and programs', async (title, words) => {
    const named = (kind: string) => words.map((w) => w.replace('OUT', `${title.replaceAll(' ', '-')}-${kind}`));
    const json = await run(...named('json'), '--json');
    expect(json).toMatchObject({ code: 0, err: '' });
    expect(typeof JSON.parse(json.out)).toBe('object');
    expect(json.out).not.toMatch(/: (NaN|Infinity|undefined)\b/);
    expectWords(await runCommand(await registerOf(words[0]!), ...named('human')));
  });

  it('the program prints its version, and a way to continue if no command is given', async () => {
    expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out.indexOf('demo')).toBeLessThan(out.indexOf('audit'));
  });

  it('a release writes tables, a receipt and a report that needs no other file', async () => {
    const { code } = await run('release', 'policy.yaml', '--query', '{"kind": "histogram", "column": "party"}', '--out', 'files');
    expect(code).toBe(0);
    for (const file of ['party.csv', 'receipt.json', 'report.html']) expect(existsSync(join(folder, 'files', file))).toBe(true);
    expect(readFileSync(join(folder, 'files', 'report.html'), 'utf8')).not.toMatch(/(src|href)="?https?:/);
    expect(readFileSync(join(folder, 'files', 'party.csv'), 'utf8')).toMatch(
      /^party,count,standard_error,low,high,percent,percent_low,percent_high,party_label\ndem,-?\d+,/,
    );
  });

  it('the same question again gets the recorded answer', async () => {
    const ask = ['release', 'policy.yaml', '--query', '{"kind": "count"}', '--epsilon', '0.25', '--json'] as const;
    const [first, again] = [await run(...ask), await run(...ask)].map((s) => JSON.parse(s.out));
    expect(again.tables).toEqual(first.tables);
    expect([first.receipt.ledger.replayed, again.receipt.ledger.replayed]).toEqual([false, true]);
  });

  it('a column in SQL is found in any case of its letters, as in SQL', async () => {
    const plan = JSON.parse((await run('plan', 'policy.yaml', '--sql', 'SELECT AVG(Income) FROM people', '--json')).out);
    expect(plan.measures.length).toBeGreaterThan(0);
  });

  it('the demo runs', async () => {
    const { code, out, err } = await run('demo', '--out', 'demo', '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(readFileSync(JSON.parse(out).page, 'utf8')).toMatch(
      /up to<\/small> 51 %[\s\S]*up to<\/small> 24 %[\s\S]*no party, no trust/,
    );
  });
});

describe('a mistake at the command line', () => {
  it.each<[string, string[], RegExp]>([
    ['an unknown command', ['relase'], /Unknown command 'relase'[\s\S]*Did you mean release\?/],
    ['an unknown option', ['release', 'policy.yaml', '--surve'], /Unknown option '--surve'[\s\S]*--survey/],
    ['no policy', ['release'], /Missing required argument 'policy'[\s\S]*fugu release --help/],
    ['no question', ['release', 'policy.yaml'], /exactly one way[\s\S]*--query/],
    ['two questions', ['release', 'policy.yaml', '--survey', '--query', '{}'], /exactly one way/],
    ['an argument too many', ['check', 'policy.yaml', 'more'], /[Tt]oo many arguments/],
  ])('the mistake %s is explained in words, with a way to continue', async (_title, words, expected) => {
    const { code, err, out } = await run(...words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(expected);
    expect(err).toMatch(/\[USAGE\]\n( {2}Nothing was spent[.]\n)?$/);
    expectWords(err);
  });

  it('a mistake is one JSON document for programs', async () => {
    const { code, err, out } = await run('relase', '--json');
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(JSON.parse(out).error).toMatchObject({ code: 'USAGE', hint: expect.stringMatching(/release/) });
  });

  /** Nobody reads the output: the pipe is closed before the command starts. */
  const unread = (...words: string[]) => fugu({ cwd: folder, shell: 'exec > >(true); sleep 0.2;' }, ...words);

  it('a reader that closes its pipe early is no mistake unless it loses a paid answer', async () => {
    const count = ['--query', '{"kind": "count"}', '--epsilon', '0.125', '--json'];
    expect(await unread('plan', 'policy.yaml', ...count)).toMatchObject({ code: 0, err: '' });
    const { code, err } = await unread('release', 'policy.yaml', ...count);
    expect(code).toBe(7);
    expect(err).toMatch(/closed it[\s\S]*\n {2}Spent and recorded: ledger entry \d+[.] Ask the same again/);
    // A recorded answer costs nothing.
    expect(await unread('release', 'policy.yaml', ...count)).toMatchObject({ code: 0, err: '' });
  });

  it('a paid answer that cannot be delivered exits 7, with a message that it is recorded', async () => {
    // The folder can be written to when it is looked at, and no more once the answer is there.
    write(
      'full-later.mjs',
      `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { renameSync } = fs;
fs.renameSync = (from, to) => {
  if (String(to).endsWith('count.csv')) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
  renameSync(from, to);
};
syncBuiltinESMExports();
`,
    );
    const ask = ['release', 'policy.yaml', '--query', '{"kind": "count"}', '--epsilon', '0.375', '--out', 'taken'];
    const failing = { cwd: folder, env: { NODE_OPTIONS: `--import ${pathToFileURL(join(folder, 'full-later.mjs'))}` } };
    const { code, out } = await fugu(failing, ...ask, '--json');
    expect(code).toBe(7);
    const { error } = JSON.parse(out);
    expect(error).toMatchObject({ outcome: { state: 'recorded', entry: expect.any(Number) } });
    const again = await run(...ask.slice(0, -2), '--json');
    expect(JSON.parse(again.out).receipt.ledger).toMatchObject({ entry: error.outcome.entry, replayed: true });
  });

  it('an output folder that cannot be written is refused before anything is spent', async () => {
    const ask = ['release', 'policy.yaml', '--query', '{"kind": "count"}', '--epsilon', '0.385', '--out', 'people.csv/x'];
    const refused = await run(...ask);
    expect(refused).toMatchObject({ code: 5, out: '' });
    expect(refused.err).toMatch(/\[READ_ONLY\]\n {2}Nothing was spent[.]\n$/);
  });

  it('a message about unknown arguments of a spending command states that nothing was spent', async () => {
    const twice = ['--query', '{"kind": "count"}', '--query', '{"kind": "count"}'];
    for (const words of [
      ['release', 'policy.yaml', ...twice],
      ['release', 'policy.yaml', '--nope'],
      ['stream'],
      ['learn', 'columns'],
    ]) {
      const { code, err } = await run(...words);
      expect([words, code, err]).toEqual([words, 2, expect.stringMatching(/\[USAGE\]\n {2}Nothing was spent[.]\n$/)]);
    }
    const { out } = await run('release', 'policy.yaml', ...twice, '--json');
    expect(JSON.parse(out).error.outcome).toEqual({ state: 'not spent' });
    expect((await run('check', '--nope')).err).not.toContain('spent');
  });

  it('a paid request without an answer exits 6, with a message that it is charged again or completed', async () => {
    write(
      'few.yaml',
      readFileSync(join(folder, 'ties.yaml'), 'utf8').replace('domain: 200', 'domain: 20').replace('friends\n', 'few\n'),
    );
    const { code, err } = await run('release', 'few.yaml', '--pattern', 'triangles', '--epsilon', '1');
    expect(code).toBe(6);
    expect(err).toMatch(
      /\[ENGINE_FAILED\]\n {2}Spent without an answer: ledger entry \d+[.] The same question would be paid for again[.]\n$/,
    );
    const { out } = await run('release', 'few.yaml', '--pattern', 'triangles', '--epsilon', '1', '--json');
    expect(JSON.parse(out).error.outcome).toMatchObject({ state: 'spent', resumable: false });
  });

  it('a mistake before anything is reserved states that nothing was spent if the command spends, and not if it plans', async () => {
    const refused = await run('release', 'policy.yaml', '--query', '{"kind": "histogram", "column": "none"}');
    expect(refused.err).toMatch(/\n {2}Nothing was spent[.]\n$/);
    const planned = await run('plan', 'policy.yaml', '--query', '{"kind": "histogram", "column": "none"}');
    expect(planned.err).not.toMatch(/spent/);
    expect((await run('--help')).out).toMatch(/6 {2}spent without an answer/);
  });

  it.skipIf(!existsSync('/dev/full'))('a full output place is reported', async () => {
    const { code, err } = await fugu({ cwd: folder, shell: 'exec > /dev/full;' }, 'epsilon', '--epsilon', '1');
    expect(code).toBe(5);
    expect(err).toMatch(/could not be written[\s\S]*\[DISK_FULL\]/);
  });
});
