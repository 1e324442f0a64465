import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtOnce, type CommandResult, fugu, mainFile } from './fugu.js';
import { openLedger } from './inside.js';

/** A file that does not fit into a 64 MB engine, so that it is streamed and a release takes a moment. */
let folder: string;
const rows = 400_000;
const small = { FUGU_MEMORY: '64MB' };
const run = (...words: string[]): Promise<CommandResult> => fugu({ cwd: folder, env: small }, ...words);
const answers = async (...words: string[]) => {
  const result = await run(...words, '--json');
  expect(result, result.out.slice(0, 500)).toMatchObject({ code: 0, err: '' });
  return JSON.parse(result.out);
};

beforeAll(() => {
  builtOnce();
  folder = mkdtempSync(join(tmpdir(), 'fugu-crash-'));
  const file = openSync(join(folder, 'people.csv'), 'w');
  const block = Array.from(
    { length: 1000 },
    (_, i) => `p${i},${['dem', 'rep'][i % 2]},${20 + (i % 60)},${'x'.repeat(24)}\n`,
  ).join('');
  writeSync(file, 'id,party,age,note\n');
  for (let written = 0; written < rows; written += 1000) writeSync(file, block);
  closeSync(file);
  writeFileSync(
    join(folder, 'policy.yaml'),
    `data: { source: people.csv }
protect: { secret: row }
budget: { epsilon: 10 }
population: town
ledger: ledger.db
dependence: none
columns:
  party: { type: category, values: [dem, rep] }
  age: { type: integer, bounds: [17, 90] }
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const over = (age: number) =>
  JSON.stringify({ kind: 'histogram', column: 'party', where: [{ column: 'age', op: '>', value: age }] });

/** Kills a release with -9 right after its reservation is in the ledger; false when it was quicker. */
async function killedAfterBooking(query: string): Promise<boolean> {
  const ledger = await openLedger(join(folder, 'ledger.db'));
  const before = (await ledger.entries('town')).length;
  const child = spawn(process.execPath, [mainFile, 'release', 'policy.yaml', '--query', query, '--epsilon', '1'], {
    cwd: folder,
    env: { ...process.env, ...small },
    stdio: 'ignore',
  });
  const gone = new Promise<NodeJS.Signals | null>((done) => child.on('exit', (_code, signal) => done(signal)));
  while ((await ledger.entries('town')).length === before && child.exitCode === null) await sleep(3);
  child.kill('SIGKILL');
  const signal = await gone;
  await ledger.close();
  return signal === 'SIGKILL';
}

describe.sequential('a release that dies', () => {
  it('a release answers from a file far larger than its memory', async () => {
    const { tables } = await answers('release', 'policy.yaml', '--query', '{"kind": "count"}', '--epsilon', '1');
    expect(Math.abs(tables[0].rows[0].value - rows)).toBeLessThan(60);
  });

  it('a release killed by kill -9 keeps its reservation, the chain verifies, and the next process works', async () => {
    let age = 20;
    while (!(await killedAfterBooking(over(age))) && age < 26) age++;
    expect(age, 'every release was quicker than kill -9').toBeLessThan(26);
    const { entries, budget } = await answers('ledger', 'policy.yaml');
    const last = entries.at(-1);
    expect(last.settled).toBe(false);
    expect(budget.spent).toBeCloseTo(entries.length, 9);
    expect(await answers('ledger', 'policy.yaml', 'verify')).toMatchObject({ ok: true, entries: entries.length });
    const again = await answers('release', 'policy.yaml', '--query', over(age), '--epsilon', '1');
    // The same request completes it, under the entry that was paid for.
    expect(again.receipt.ledger).toMatchObject({ entry: last.sequence, replayed: false, resumed: true });
    expect((await answers('ledger', 'policy.yaml')).budget.spent).toBeCloseTo(entries.length, 9);
  });
});

describe.skipIf(process.platform === 'win32')('a release that is stopped', () => {
  /** Our temporary folders there are. */
  const left = () => readdirSync(folder).filter((name) => name.startsWith('fugu-engine-'));

  /** Sends a signal right after the reservation is in the ledger; undefined when the release was quicker. */
  async function stopped(signal: NodeJS.Signals, age: number, ...words: string[]) {
    const ledger = await openLedger(join(folder, 'ledger.db'));
    const before = (await ledger.entries('town')).length;
    const child = spawn(
      process.execPath,
      [mainFile, 'release', 'policy.yaml', '--query', over(age), '--epsilon', '0.01', ...words],
      { cwd: folder, env: { ...process.env, ...small, TMPDIR: folder }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => (err += data));
    const gone = new Promise<number | null>((done) => child.on('close', (code) => done(code)));
    while ((await ledger.entries('town')).length === before && child.exitCode === null) await sleep(3);
    child.kill(signal);
    const code = await gone;
    const last = (await ledger.entries('town')).at(-1)!;
    await ledger.close();
    return last.settled ? undefined : { code, out, err, entry: last.sequence };
  }

  it.each<[NodeJS.Signals, number, ...string[]]>([
    ['SIGINT', 130],
    ['SIGHUP', 129],
    ['SIGTERM', 143, '--json'],
  ])('a release stopped by %s reports the state of the budget, exits %i and leaves no folder', async (signal, exit, ...words) => {
    let result: Awaited<ReturnType<typeof stopped>>;
    for (let age = exit - 100; result === undefined && age < exit - 94; age++) result = await stopped(signal, age, ...words);
    expect(result, 'every release was quicker than the signal').toMatchObject({ code: exit });
    const { entry, err, out } = result!;
    expect(err).toMatch(new RegExp(`stopped by ${signal}[.]\\n  Spent without an answer: ledger entry ${entry}[.]`));
    const report = { stopped: signal, outcome: { state: 'spent', entry, resumable: true } };
    expect(out === '' ? undefined : JSON.parse(out)).toEqual(words.length > 0 ? report : undefined);
    expect(left()).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux')('a full disk (files may not grow beyond a limit)', () => {
  const limited = (kilobytes: number, ...words: string[]) =>
    fugu({ cwd: folder, env: small, shell: `ulimit -f ${kilobytes};` }, ...words, '--json');

  it('a full disk under the ledger releases and spends nothing, and the release works once there is room', async () => {
    writeFileSync(join(folder, 'full.csv'), 'id\n1\n2\n');
    writeFileSync(
      join(folder, 'full.yaml'),
      'data: { source: full.csv }\nprotect: { secret: row }\nbudget: { epsilon: 1 }\npopulation: full\nledger: full.db\ndependence: none\n',
    );
    const count = ['release', 'full.yaml', '--query', '{"kind": "count"}', '--epsilon', '0.5'] as const;
    const result = await limited(8, ...count);
    expect(result.code).toBe(5);
    const { error } = JSON.parse(result.out);
    expect(error.code).toMatch(/^DISK_/);
    expect(error.outcome).toEqual({ state: 'not spent' });
    expect((await answers(...count)).receipt.ledger.replayed).toBe(false);
    expect((await answers('ledger', 'full.yaml')).budget).toMatchObject({ spent: 0.5, remaining: 0.5 });
  });

  it('a full disk under the report does not lose the paid answer', async () => {
    const many = { queries: Array.from({ length: 40 }, (_, k) => JSON.parse(over(20 + k))) };
    const party = ['release', 'policy.yaml', '--query', JSON.stringify(many), '--epsilon', '1', '--out'] as const;
    // The first run makes room in the ledger for good; only the report is larger than the limit of the second.
    await answers(...party, 'enough');
    const limit = Math.floor(statSync(join(folder, 'enough', 'report.html')).size / 1024) - 1;
    expect(limit).toBeGreaterThan(statSync(join(folder, 'ledger.db')).size / 1024);
    const result = await limited(limit, ...party, 'report');
    expect(result.code).toBe(5);
    // A recorded answer: this time nothing was spent.
    expect(JSON.parse(result.out).error).toMatchObject({ code: 'DISK_FULL', outcome: { state: 'not spent' } });
    expect((await answers(...party, 'later')).receipt.ledger.replayed).toBe(true);
    expect(existsSync(join(folder, 'later', 'report.html'))).toBe(true);
  });
});
