import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { open } from '../src/app/api/fugu.js';
import { amendTerms, backupLedger, restoreLedger } from '../src/app/api/ledger.js';
import { openHandles } from '../src/app/api/open-handles.js';
import { recordedAnswer } from '../src/app/api/recorded.js';
import { type StreamOptions, stream } from '../src/app/api/stream.js';
import { PrivacySession } from '../src/release/session/session.js';
import { Fault } from './inside.js';

/** Recorded answers stay available after the folder of data, policy and ledger was moved or restored elsewhere. */
const folders: string[] = [];
/** Version 0.2 recorded questions with all their bounds. */
const in02 = vi.hoisted(() => ({ on: false }));
vi.mock(import('../src/query/same/upper-bounds.js'), async (original) => {
  const { withoutUpperBounds } = await original();
  return {
    withoutUpperBounds: (policy, counting) =>
      in02.on ? { policy, filter: counting.filter } : withoutUpperBounds(policy, counting),
  };
});
const asNow = () => {
  in02.on = false;
  vi.restoreAllMocks();
};
afterEach(() => {
  asNow();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const csv = (days: number) =>
  `day,state,age\n${Array.from({ length: 6 * days }, (_, k) => `${1 + Math.floor(k / 6)},${k % 3 ? 'well' : 'ill'},${20 + k}\n`).join('')}`;
const policyText = (named: string) => `data: { source: visits.csv }
protect: { secret: row }
budget: { epsilon: 4 }
${named}ledger: budgets/ledger.db
dependence: none
columns:
  day: { type: integer, bounds: [1, 60], public: true }
  age: { type: integer, bounds: [0, 120] }
  state: { type: category, values: [ill, well] }
`;
const written = (folder: string, named: string): void => writeFileSync(join(folder, 'visits.yaml'), policyText(named));

function scene(named: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-moved-'));
  folders.push(folder);
  writeFileSync(join(folder, 'visits.csv'), csv(3));
  written(folder, named);
  return folder;
}

const ill = { kind: 'count', where: [{ column: 'state', op: '=', value: 'ill' }] } as const;
const questions = [
  { kind: 'histogram', column: 'state' },
  { sql: "SELECT COUNT(*) FROM data WHERE state = 'ill'" },
  { kmeans: { columns: ['age'], clusters: 2 } },
  { workload: { tables: [{ by: ['state'] }] } },
];
const streams: readonly StreamOptions[] = [
  { order: 'day', query: ill, epsilon: '0.1' },
  { order: 'day', query: ill, epsilon: '0.2', totals: true, horizon: 10 },
];

/** Runs all requests; returns the answers and the number of entries. */
async function askAll(folder: string, followed = streams) {
  const policy = join(folder, 'visits.yaml');
  const answers: unknown[] = [];
  const fugu = await open(policy);
  try {
    for (const question of questions) {
      const { receipt, ...answer } = (await fugu.release(question as never, { epsilon: '0.1' })) as { receipt: object };
      expect(receipt).toBeDefined();
      answers.push(answer);
    }
    for (const request of followed) {
      for await (const { receipt: _, replayed: __, ...step } of await stream(policy, request)) answers.push(step);
    }
    return { answers, entries: (await fugu.entries()).length, estimated: await fugu.estimate() };
  } finally {
    await fugu.close();
  }
}

const moved = (folder: string): string => {
  const elsewhere = `${folder}-restored`;
  folders.push(elsewhere);
  renameSync(folder, elsewhere);
  return elsewhere;
};

/** As version 0.2 recorded: under its own key, which request-key.test.ts compares with keys that 0.2 made. */
const asIn02 = () => {
  in02.on = true;
  const keysOf = PrivacySession.prototype.keysOf;
  vi.spyOn(PrivacySession.prototype, 'keysOf').mockImplementation(function (this: PrivacySession, canonical: string) {
    return { key: keysOf.call(this, canonical).former[0]!, former: [] };
  });
};

describe('recorded answers', () => {
  it('answers of every kind are returned again, free, after the folder was moved', async () => {
    const folder = scene('population: ward\n');
    const before = await askAll(folder);
    expect(await askAll(moved(folder))).toEqual(before);
  });

  it('answers of version 0.2 are returned again in their own place', async () => {
    const folder = scene('population: ward\n');
    asIn02();
    const before = await askAll(folder);
    asNow();
    const { answers, entries } = await askAll(folder);
    expect(answers).toEqual(before.answers);
    expect(entries).toBe(before.entries);
  });

  it('answers of version 0.2 are returned again after a move if the population is named after the data', async () => {
    const folder = scene('');
    asIn02();
    // Costs by public steps name their table where the population does not (slices.proof.md): totals are charged again.
    const steps = streams.slice(0, 1);
    const before = await askAll(folder, steps);
    asNow();
    const elsewhere = moved(folder);
    await expect(askAll(elsewhere, steps)).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' });
    written(elsewhere, `population: "data:${join(folder, 'visits.csv')}"\n`);
    const { answers, entries } = await askAll(elsewhere, steps);
    expect(answers).toEqual(before.answers);
    expect(entries).toBe(before.entries);
  });

  it('answers are returned by their number after a move', async () => {
    const folder = scene('population: ward\n');
    await askAll(folder);
    const { session, close } = await openHandles(join(moved(folder), 'visits.yaml'));
    try {
      expect(await recordedAnswer(session, 2)).toMatchObject({ receipt: { ledger: { entry: 2 } } });
    } finally {
      await close();
    }
  });

  it('a question about other data with the same ledger is another request', async () => {
    const folder = scene('population: ward\n');
    await askAll(folder);
    renameSync(join(folder, 'visits.csv'), join(folder, 'others.csv'));
    writeFileSync(join(folder, 'visits.yaml'), policyText('population: ward\n').replace('visits.csv', 'others.csv'));
    const fugu = await open(join(folder, 'visits.yaml'));
    const { receipt } = await fugu.release({ kind: 'histogram', column: 'state' }, { epsilon: '0.1' });
    await fugu.close();
    expect(receipt.ledger.replayed).toBe(false);
  });
});

describe('a ledger that held the budgets of several files', () => {
  /** Two files with one ledger; every request to them was paid for before they were moved. */
  const two = ['one', 'two'];
  const text = (name: string, more = '') => policyText(more).replace('visits.csv', `${name}.csv`);
  const release = async (at: string, name: string) => {
    await using fugu = await open(join(at, `${name}.yaml`));
    return (await fugu.release({ kind: 'histogram', column: 'state' }, { epsilon: '0.1' })).receipt.ledger;
  };

  it('the moved file keeps its own budget, never that of another file', async () => {
    const folder = scene('');
    for (const [i, name] of two.entries()) {
      writeFileSync(join(folder, `${name}.csv`), csv(4 + i));
      writeFileSync(join(folder, `${name}.yaml`), text(name));
      await release(folder, name);
    }
    const elsewhere = moved(folder);
    for (const name of two) {
      const own = `population: "data:${join(folder, `${name}.csv`)}"`;
      const refused = await release(elsewhere, name).catch((error: Fault) => error);
      expect(refused).toMatchObject({ code: 'LEDGER_MISMATCH', hint: expect.stringContaining(own) });
      expect((refused as Fault).hint.match(/population: "/g)).toHaveLength(1);
      writeFileSync(join(elsewhere, `${name}.yaml`), text(name, `${own}\n`));
      expect(await release(elsewhere, name)).toMatchObject({ replayed: true });
    }
    // A file that was renamed may have been either of them.
    writeFileSync(join(elsewhere, 'three.csv'), csv(5));
    writeFileSync(join(elsewhere, 'three.yaml'), text('three'));
    const { hint } = (await release(elsewhere, 'three').catch((error: Fault) => error)) as Fault;
    for (const name of two) expect(hint).toContain(`"data:${join(folder, `${name}.csv`)}"`);
  });
});

describe('a backup', () => {
  it('a backup is restored into a folder without a ledger, or without its folder', async () => {
    const folder = scene('population: ward\n');
    await askAll(folder);
    const file = join(folder, 'ledger.backup');
    await backupLedger(join(folder, 'visits.yaml'), file);
    const elsewhere = `${folder}-restored`;
    folders.push(elsewhere);
    cpSync(folder, elsewhere, { recursive: true, filter: (path) => !path.includes('budgets') });
    const policy = join(elsewhere, 'visits.yaml');
    expect(await restoreLedger(policy, file, { reason: 'the disk failed' })).toMatchObject({ kind: 'ledger' });
    await amendTerms(policy, { reason: 'nothing was released since' });
    await using fugu = await open(policy);
    const { receipt } = await fugu.release({ kind: 'histogram', column: 'state' }, { epsilon: '0.1' });
    expect(receipt.ledger.replayed).toBe(true);
  });
});

describe('a stream that was moved', () => {
  it('the stream still notices rows that arrive for released steps', async () => {
    const folder = scene('population: ward\n');
    const steps = async (at: string) => {
      for await (const _ of await stream(join(at, 'visits.yaml'), streams[0]!));
    };
    await steps(folder);
    const elsewhere = moved(folder);
    const journals = readdirSync(join(elsewhere, 'budgets')).filter((name) => name.startsWith('steps-'));
    expect(journals).toHaveLength(1);
    writeFileSync(join(elsewhere, 'visits.csv'), `${readFileSync(join(elsewhere, 'visits.csv'), 'utf8')}1,ill,30\n`);
    await expect(steps(elsewhere)).rejects.toThrow(Fault);
  });
});
