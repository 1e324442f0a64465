import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkPolicy } from '../src/app/api/check.js';
import { confirmPolicy } from '../src/app/api/confirm.js';
import { demo } from '../src/app/api/demo.js';
import { draftPolicy } from '../src/app/api/draft.js';
import { enterSpending } from '../src/app/api/enter.js';
import { type OpenOptions, open } from '../src/app/api/fugu.js';
import { learnBounds, learnKeys, learnRows } from '../src/app/api/learn-domain.js';
import { openHandles } from '../src/app/api/open-handles.js';
import { registerReleaseCommand } from '../src/app/cli/release.js';
import { addClaim, claimsIn, type Registry } from '../src/release/ledger/known-data.js';
import { runCommand } from './command.js';
import { Fault } from './inside.js';

/** Data with a budget is recognised by its content, under any name and in any folder. */
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'fugu-known-'));
  vi.stubEnv('FUGU_REGISTRY', join(home, 'registry'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

const csv = (rows = 60) => `party,age\n${Array.from({ length: rows }, (_, k) => `${k % 3 ? 'a' : 'b'},${20 + k}\n`).join('')}`;
const policyText = (source: string, more = '') => `data: { source: ${source} }
protect: { secret: row }
budget: { epsilon: 1 }
dependence: none
columns:
  party: { type: category, values: [a, b] }
  age: { type: integer, bounds: [0, 100] }
${more}`;
const histogram = { kind: 'histogram', column: 'party' } as const;

interface Place {
  readonly folder: string;
  readonly policy: string;
  readonly data: string;
}
function place(name: string, { source = 'people.csv', text = csv(), more = '' } = {}): Place {
  const folder = join(home, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, source), text);
  writeFileSync(join(folder, 'policy.yaml'), policyText(source, more));
  return { folder, policy: join(folder, 'policy.yaml'), data: join(folder, source) };
}

async function ask({ policy }: Place, options: OpenOptions = {}, epsilon = '0.1') {
  const fugu = await open(policy, options);
  try {
    return await fugu.release(histogram, { epsilon });
  } finally {
    await fugu.close();
  }
}
const refused = async (work: Promise<unknown>): Promise<Fault> => {
  const error = await work.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
};
const mismatch = async (work: Promise<unknown>, of: Place) => {
  const fault = await refused(work);
  expect(fault.code).toBe('LEDGER_MISMATCH');
  expect(fault.message).toContain(of.data);
  expect(fault.message).toContain(join(of.folder, '.fugu', 'ledger.db'));
  return fault;
};
const chainOf = ({ folder }: Place) => readFileSync(join(folder, '.fugu', 'ledger.db.chain'), 'utf8');

describe('data that has a budget', () => {
  it('a second budget in another folder or under another name is refused, naming the account that exists', async () => {
    const first = place('first');
    await ask(first);
    for (const copy of [place('copy'), place('renamed', { source: 'survey.txt' }), place('first/below')]) {
      const fault = await mismatch(ask(copy), first);
      expect(fault.outcome).toEqual({ state: 'not spent' });
      expect(fault.hint).toContain('--new-budget');
      const fugu = await open(copy.policy);
      await mismatch(fugu.plan(histogram), first);
      await fugu.close();
      expect(readdirSync(copy.folder)).not.toContain('.fugu/ledger.db.chain');
    }
  });

  it('a second budget in the same ledger under another population is refused', async () => {
    const first = place('first');
    await ask(first);
    writeFileSync(first.policy, policyText('people.csv', 'population: others\n'));
    await mismatch(ask(first), first);
  });

  it('the data keeps its budget, even after the registry is lost', async () => {
    const first = place('first');
    await ask(first);
    expect((await ask(first, {}, '0.2')).receipt.ledger).toMatchObject({ replayed: false });
    rmSync(join(home, 'registry'), { recursive: true });
    rmSync(join(first.folder, '.fugu', 'known-data'), { recursive: true });
    await ask(first, {}, '0.3');
    const fugu = await open(first.policy);
    expect((await fugu.spent()).budget.spent).toBeCloseTo(0.6);
    await fugu.close();
    // A lost registry is filled again by the next release.
    await mismatch(ask(place('copy')), first);
  });

  it('a second budget is granted for a reason, which the chain of its ledger keeps', async () => {
    const first = place('first');
    await ask(first);
    const copy = place('copy');
    await expect(open(copy.policy, { newBudget: ' ' })).rejects.toMatchObject({ code: 'USAGE' });
    await ask(copy, { newBudget: 'another publisher: agreed with the council' });
    expect(chainOf(copy)).toContain('"reason":"another publisher: agreed with the council"');
    expect(chainOf(first)).not.toContain('"reason"');
    await ask(copy, {}, '0.2');
    const third = place('third');
    await runCommand(
      registerReleaseCommand,
      'release',
      third.policy,
      '--query',
      JSON.stringify(histogram),
      '--new-budget',
      'a third',
      '--json',
    );
    expect(chainOf(third)).toContain('"reason":"a third"');
    const fugu = await open(third.policy);
    expect(await fugu.verify()).toMatchObject({ ok: true });
    await fugu.close();
  });

  it('no reason is required where none is needed, and none is stored', async () => {
    const only = place('only');
    await ask(only, { newBudget: 'just in case' });
    expect(chainOf(only)).not.toContain('"reason"');
  });

  it('learning the domain under a second budget is refused, too, unless a reason is given', async () => {
    const tables = 'tables: { stays: { source: stays.csv, unit: id, maxRows: 2, columns: {} } }\n';
    const learner = (name: string) => {
      const at = place(name, {
        text: `id,city,income,party\n${Array.from({ length: 40 }, (_, k) => `${k},a,${k},b\n`).join('')}`,
      });
      writeFileSync(join(at.folder, 'stays.csv'), `id\n${Array.from({ length: 40 }, (_, k) => `${k}\n`).join('')}`);
      const head =
        'data: { source: people.csv }\nprotect: { secret: person, unit: id, maxRows: 1 }\nbudget: { epsilon: 1, delta: 1e-6 }\ndependence: none\ncolumns: { party: { type: category, values: [a, b] } }\n';
      writeFileSync(at.policy, `${head}${tables}`);
      return at.policy;
    };
    const ways = {
      keys: (policy: string, more = {}) => learnKeys(policy, { column: 'city', longest: 1, epsilon: 0.1, ...more }),
      bounds: (policy: string, more = {}) => learnBounds(policy, { column: 'income', within: 100, epsilon: 0.1, ...more }),
      rows: (policy: string, more = {}) => learnRows(policy, { table: 'stays', most: 5, epsilon: 0.1, ...more }),
    };
    await ways.bounds(learner('first'));
    for (const [name, learn] of Object.entries(ways)) {
      const policy = learner(`${name}-copy`);
      expect((await refused(learn(policy))).code).toBe('LEDGER_MISMATCH');
      await learn(policy, { newBudget: `for ${name}` });
      expect(readFileSync(join(home, `${name}-copy`, '.fugu', 'ledger.db.chain'), 'utf8')).toContain(`"reason":"for ${name}"`);
    }
  });

  it('data is recognised by the costs of other publishers, too', async () => {
    const first = place('first');
    await enterSpending(first.policy, { epsilon: '0.1', reason: 'by the census' });
    await mismatch(enterSpending(place('copy').policy, { epsilon: '0.1', reason: 'by the census' }), first);
    await enterSpending(place('more').policy, { epsilon: '0.1', reason: 'by the census', newBudget: 'on purpose' });
  });

  it('data is recognised after it has grown', async () => {
    const first = place('first');
    await ask(first);
    writeFileSync(first.data, csv(70));
    await ask(first, {}, '0.2');
    await mismatch(ask(place('copy', { text: csv(70) })), first);
    await mismatch(ask(place('older', { text: csv(60) })), first);
    await ask(place('others', { text: csv(61) }));
  });

  it('data of an account older than the registry is recognised from its next release on', async () => {
    const first = place('first');
    vi.stubEnv('FUGU_REGISTRY', 'off');
    await ask(first);
    expect(readdirSync(join(first.folder, '.fugu'))).not.toContain('known-data');
    vi.stubEnv('FUGU_REGISTRY', join(home, 'registry'));
    const copy = place('copy');
    await ask(first, {}, '0.2');
    await mismatch(ask(copy), first);
  });

  it('init and check report the budget before any question', async () => {
    const first = place('first');
    await ask(first);
    const copy = place('copy');
    expect((await checkPolicy(first.policy)).warnings.join()).not.toContain('has a budget already');
    expect((await checkPolicy(copy.policy)).warnings.join()).toContain(`has a budget already: that of "data:${first.data}"`);
    rmSync(copy.policy);
    const drafted = await draftPolicy(copy.data, { out: copy.policy, dependence: 'none' });
    expect(drafted.doubts.join()).toContain('has a budget already');
    await confirmPolicy(copy.policy, { columns: 'all' });
    await mismatch(ask(copy), first);
  });

  it('the claim moves with its ledger', async () => {
    const first = place('first', { more: 'population: town\n' });
    await ask(first);
    renameSync(first.folder, join(home, 'moved'));
    vi.stubEnv('FUGU_REGISTRY', join(home, 'another'));
    const moved = { ...first, folder: join(home, 'moved'), policy: join(home, 'moved', 'policy.yaml') };
    await ask(moved, {}, '0.2');
    writeFileSync(moved.policy, policyText('people.csv', 'population: others\n'));
    expect((await refused(ask(moved))).message).toContain(join(home, 'moved', '.fugu', 'ledger.db'));
  });

  it('a new budget is refused if the ledger that held the first was moved or deleted, unless a reason is given', async () => {
    const first = place('first');
    await ask(first);
    const gone = {
      moved: () => renameSync(join(first.folder, '.fugu'), join(home, 'moved')),
      deleted: () => rmSync(join(first.folder, '.fugu'), { recursive: true }),
    };
    for (const [how, lose] of Object.entries(gone)) {
      lose();
      const fault = await mismatch(ask(first), first);
      expect(fault.outcome).toEqual({ state: 'not spent' });
      expect(fault.hint).toContain('--new-budget');
      await ask(first, { newBudget: `${how} on purpose` });
      expect(chainOf(first)).toContain(`"reason":"${how} on purpose"`);
      await ask(first, {}, '0.2');
    }
  });

  it('a new budget is refused if only the costs of other publishers were lost', async () => {
    const first = place('first');
    await enterSpending(first.policy, { epsilon: '0.1', reason: 'by the census' });
    rmSync(join(first.folder, '.fugu'), { recursive: true });
    await mismatch(ask(first), first);
  });

  it('a refused request claims no data', async () => {
    const first = place('first');
    await expect(ask(first, {}, '2')).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    await ask(place('copy'));
  });

  it('data is recognised in a file of private ties if those are the secret', async () => {
    const tied = (name: string) => {
      const at = place(name);
      writeFileSync(join(at.folder, 'friends.csv'), 'a,b\n1,2\n2,3\n');
      writeFileSync(
        at.policy,
        'data: { source: people.csv }\nprotect: { secret: edge }\nbudget: { epsilon: 1 }\ndependence: none\nrelations: { friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true } }\n',
      );
      return at;
    };
    const edges = async ({ policy }: Place) => {
      const fugu = await open(policy);
      return fugu.release({ pattern: 'count() :- friend(x, y)' } as never, { epsilon: '0.1' }).finally(() => fugu.close());
    };
    const first = tied('first');
    await edges(first);
    expect((await refused(edges(tied('copy')))).code).toBe('LEDGER_MISMATCH');
    // The rows are not the secret of that account.
    await ask(place('rows'));
  });
});

describe('each file of a policy', () => {
  const visits = (rows: number) =>
    `id,kind\n${Array.from({ length: rows }, (_, k) => `${k % 20},${k % 2 ? 'x' : 'y'}\n`).join('')}`;
  const people = (rows: number) => `id,party\n${Array.from({ length: rows }, (_, k) => `${k},${k % 3 ? 'a' : 'b'}\n`).join('')}`;
  function pair(name: string, own: string, other: string): Place {
    const at = place(name, { text: own });
    writeFileSync(join(at.folder, 'visits.csv'), other);
    writeFileSync(
      at.policy,
      `data: { source: people.csv }
protect: { secret: person, unit: id, maxRows: 1 }
budget: { epsilon: 1 }
dependence: none
columns: { party: { type: category, values: [a, b] } }
tables: { visits: { source: visits.csv, unit: id, maxRows: 5, columns: { kind: { type: category, values: [x, y] } } } }
`,
    );
    return at;
  }
  const claimAhead = async ({ policy }: Place, newBudget?: string) => {
    await (await openHandles(policy, { claimAhead: true, ...(newBudget !== undefined && { newBudget }) })).close();
  };
  const loose = async (work: Promise<unknown>) => {
    const fault = await refused(work);
    expect(fault.code).toBe('LEDGER_MISMATCH');
    return fault;
  };

  it('a table of another budget is refused although the other table is claimed already', async () => {
    const other = pair('other', people(30), visits(40));
    await ask(other);
    const two = pair('two', people(20), visits(60));
    await claimAhead(two);
    copyFileSync(join(other.folder, 'visits.csv'), join(two.folder, 'visits.csv'));
    expect((await loose(ask(two))).message).toContain(join(other.folder, '.fugu'));
    expect((await checkPolicy(two.policy)).warnings.join()).toContain(join(other.folder, '.fugu'));
    await loose(claimAhead(two));
    await ask(two, { newBudget: 'visits are shared' });
    expect(chainOf(two)).toContain('"reason":"visits are shared"');
    expect((await checkPolicy(two.policy)).warnings.join()).not.toContain('has a budget already');
  });

  it('a reason holds for the content it was given for', async () => {
    const [first, second] = [place('first'), place('second', { text: csv(61) })];
    await ask(first);
    await ask(second);
    const copy = place('copy');
    const fugu = await open(copy.policy, { newBudget: 'for the content of the first' });
    await fugu.plan(histogram);
    copyFileSync(second.data, copy.data);
    await mismatch(fugu.release(histogram, { epsilon: '0.1' }), second);
    await fugu.close();
  });

  it('a recorded reason holds for no other content after a restart', async () => {
    const [first, second] = [place('first'), place('second', { text: csv(61) })];
    await ask(first);
    await ask(second);
    const copy = place('copy');
    await claimAhead(copy, 'for the content of the first');
    await claimAhead(copy);
    copyFileSync(second.data, copy.data);
    await mismatch(claimAhead(copy), second);
    copyFileSync(first.data, copy.data);
    await ask(copy);
    expect(chainOf(copy)).toContain('"reason":"for the content of the first"');
  });

  it('content that changed while it was served is refused with one message, whether or not another budget owns it', async () => {
    const first = place('first');
    await ask(first);
    const messages: string[] = [];
    for (const [name, text] of Object.entries({ known: csv(), unknown: csv(50) })) {
      const served = place(name, { text: csv(name.length) });
      const { session, close } = await openHandles(served.policy, { claimAhead: true });
      writeFileSync(served.data, text);
      const fault = await loose(session.forPayer({ analyst: 'somebody' }).release(histogram, { epsilon: '0.1' }));
      messages.push(fault.message);
      expect(`${fault.message} ${fault.hint}`).not.toContain(first.folder);
      await close();
    }
    expect(new Set(messages)).toEqual(new Set(['The data has changed since it was served, and its budget is not open yet.']));
  });

  it('an unneeded reason is not recorded, even if a claim is made twice', async () => {
    const only = place('only');
    await claimAhead(only, 'just in case');
    await claimAhead(only, 'just in case');
    await ask(only);
    expect(chainOf(only)).not.toContain('"reason"');
  });

  it('a folder that was copied without its ledger has no budget by the claims copied with it', async () => {
    const first = place('first', { more: 'population: town\n' });
    await ask(first);
    cpSync(first.folder, join(home, 'copy'), { recursive: true });
    for (const name of readdirSync(join(home, 'copy', '.fugu')))
      if (name !== 'known-data') rmSync(join(home, 'copy', '.fugu', name), { recursive: true });
    expect((await loose(ask({ ...first, policy: join(home, 'copy', 'policy.yaml') }))).message).toContain(first.folder);
  });

  it('packed content is recognised by its contents, however often it was packed', async () => {
    const first = place('first');
    await ask(first);
    for (const source of ['people.csv.gz', 'PEOPLE.CSV.GZ']) {
      const packed = place(`packed ${source}`, { source });
      for (const level of [1, 9]) {
        writeFileSync(packed.data, gzipSync(csv(), { level }));
        await mismatch(ask(packed), first);
      }
    }
    const capitals = place('capitals', { source: 'PEOPLE.CSV.GZ' });
    writeFileSync(capitals.data, gzipSync(csv(50)));
    expect((await ask(capitals)).receipt.ledger.replayed).toBe(false);
  });
});

describe('two processes that open a budget for the same data at once', () => {
  it('one of the two is refused', async () => {
    const places = Array.from({ length: 6 }, (_, k) => place(`at-once-${k}`));
    const done = await Promise.allSettled(places.map((one) => ask(one)));
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of done) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'LEDGER_MISMATCH' });
  });

  it('the second sees the claim of the first, though neither did before', () => {
    const registry: Registry = { folder: join(home, 'registry'), mode: 0o600 };
    const account = (ledger: string) => ({ population: 'town', ledger });
    // The second comes between the look and the claim of the first.
    let seen: unknown;
    addClaim(registry, 'content', account('/a'), () => {
      if (seen === undefined) {
        seen = [];
        addClaim(registry, 'content', account('/b'), () => ({}));
      } else seen = 'twice';
      return {};
    });
    expect(seen).toBe('twice');
    expect(claimsIn(registry, 'content').map(({ ledger }) => ledger)).toEqual(['/b', '/a']);
  });
});

describe('the registry', () => {
  it('the registry holds digests by a key of its own, for its owner alone, and no content', async () => {
    const first = place('first');
    await ask(first);
    const folder = join(home, 'registry');
    const plain = createHash('sha256').update(readFileSync(first.data)).digest('hex');
    const files = readdirSync(folder);
    expect(files).toContain('key');
    for (const name of files) {
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
      expect(name).not.toContain(plain);
      expect(readFileSync(join(folder, name), 'utf8')).not.toContain(plain);
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    // Another registry has another digest of the same content.
    const other = readdirSync(join(first.folder, '.fugu', 'known-data'));
    expect(files.filter((name) => !name.startsWith('key') && other.includes(name))).toEqual([]);
    expect(chainOf(first)).not.toContain(plain);
  });

  it('a registry that cannot be read is a fault, and nothing is spent', async () => {
    await ask(place('first'));
    const folder = join(home, 'registry');
    const claim = readdirSync(folder).find((name) => name.endsWith('.json'))!;
    const text = readFileSync(join(folder, claim), 'utf8');
    const copy = place('copy');
    const broken = async () => {
      const fault = await refused(ask(copy));
      expect(fault.code).toBe('LEDGER_CORRUPT');
      expect(fault.message).toContain(folder);
    };
    writeFileSync(join(folder, claim), '{');
    await broken();
    writeFileSync(join(folder, claim), text);
    renameSync(join(folder, 'key'), join(home, 'key'));
    await broken();
    writeFileSync(join(folder, 'key'), 'short\n');
    await broken();
    copyFileSync(join(home, 'key'), join(folder, 'key'));
    expect((await refused(ask(copy))).code).toBe('LEDGER_MISMATCH');
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'no folder');
    await broken();
    // An account that is open does not need it.
    await ask(place('first'), {}, '0.2');
  });

  it('a missing registry is distinguished from one that cannot be reached or was changed', async () => {
    const folder = join(home, 'registry');
    const first = place('first');
    const copy = place('copy');
    const key = () => join(folder, 'key');
    const whole = join(home, 'whole');
    await ask(first);
    cpSync(folder, whole, { recursive: true });
    const ways: Readonly<Record<string, () => void>> = {
      'a link that leads nowhere': () => symlinkSync(join(home, 'gone'), folder),
      'a file': () => writeFileSync(folder, 'no folder'),
      'a link in a circle': () => symlinkSync(folder, folder),
      'another key': () => {
        cpSync(whole, folder, { recursive: true });
        writeFileSync(key(), `${'0'.repeat(64)}\n`);
      },
      'a key without its check': () => {
        cpSync(whole, folder, { recursive: true });
        rmSync(join(folder, 'key-check'));
      },
      'another key without a check': () => {
        cpSync(whole, folder, { recursive: true });
        rmSync(join(folder, 'key-check'));
        writeFileSync(key(), `${'0'.repeat(64)}\n`);
      },
      'a key that is a pipe': () => {
        cpSync(whole, folder, { recursive: true });
        rmSync(key());
        execFileSync('mkfifo', [key()]);
      },
      'a key that is a folder': () => {
        cpSync(whole, folder, { recursive: true });
        rmSync(key());
        mkdirSync(key());
      },
      'a key that is a link to nowhere': () => {
        cpSync(whole, folder, { recursive: true });
        rmSync(key());
        symlinkSync(join(home, 'gone'), key());
      },
      'a claim that is a pipe': () => {
        cpSync(whole, folder, { recursive: true });
        const claim = join(folder, readdirSync(folder).find((name) => name.endsWith('.json'))!);
        rmSync(claim);
        execFileSync('mkfifo', [claim]);
      },
    };
    for (const [way, make] of Object.entries(ways)) {
      rmSync(folder, { recursive: true, force: true });
      make();
      const fault = await refused(ask(copy));
      expect([way, fault.code]).toEqual([way, 'LEDGER_CORRUPT']);
      expect(fault.outcome).toEqual({ state: 'not spent' });
      expect(await refused(checkPolicy(copy.policy))).toMatchObject({ code: 'LEDGER_CORRUPT' });
    }
    rmSync(folder, { recursive: true, force: true });
    symlinkSync(whole, folder);
    await mismatch(ask(copy), first);
    // Nothing of that name: nothing is known.
    rmSync(folder);
    await ask(copy);
  });

  it('the registry of a user whose state folder is gone, or is a file, is a fault; a home that is a device has none', async () => {
    vi.stubEnv('FUGU_REGISTRY', undefined);
    const state = join(home, 'state');
    vi.stubEnv('XDG_STATE_HOME', state);
    const first = place('first');
    symlinkSync(join(home, 'unmounted'), state);
    expect((await refused(ask(first))).code).toBe('LEDGER_CORRUPT');
    rmSync(state);
    mkdirSync(state);
    writeFileSync(join(state, 'fugu'), '');
    expect((await refused(ask(first))).code).toBe('LEDGER_CORRUPT');
    vi.stubEnv('XDG_STATE_HOME', undefined);
    vi.stubEnv('HOME', '/dev/null');
    const cautions: unknown[] = [];
    const { session, close } = await openHandles(first.policy, { caution: (error) => cautions.push(error) });
    await session.release(histogram, { epsilon: '0.1' });
    await close();
    expect(cautions).toHaveLength(1);
  });

  it('the registry is set to a full path, or to off', async () => {
    vi.stubEnv('FUGU_REGISTRY', 'registry');
    expect(await refused(ask(place('first')))).toMatchObject({ code: 'USAGE', message: 'FUGU_REGISTRY is not a full path.' });
  });

  it('a named registry that cannot be written is a fault', async () => {
    // No folder can be made under a device, not even by root.
    vi.stubEnv('FUGU_REGISTRY', '/dev/null/registry');
    const fault = await refused(ask(place('first')));
    expect(fault).toMatchObject({ code: 'READ_ONLY', outcome: { state: 'not spent' } });
  });

  it('the registry of a user whose home cannot be written is skipped with a warning', async () => {
    vi.stubEnv('FUGU_REGISTRY', undefined);
    vi.stubEnv('XDG_STATE_HOME', '/dev/null/state');
    const messages: unknown[] = [];
    const first = place('first');
    const { session, close } = await openHandles(first.policy, { caution: (error) => messages.push(error) });
    await session.release(histogram, { epsilon: '0.1' });
    await close();
    expect(messages).toHaveLength(1);
    expect(String(messages[0])).toContain('is not remembered for this user');
    // The ledger's own folder remembers all the same.
    writeFileSync(first.policy, policyText('people.csv', 'population: others\n'));
    await mismatch(ask(first), first);
  });

  it('the registry of a user lies in their state folder', async () => {
    vi.stubEnv('FUGU_REGISTRY', undefined);
    vi.stubEnv('XDG_STATE_HOME', join(home, 'state'));
    await ask(place('first'));
    expect(readdirSync(join(home, 'state', 'fugu', 'known-data'))).toContain('key');
    vi.stubEnv('XDG_STATE_HOME', undefined);
    vi.stubEnv('HOME', join(home, 'user'));
    await ask(place('others', { text: csv(50) }));
    expect(readdirSync(join(home, 'user', '.local', 'state', 'fugu', 'known-data'))).toContain('key');
  });

  it('releases of unchanged data do not rewrite the registry', async () => {
    const first = place('first');
    await ask(first);
    const folder = join(home, 'registry');
    const before = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs]);
    await ask(first, {}, '0.2');
    await ask(first, {}, '0.3');
    expect(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs])).toEqual(before);
  });
});

describe('the demo', () => {
  it('the demo runs twice, and its own budgets stay open for questions', async () => {
    const write = async () => undefined;
    for (const run of ['run-1', 'run-2']) {
      const { home: at } = await demo(join(home, 'demo'), write);
      expect(at).toBe(join(home, 'demo', run));
      const fugu = await open(join(at, 'yours.yaml'));
      await fugu.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.1' });
      await fugu.close();
      expect(readFileSync(join(at, 'ledger.db.chain'), 'utf8')).toContain('made-up people of');
    }
    cpSync(join(home, 'demo', 'run-1', 'survey.csv'), join(home, 'copy.csv'));
    const policy = join(home, 'copy.yaml');
    const text = readFileSync(join(home, 'demo', 'run-1', 'yours.yaml'), 'utf8');
    writeFileSync(policy, text.replace('survey.csv', 'copy.csv').replace('ledger.db', 'copy.db'));
    const fugu = await open(policy);
    expect((await refused(fugu.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.1' }))).code).toBe(
      'LEDGER_MISMATCH',
    );
    await fugu.close();
  });
});
