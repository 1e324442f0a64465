import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { releaseKmeans } from '../src/analysis/learn/kmeans/kmeans.js';
import { registerReleaseCommand } from '../src/app/cli/release.js';
import { parseRational, rational } from '../src/base/exact/rational.js';
import { PrivacySession, type ReleaseOptions, releaseContextOf } from '../src/release/session/session.js';
import { runCommand } from './command.js';
import { costing } from './costing.js';
import { Fault } from './inside.js';
import { now } from './now.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/**
 * The outcome of a request depends on the ledger and on public facts, never on a changed record: with budget or without,
 * repeated or fresh, across sessions or within one (docs/explanation/decisions/0008).
 */
const shops: Workshop[] = [];
afterEach(() => {
  for (const shop of shops.splice(0)) shop.remove();
});
type Open = Awaited<ReturnType<Workshop['session']>>;

/** Changes of the data between two requests: none, rewritten unchanged, one answer changed. */
const rows = 90;
const futures: Readonly<Record<string, (shop: Workshop) => void>> = {
  'the same': () => undefined,
  'written again': (shop) => rewrite(shop, (text) => text),
  'one answer changed': (shop) => rewrite(shop, (text) => text.replace('p7,h2,,', 'p7,h2,rep,')),
};
const rewrite = (shop: Workshop, change: (text: string) => string): boolean => {
  const file = join(shop.folder, 'people.csv');
  const before = readFileSync(file, 'utf8');
  writeFileSync(file, change(before));
  return change(before) !== before;
};

const histogram = { kind: 'histogram', column: 'party' };
const outcome = async (work: Promise<{ receipt: { ledger: object; at: string; epsilon: number } }>): Promise<object> => {
  try {
    const { receipt } = await work;
    const { hash: _, ...ledger } = receipt.ledger as { hash: string };
    return ledger;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.toJSON();
  }
};

/** Runs a request, changes the data, runs it again: the analyst's view of the second run. */
type Story = (shop: Workshop, become: () => void) => Promise<object>;
const tied = '[{ kind: groups, by: home, oddsRatio: 2 }]';
const limited = '[{ kind: ties, relation: friend, oddsRatio: 2, maxTies: 3 }]';
const friends = `a,b\n${Array.from({ length: rows - 1 }, (_, k) => `p0,p${k + 1}`).join('\n')}\n`;
const relation = 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n';

async function seen(story: Story, yaml: string): Promise<readonly object[]> {
  const all: object[] = [];
  for (const become of Object.values(futures)) {
    const shop = openWorkshop(yaml, rows);
    shops.push(shop);
    shop.write('friends.csv', friends);
    all.push(await story(shop, () => become(shop)));
  }
  return all;
}
const expectAlike = (all: readonly object[]) => {
  for (const one of all) expect(one).toEqual(all[0]);
};

/** In a new session, as the command line does. */
const anew = async <T>(shop: Workshop, work: (session: Open) => Promise<T>): Promise<T> => {
  const session = await shop.session();
  try {
    return await work(session);
  } finally {
    await session.close();
  }
};
const twice =
  (
    first: ReleaseOptions,
    second: ReleaseOptions,
    ask = (s: Open, o: ReleaseOptions) => outcome(s.release(histogram, o)),
  ): Story =>
  async (shop, become) => {
    await anew(shop, (s) => ask(s, first));
    become();
    return anew(shop, async (s) => ({
      again: await ask(s, second),
      plan: (({ fits, budget }) => ({ fits, budget }))(await s.plan(histogram, second)),
    }));
  };
const clusters = (s: Open, o: ReleaseOptions) => outcome(releaseKmeans(s, { columns: ['age'], clusters: 2 }, o));

const stories: Readonly<Record<string, Story>> = {
  'asked again with budget left': twice({ epsilon: '0.5' }, { epsilon: '0.5' }),
  'asked again with the budget gone': twice({ epsilon: '1' }, { epsilon: '1' }),
  'asked for all that is left, again': twice({ all: true }, { all: true }),
  'asked anew with budget left': twice({ epsilon: '0.5' }, { epsilon: '0.5', fresh: true }),
  'asked anew with the budget gone': twice({ epsilon: '1' }, { epsilon: '1', fresh: true }),
  'something else with budget left': twice({ epsilon: '0.5' }, { epsilon: '0.25' }),
  'something else with the budget gone': twice({ epsilon: '1' }, { epsilon: '0.25' }),
  'clusters again': twice({ epsilon: '0.5' }, { epsilon: '0.5' }, clusters),
  'clusters again with the budget gone': twice({ epsilon: '1' }, { epsilon: '1' }, clusters),
  'in a session that stayed open': (shop, become) =>
    anew(shop, async (s) => {
      await s.release(histogram, { epsilon: '0.5' });
      become();
      return [
        await outcome(s.release(histogram, { epsilon: '0.5' })),
        await outcome(s.release(histogram, { epsilon: '0.25' })),
        await outcome(s.release(histogram, { epsilon: '0.25', fresh: true })),
      ];
    }),
  'while it is being read': (shop, become) =>
    anew(shop, async (s) => {
      const ask = () =>
        s.charge({
          canonical: 'slow',
          label: 'slow',
          mechanisms: [costing(rational(1, 2))],
          reading: {},
          execute: async () => {
            become();
            return 'answer';
          },
        });
      const [first, second] = [await ask(), await ask()];
      return [first.replayed, first.recorded, second.replayed, second.answer];
    }),
};

describe('the outcome of a request after a change of one record', () => {
  for (const [what, story] of Object.entries(stories))
    it(`the outcome is the same: ${what}`, async () => {
      expectAlike(await seen(story, policyYaml()));
    });

  it.each([
    ['households', tied, ''],
    ['ties with records left out', limited, relation],
  ])('the outcome is the same when the noise depends on %s', async (_name, dependence, extra) => {
    for (const story of ['in a session that stayed open', 'while it is being read', 'asked again with budget left'])
      expectAlike(await seen(stories[story]!, policyYaml({ dependence, extra, budget: '{ epsilon: 2 }' })));
  });

  it('the stories detect a key that holds the snapshot, and a comparison of snapshots', async () => {
    const bySnapshot = (s: Open, { epsilon }: ReleaseOptions) =>
      outcome(
        (async () => {
          const snapshot = await (await now(releaseContextOf(s).engine)).id();
          const paid = await s.charge({
            canonical: JSON.stringify([histogram, snapshot]),
            label: 'party',
            mechanisms: [costing(parseRational(epsilon!))],
            reading: {},
            execute: async () => 'answer',
          });
          const { entry, replayed } = paid;
          return { receipt: { at: '', epsilon: 0, ledger: { entry: entry.sequence, replayed, hash: '' } } };
        })(),
      );
    const left = await seen(twice({ epsilon: '0.5' }, { epsilon: '0.5' }, bySnapshot), policyYaml());
    const gone = await seen(twice({ epsilon: '1' }, { epsilon: '1' }, bySnapshot), policyYaml());
    for (const all of [left, gone]) {
      expect(all[1]).toEqual(all[0]);
      expect(all[2]).not.toEqual(all[0]);
    }
    expect(gone[2]).toMatchObject({ again: { error: { code: 'BUDGET_EXCEEDED' } } });
    const stale = (shop: Workshop, become: () => void) =>
      anew(shop, async (s) => {
        become();
        return [releaseContextOf(s).tiesOf === (await (await now(releaseContextOf(s).engine)).id())];
      });
    expect(await seen(stale, policyYaml({ dependence: tied }))).toEqual([[true], [true], [false]]);
  });
});

describe('ties that change under an open session', () => {
  it('changed ties stop the session before anything is spent, because they are public and the noise depends on them', async () => {
    const shop = openWorkshop(policyYaml({ dependence: tied }), rows);
    shops.push(shop);
    await anew(shop, async (s) => {
      expect(rewrite(shop, (text) => text.replaceAll(/,h(1|2|3),/g, ',h1,'))).toBe(true);
      await expect(s.release(histogram, { epsilon: '0.5' })).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
      expect((await s.spent()).pure.perRecord.size).toBe(0);
    });
  });
});

describe('a repeated request', () => {
  const open = async () => {
    const shop = openWorkshop(policyYaml(), rows);
    shops.push(shop);
    return { shop, session: await shop.session() };
  };

  it('a request about another file is another request, even in one account', async () => {
    const { shop, session } = await open();
    await session.release(histogram, { epsilon: '0.25' });
    copyFileSync(join(shop.folder, 'people.csv'), join(shop.folder, 'others.csv'));
    const other = shop.write('other.yaml', policyYaml().replace('people.csv', 'others.csv'));
    const others = await shop.session(other);
    expect((await others.release(histogram, { epsilon: '0.25' })).receipt.ledger.replayed).toBe(false);
    expect((await others.plan(histogram)).budget.spent).toBe(0.5);
    await others.close();
    await session.close();
  });

  it('a request made twice at once is paid once, and both get the same answer', async () => {
    const { session } = await open();
    const both = await Promise.all([1, 2].map(() => session.release(histogram, { epsilon: '0.25' })));
    const entries = both.map(({ receipt }) => receipt.ledger.entry);
    expect(new Set(entries).size).toBe(1);
    expect(both[0]!.tables).toEqual(both[1]!.tables);
    const again = await session.release(histogram, { epsilon: '0.25' });
    expect(again.receipt.ledger).toMatchObject({ entry: entries[0], replayed: true });
    expect((await session.plan(histogram)).budget.spent).toBe(0.25);
    await session.close();
  });

  it('an answer that could not be recorded is not returned, so that the request can be completed', async () => {
    const { session } = await open();
    const full = new Fault('DISK_FULL', 'full', 'Make room.');
    const forgetful = new PrivacySession({
      ...releaseContextOf(session),
      ledger: { ...releaseContextOf(session).ledger, commit: () => Promise.reject(full) },
    });
    await expect(forgetful.release(histogram, { epsilon: '0.25' })).rejects.toMatchObject({
      code: 'DISK_FULL',
      outcome: { state: 'spent', resumable: true },
    });
    expect((await session.plan(histogram, { epsilon: '0.25' })).completes).toBeDefined();
    const { receipt } = await session.release(histogram, { epsilon: '0.25' });
    expect(receipt.ledger).toMatchObject({ replayed: false, resumed: true });
    expect((await session.plan(histogram)).budget.spent).toBe(0.25);
    await session.close();
  });

  it('a recorded answer shows its date on the command line, and --fresh computes it anew', async () => {
    const { shop, session } = await open();
    await session.close();
    const say = (...words: string[]) =>
      runCommand(
        registerReleaseCommand,
        'release',
        shop.policyFile,
        '--query',
        JSON.stringify(histogram),
        '--epsilon',
        '0.25',
        ...words,
      );
    const first = JSON.parse(await say('--json'));
    futures['one answer changed']!(shop);
    expect(JSON.parse(await say('--json')).receipt).toMatchObject({ at: first.receipt.at, ledger: { replayed: true } });
    const day = first.receipt.at.slice(0, 19).replace('T', ' ');
    expect(await say()).toContain(`Recorded answer of ${day} UTC (ledger entry ${first.receipt.ledger.entry})`);
    expect(await say('--fresh')).toContain('epsilon 0.25 spent');
  });
});

describe('a fault after the budget was reserved', () => {
  /** Errors that data can cause in an engine, a kernel or a driver. */
  const circle: Record<string, unknown> = {};
  circle.of = circle;
  const wrongs: Readonly<Record<string, () => unknown>> = {
    'a cell that is no number': () => BigInt(4.5),
    'a driver that quotes a row': () => {
      throw new Error("Could not convert string 'Ann Smith, 17' to INT64");
    },
    'a declared bound that does not hold': () => {
      throw new Fault('DOMAIN_EXCEEDED', 'more than 50 values', 'Declare more.', { details: { limit: 50, seen: 51 } });
    },
    'a line that cannot be read': () => {
      throw new Fault('DATA_MALFORMED', 'broken', 'mend', { place: { file: '/data/people.csv', line: 17 } });
    },
    'a deadline': () => {
      throw new Fault('ENGINE_DEADLINE', 'late', 'wait');
    },
    memory: () => {
      throw new Fault('ENGINE_MEMORY', 'no memory', 'raise');
    },
    'a disk': () => {
      throw new Fault('DISK_FULL', 'no space', 'Make room.', { outcome: { state: 'not spent' } });
    },
    'a thrown word': () => {
      throw 'Ann';
    },
    'nothing at all': () => Promise.reject(undefined),
    'an answer that cannot be written down': () => circle,
    'a number too large to write down': () => ({ n: 10n ** 30n }),
  };

  const messageOf = async (work: Promise<unknown>): Promise<string> => {
    try {
      await work;
      return 'answered';
    } catch (error) {
      const text = error instanceof Fault ? JSON.stringify(error) : String(error);
      return text.replaceAll(/entry"?:? ?\d+/g, 'entry N');
    }
  };

  it('every such fault has the same text, with the entry that stays spent and nothing else', async () => {
    const shop = openWorkshop(policyYaml({ budget: '{ epsilon: 100 }' }), 12);
    shops.push(shop);
    const session = await shop.session();
    const texts = new Set<string>();
    for (const [what, wrong] of Object.entries(wrongs)) {
      const request = {
        canonical: what,
        label: what,
        mechanisms: [costing(rational(1))],
        reading: {},
        execute: async () => wrong(),
      };
      texts.add(await messageOf(session.charge(request)));
      const entry = (await releaseContextOf(session).ledger.entries('town')).at(-1)!;
      await expect(session.charge(request)).rejects.toMatchObject({
        code: 'ENGINE_FAILED',
        details: { entry: entry.sequence + 1 },
        place: undefined,
      });
    }
    expect(texts.size).toBe(1);
    expect([...texts][0]).toMatch(/"outcome":{"state":"spent","entry N,"resumable":false}/);
    expect([...texts][0]).not.toMatch(/Ann|17|50|51|people/);
    expect((await session.plan({ kind: 'count' })).budget.spent).toBe(2 * Object.keys(wrongs).length);
    // The test can distinguish them: as thrown, the messages differ.
    const raw = await Promise.all(Object.values(wrongs).map((wrong) => messageOf((async () => JSON.stringify(await wrong()))())));
    expect(new Set(raw).size).toBeGreaterThan(8);
    await session.close();
  });
});
