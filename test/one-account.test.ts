import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { releasePattern } from '../src/analysis/pattern/release.js';
import { registerCheckCommand as registerCheck } from '../src/app/cli/check.js';
import { accountWarnings } from '../src/policy/population.js';
import { amendTo } from './amended.js';
import { runCommand } from './command.js';
import { createSession, openEngine, openLedger, type PrivacySession, readPolicy } from './inside.js';

/** However data and policy are reached, one file of data has one account. */
let folder: string;
const at = (...parts: string[]) => join(folder, ...parts);
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'fugu-account-')));
  mkdirSync(at('data'));
  mkdirSync(at('here'));
  mkdirSync(at('there'));
  writeFileSync(at('data', 'people.csv'), `id,party\n${Array.from({ length: 40 }, (_, i) => `${i},dem`).join('\n')}\n`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const terms =
  'protect: { secret: row }\nbudget: { epsilon: 1 }\ndependence: none\ncolumns: { party: { type: category, values: [dem, rep] } }\n';
const policy = (path: string, data: string, more = ''): string => {
  writeFileSync(at(path), `data: { ${data} }\n${more}${terms}`);
  return at(path);
};

async function open<T>(file: string, work: (session: PrivacySession) => Promise<T>): Promise<T> {
  const read = await readPolicy(file);
  const engine = await openEngine(read);
  const ledger = await openLedger(read.ledger);
  try {
    return await work(await createSession({ policy: read, engine, ledger }));
  } finally {
    await ledger.close();
    await engine.close();
  }
}
const spend = (file: string, epsilon: string, kind = 'count') => open(file, (s) => s.release({ kind }, { epsilon }));
const spentBy = (file: string) => open(file, async (s) => (await s.plan({ kind: 'count' })).budget.spent);

/** Spending under one policy counts for the other, and the budget ends for both together. */
async function expectOneAccount(files: readonly string[]): Promise<void> {
  const [first, ...others] = files as [string, ...string[]];
  await spend(first, '0.75');
  for (const other of others) {
    expect(await spentBy(other), other).toBe(0.75);
    await expect(spend(other, '0.5', 'count'), other).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
  }
}

describe('one account for one data set', () => {
  it('a table under any of its names, and a view of it, have one account', async () => {
    const database = await DuckDBInstance.create(at('data', 'town.duckdb'));
    const connection = await database.connect();
    await connection.run(`CREATE TABLE t AS SELECT * FROM read_csv('${at('data', 'people.csv')}', all_varchar=true)`);
    connection.closeSync();
    database.closeSync();
    const names = [
      policy('here/none.yaml', 'source: ../data/town.duckdb'),
      policy('here/short.yaml', 'source: ../data/town.duckdb, table: t'),
      policy('here/full.yaml', 'source: ../data/town.duckdb, table: main.t'),
    ];
    await expectOneAccount(names);
    const again = await DuckDBInstance.create(at('data', 'town.duckdb'));
    const writer = await again.connect();
    await writer.run('CREATE VIEW v AS SELECT * FROM t');
    writer.closeSync();
    again.closeSync();
    const view = policy('here/view.yaml', 'source: ../data/town.duckdb, table: v');
    expect(await spentBy(view)).toBe(0.75);
  });

  it('a policy that is a link, and one in a folder that is a link, have one account with a relative ledger', async () => {
    const real = policy('here/policy.yaml', 'source: ../data/people.csv', 'ledger: ledger.db\n');
    symlinkSync(real, at('there', 'policy.yaml'));
    symlinkSync(at('here'), at('linked'));
    // The data would be found from the link's folder, too; the ledger must not be looked up there.
    await expectOneAccount([at('there', 'policy.yaml'), real, at('linked', 'policy.yaml')]);
    expect(existsSync(at('there', 'ledger.db'))).toBe(false);
  });

  it('data, folders and ledgers that are links have one account, even before the ledger exists', async () => {
    symlinkSync(at('data', 'people.csv'), at('here', 'link.csv'));
    symlinkSync(at('data'), at('there', 'folder'));
    symlinkSync(at('data', 'books.db'), at('here', 'ledger.db'));
    await expectOneAccount([
      policy('here/a.yaml', 'source: link.csv', 'ledger: ledger.db\n'),
      policy('there/b.yaml', 'source: folder/people.csv', 'ledger: ../data/books.db\n'),
    ]);
    expect(readdirSync(at('here')).filter((f) => f.startsWith('ledger'))).toEqual(['ledger.db']);
  });

  it('one named population has one account over two folders, and over two Unicode spellings', async () => {
    await expectOneAccount([
      policy('here/a.yaml', 'source: ../data/people.csv', 'population: "caf\u00e9"\n'),
      policy('there/b.yaml', 'source: ../data/people.csv', 'population: "cafe\u0301"\n'),
    ]);
  });

  it('real files decide about the account, never spellings', async () => {
    symlinkSync(at('data'), at('here', 'd'));
    symlinkSync(at('data', 'people.csv'), at('there', 'p.csv'));
    symlinkSync(at('here'), at('there', 'h'));
    const noise = fc.array(fc.constantFrom('.', 'x/..', 'nowhere/../y/..', './.'), { maxLength: 3 });
    const source = fc
      .tuple(noise, fc.constantFrom('data/people.csv', 'here/d/people.csv', 'there/p.csv', 'there/h/d/people.csv'))
      .map(([more, path]) => [folder, ...more, path].join('/'));
    const place = fc.constantFrom('here', 'there', 'there/h', 'data', 'here/d');
    const identity = async (of: (data: string, policyFile: string) => Promise<readonly string[]>) => {
      const seen = new Set<string>();
      await fc.assert(
        fc.asyncProperty(source, place, async (data, where) => {
          seen.add((await of(data, at(where, 'policy.yaml'))).join(' in '));
        }),
        { numRuns: 60, seed: 7 },
      );
      return seen;
    };
    const accountOf = async (file: string) => {
      const { population, ledger } = await readPolicy(file);
      return [population, ledger];
    };
    const ours = await identity((data, file) => {
      writeFileSync(file, `data: { source: "${data}" }\n${terms}`);
      return accountOf(file);
    });
    expect([...ours]).toEqual([`data:${at('data/people.csv')} in ${at('data/.fugu/ledger.db')}`]);
    // One policy with a relative ledger, reached by several ways.
    symlinkSync(at('here/policy.yaml'), at('there/linked.yaml'));
    const ways = ['here/policy.yaml', 'there/linked.yaml', 'there/h/policy.yaml', 'here/../there/h/./policy.yaml'];
    const reached = await identity(async (data) => {
      policy('here/policy.yaml', `source: "${data}"`, 'ledger: ledger.db\n');
      const [first, ...others] = await Promise.all(ways.map((way) => accountOf(`${folder}/${way}`)));
      for (const other of others) expect(other).toEqual(first);
      return first!;
    });
    expect([...reached]).toEqual([`data:${at('data/people.csv')} in ${at('here/ledger.db')}`]);
    // The test can see an alias: by resolved words instead of real files there are several accounts.
    const byWords = await identity(async (data) => [resolve(data), dirname(resolve(data))]);
    expect(byWords.size).toBeGreaterThan(1);
  });

  it('the account is not lost when the data is moved or renamed: no empty one is opened', async () => {
    const file = policy('here/policy.yaml', 'source: ../data/people.csv');
    await spend(file, '0.75');
    renameSync(at('data'), at('moved'));
    const moved = policy('here/policy.yaml', 'source: ../moved/people.csv');
    await expect(spend(moved, '0.5')).rejects.toMatchObject({
      code: 'LEDGER_MISMATCH',
      hint: expect.stringContaining(`population: "data:${at('data/people.csv')}"`),
    });
    const going = policy('here/going.yaml', 'source: ../moved/people.csv', `population: "data:${at('data/people.csv')}"\n`);
    expect(await spentBy(going)).toBe(0.75);
    // The name distinguishes other people in the same folder.
    copyFileSync(at('moved/people.csv'), at('moved/others.csv'));
    await spend(policy('here/others.yaml', 'source: ../moved/others.csv', 'population: others\n'), '0.5');
  });

  it('the account is not lost when a link is left in place of the data, or of its folder', async () => {
    const file = policy('here/policy.yaml', 'source: ../data/people.csv');
    await spend(file, '0.75');
    renameSync(at('data/people.csv'), at('data/v2.csv'));
    symlinkSync('v2.csv', at('data/people.csv'));
    await expect(spend(file, '0.5')).rejects.toMatchObject({
      code: 'LEDGER_MISMATCH',
      // To be copied as it stands: no quotes around quotes.
      hint: expect.stringMatching(/[^"]population: "data:[^"]+people\.csv" into/),
    });
    rmSync(at('data/people.csv'));
    renameSync(at('data/v2.csv'), at('data/people.csv'));
    renameSync(at('data'), at('moved'));
    symlinkSync(at('moved'), at('data'));
    await expect(spend(file, '0.5')).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' });
    rmSync(at('data'));
    renameSync(at('moved'), at('data'));
    expect(await spentBy(file)).toBe(0.75);
  });

  it('a population has one account, written in the policy or taken from the file', async () => {
    renameSync(at('data/people.csv'), at('data/cafe\u0301.csv'));
    const left = policy('here/left.yaml', 'source: "../data/cafe\u0301.csv"');
    const { population } = await readPolicy(left);
    await expectOneAccount([
      left,
      policy('here/written.yaml', 'source: "../data/cafe\u0301.csv"', `population: "${population}"\n`),
    ]);
    // The file exists under another form of the same letters: no other account is blocked by it.
    writeFileSync(at('data/others.csv'), 'id,party\n1,dem\n');
    await spend(policy('here/others.yaml', 'source: ../data/others.csv'), '0.5');
  });

  it('a second name of the ledger does not split the account, which would hide the latest entries', async () => {
    const file = policy('here/policy.yaml', 'source: ../data/people.csv', 'ledger: ledger.db\n');
    await spend(file, '0.5');
    linkSync(at('here/ledger.db'), at('there/ledger.db'));
    await expect(spend(file, '0.1')).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' });
    rmSync(at('there/ledger.db'));
    await spend(file, '0.1');
  });
});

describe('one account for ties', () => {
  const friend = 'friend: { table: ../data/friend.csv, columns: [a, b], domain: 50, symmetric: true }';
  const work = friend.replaceAll('friend', 'work');
  const ties = (
    path: string,
    relations: readonly string[],
    more: { source?: string; protect?: string; extra?: string } = {},
  ): string => {
    writeFileSync(
      at(path),
      [
        `data: { source: ${more.source ?? '../data/people.csv'} }`,
        `protect: ${more.protect ?? '{ secret: edge }'}`,
        'budget: { epsilon: 1 }\ndependence: none\ncolumns: { party: { type: category, values: [dem, rep] } }\nrelations:',
        ...relations.map((r) => `  ${r}`),
        more.extra ?? '',
      ].join('\n'),
    );
    return at(path);
  };
  const count = (file: string, epsilon: string, relation = 'friend') =>
    open(file, (s) => releasePattern(s, `edges of ${relation}`, { epsilon, fresh: true }));
  const amend = async (file: string) => {
    const read = await readPolicy(file);
    const ledger = await openLedger(read.ledger);
    try {
      return await amendTo(ledger, read, 'a test');
    } finally {
      await ledger.close();
    }
  };
  beforeEach(() => {
    for (const name of ['friend', 'work'])
      writeFileSync(at('data', `${name}.csv`), `a,b\n${Array.from({ length: 20 }, (_, i) => `${i},${i + 1}`).join('\n')}\n`);
    mkdirSync(at('data/x'));
  });

  it('one table is one relation, under any path or name', async () => {
    symlinkSync(at('data/friend.csv'), at('data/link.csv'));
    linkSync(at('data/friend.csv'), at('data/hard.csv'));
    for (const table of ['../data/x/../friend.csv', '../data/link.csv', '../data/hard.csv']) {
      const again = `again: { table: ${table}, columns: [a, b], domain: 50, symmetric: true }`;
      await expect(readPolicy(ties('here/two.yaml', [friend, again])), table).rejects.toMatchObject({
        code: 'POLICY_INVALID',
        message: expect.stringMatching(/"friend" and "again"/),
      });
    }
    const named = (name: string, table: string) => `${name}: { table: ${table}, columns: [a, b], domain: 50 }`;
    for (const [one, other] of [
      ['t1', 'main.t1'],
      ['s.t1', 't1'],
      ['t1', '../data/town.duckdb'],
    ] as const)
      await expect(
        readPolicy(ties('here/db.yaml', [named('one', one), named('other', other)], { source: '../data/town.duckdb' })),
      ).rejects.toMatchObject({ code: 'POLICY_INVALID' });
    // Two tables are two relations.
    await readPolicy(ties('here/two.yaml', [friend, work]));
    await readPolicy(ties('here/db.yaml', [named('one', 's.t1'), named('other', 'u.t1')], { source: '../data/town.duckdb' }));
  });

  it('the account follows the tables of the ties, not the rows of the data', async () => {
    const file = ties('here/p.yaml', [friend]);
    await count(file, '0.75');
    writeFileSync(at('there/other.csv'), 'id,party\n1,dem\n');
    const other = ties('there/p.yaml', [friend], { source: 'other.csv' });
    await expect(count(other, '0.5')).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    const { population, ledger } = await readPolicy(other);
    expect([population, ledger]).toEqual([`data:${at('data/friend.csv')}`, at('data/.fugu/ledger.db')]);
    const inside = ties('here/db.yaml', ['t: { table: t, columns: [a, b], domain: 50 }'], { source: '../data/town.duckdb' });
    expect((await readPolicy(inside)).population).toBe(`data:${at('data/town.duckdb')}`);
  });

  it('the account gets no fresh budget when a relation is added, left out or renamed, or when persons become the secret', async () => {
    const file = ties('here/p.yaml', [friend]);
    await count(file, '1');
    const changed = [
      ties('here/more.yaml', [friend, work]),
      ties('here/renamed.yaml', [friend.replace('friend:', 'other:')]),
      ties('here/turned.yaml', [friend.replace('symmetric: true', 'symmetric: false')]),
      ties('here/person.yaml', [friend], { protect: '{ secret: person, unit: id, maxRows: 1 }' }),
    ];
    const relation = ['friend', 'other', 'friend', 'friend'];
    for (const [k, other] of changed.entries())
      await expect(count(other, '0.5', relation[k]), other).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' });
    // Tables in several folders have no folder of their own.
    copyFileSync(at('data/work.csv'), at('there/work.csv'));
    await expect(readPolicy(ties('here/far.yaml', [friend, work.replace('../data', '../there')]))).rejects.toMatchObject({
      code: 'POLICY_INVALID',
      hint: expect.stringContaining('ledger'),
    });
  });

  it('an amendment may add relations, never remove those that have spent', async () => {
    const own = { extra: `population: town` };
    await count(ties('here/p.yaml', [friend], own), '1');
    const more = ties('here/more.yaml', [friend, work], own);
    await expect(count(more, '0.5', 'work')).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' });
    for (const gone of [[work], [friend.replace('friend:', 'other:')]])
      await expect(amend(ties('here/gone.yaml', gone, own))).rejects.toMatchObject({
        code: 'LEDGER_MISMATCH',
        message: expect.stringContaining('"friend"'),
      });
    await amend(more);
    await count(more, '0.5', 'work');
    await expect(count(more, '0.5')).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });
});

describe('the command fugu check', () => {
  const doubts = async (file: string) => accountWarnings(await readPolicy(file));

  it('check is silent about the usual account and warns of a second ledger, of a name without a place, and of hard links', async () => {
    const usual = policy('here/usual.yaml', 'source: ../data/people.csv');
    await spend(usual, '0.5');
    expect(await doubts(usual)).toEqual([]);
    const second = policy('here/second.yaml', 'source: ../data/people.csv', 'ledger: second.db\n');
    expect(await doubts(second)).toEqual([expect.stringContaining(at('data/.fugu/ledger.db'))]);
    const named = policy('here/named.yaml', 'source: ../data/people.csv', 'population: town\n');
    expect(await doubts(named)).toEqual([expect.stringContaining(`ledger: ${at('data/.fugu/ledger.db')}`)]);
    linkSync(at('data/people.csv'), at('there/same.csv'));
    expect(await doubts(usual)).toEqual([expect.stringContaining('hard links')]);
    const output = JSON.parse(await runCommand(registerCheck, 'check', usual, '--json'));
    expect(output.warnings).toHaveLength(1);
    expect(await runCommand(registerCheck, 'check', usual)).toMatch(/Warning +The data file has 2 names/);
  });
});
