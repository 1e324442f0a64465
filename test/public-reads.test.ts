import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { stewardReads } from '../src/app/api/steward-read.js';
import { planStream, type StreamOptions, stream, streamIn } from '../src/app/api/stream.js';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { registerStreamCommand as registerStream } from '../src/app/cli/stream.js';
import { amendTerms } from '../src/index.js';
import { type PublicRead, publicReads, withPublicReader } from '../src/release/session/public-read.js';
import { runCommand } from './command.js';
import { createSession, Fault, openEngine, openLedger, readPolicy } from './inside.js';

let folder: string;
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Row = readonly [person: string, week: string, ill: string];
interface Terms {
  readonly protect?: string;
  readonly week?: string;
  readonly budget?: string;
  readonly extra?: string;
}
const open = '{ type: integer, bounds: [0, 11], public: true }';
const policyText = ({
  protect = '{ secret: row }',
  week = open,
  budget = '{ epsilon: 1 }',
  extra = '',
}: Terms = {}) => `data: { source: ward.csv }
protect: ${protect}
budget: ${budget}
population: ward
ledger: ledger.db
dependence: none
columns:
  week: ${week}
  ill: { type: category, values: [yes, no] }
${extra}`;
function ward(rows: readonly Row[], terms: Terms = {}): string {
  folder = mkdtempSync(join(tmpdir(), 'fugu-public-'));
  writeFileSync(join(folder, 'ward.csv'), `person,week,ill\n${rows.map((row) => `${row.join(',')}\n`).join('')}`);
  return written(terms);
}
function written(terms: Terms): string {
  const file = join(folder, 'ward.yaml');
  writeFileSync(file, policyText(terms));
  return file;
}

const count = { kind: 'count', where: [{ column: 'ill', op: '=', value: 'yes' }] } as const;
const request = { order: 'week', query: count, epsilon: 0.125 } as const;
const entriesOf = async (policy: string) => {
  const ledger = await openLedger((await readPolicy(policy)).ledger);
  const entries = await ledger.entries('ward');
  await ledger.close();
  return entries;
};
const lossIn = async (policy: string): Promise<number> => {
  const read = await readPolicy(policy);
  const [engine, ledger] = [await openEngine(read), await openLedger(read.ledger)];
  const loss = await (await createSession({ policy: read, engine, ledger })).privacyLoss();
  await ledger.close();
  await engine.close();
  return loss;
};

type Way = 'library' | 'command' | 'service';
async function steps(policy: string, way: Way, more: Partial<StreamOptions>): Promise<readonly number[]> {
  const found: number[] = [];
  if (way === 'library') for await (const { step } of await stream(policy, { ...request, ...more })) found.push(step);
  if (way === 'service') {
    const read = await readPolicy(policy);
    const [engine, ledger] = [await openEngine(read), await openLedger(read.ledger)];
    try {
      const session = await createSession({ policy: read, engine, ledger });
      for await (const { step } of streamIn(session, { ...request, ...more })) found.push(step);
    } finally {
      await ledger.close();
      await engine.close();
    }
  }
  if (way === 'command') {
    const words = Object.entries(more).flatMap(([key, value]) => (value === true ? [`--${key}`] : [`--${key}`, String(value)]));
    const base = ['--every', '1', '--order', 'week', '--query', JSON.stringify(count), '--epsilon', '0.125', '--json', '--yes'];
    const out = await runCommand(registerStream, 'stream', policy, ...base, ...words);
    found.push(...out.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line).step)); // biome-ignore format: one line
  }
  return found;
}

/** Everything of a stream that can be seen, but the noisy numbers and the time. */
async function seen(rows: readonly Row[], terms: Terms, way: Way, more: Partial<StreamOptions>): Promise<object> {
  const policy = ward(rows, terms);
  const outcome = await steps(policy, way, more).catch((error: unknown) => {
    if (!(error instanceof Fault)) throw error;
    return { code: error.code, message: error.message, hint: error.hint };
  });
  const entries = (await entriesOf(policy)).map(({ label, relied, profile }) => ({ label, relied, cost: [...profile.perRecord.keys()] })); // biome-ignore format: one line
  const files = readdirSync(folder).filter((name) => name.startsWith('steps-')).length;
  const loss = await lossIn(policy);
  rmSync(folder, { recursive: true, force: true });
  return { outcome, entries, files, gained: loss };
}

/** Two persons, a row in every week. */
const data: readonly Row[] = Array.from({ length: 6 }, (_, w) => ['p', 'q'].map((p): Row => [p, String(w), 'no'])).flat();
/** The one row of week 2 that is left stands at week 5 for another person in its place. */
const alone: readonly Row[] = data.filter(([p, w]) => !(p === 'q' && w === '2'));
const moved: readonly Row[] = alone.map(([p, w, ill]) => [p, p === 'p' && w === '2' ? '5' : w, ill]);

const person: Terms = { protect: '{ secret: person, unit: person, maxRows: 6 }' };

describe('a stream where persons are the secret', () => {
  it.each(['library', 'command', 'service'] as const)(
    'the stream is refused alike on neighbouring data sets if it has to look up which steps have rows: by %s',
    async (way) => {
      const refusal = { code: 'QUERY_UNSUPPORTED', message: expect.stringContaining('protected'), hint: expect.stringContaining('--through') }; // biome-ignore format: one line
      for (const more of [{}, { totals: true }, { gaps: 'empty' }] as const) {
        const [first, second] = [await seen(alone, person, way, more), await seen(moved, person, way, more)];
        expect(first).toEqual(second);
        expect(first).toEqual({ outcome: refusal, entries: [], files: 0, gained: 0 });
      }
    },
  );

  it.each([
    ['a person whose row moves to another week', moved],
    ['a person without a week', alone.map(([p, w, ill]): Row => [p, p === 'p' && w === '2' ? '' : w, ill])],
    ['a person beyond the bounds', alone.map(([p, w, ill]): Row => [p, p === 'p' ? '40' : w, ill])],
    ['a person with fewer rows', alone.filter(([p, w]) => p === 'q' || w === '0')],
  ])('the stream answers without a look-up through a given step, within the promise: %s', async (_, neighbour) => {
    for (const more of [{ through: 5 }, { through: 5, totals: true }])
      for (const way of ['library', 'service'] as const) {
        const [first, second] = [await seen(alone, person, way, more), await seen(neighbour, person, way, more)];
        expect(first).toEqual(second);
        expect(first).toMatchObject({ outcome: [1, 2, 3, 4, 5, 6], files: 0 });
        // A person pays for all six steps.
        expect((first as { gained: number }).gained).toBeLessThanOrEqual(1);
        expect((first as { gained: number }).gained).toBeGreaterThanOrEqual('totals' in more ? 0.125 : 0.75);
      }
  });

  it('the stream never reports that late rows or empty steps were refused, because it does not look them up', async () => {
    for (const more of [{ gaps: 'refuse' }, { late: 'refuse' }] as const)
      expect(await seen(data, person, 'library', { through: 5, ...more })).toMatchObject({
        outcome: { code: 'QUERY_UNSUPPORTED', message: expect.stringContaining('cannot be refused') },
        entries: [],
      });
  });

  it('the plan of the stream follows the same rule, and leaves no note', async () => {
    const policy = ward(data, person);
    await expect(planStream(policy, request)).rejects.toMatchObject({ hint: expect.stringContaining('--through') });
    expect((await planStream(policy, { ...request, through: 5 })).fits).toBe(true);
    rmSync(folder, { recursive: true, force: true });
    const rows = ward(data);
    expect((await planStream(rows, request)).fits).toBe(true);
    expect(await entriesOf(rows)).toEqual([]);
  });
});

describe('a stream where records change together within known totals', () => {
  it('the stream may not look up which steps have rows: two records may exchange their weeks', async () => {
    const terms: Terms = { extra: 'known:\n  - { margin: ill }\n' };
    expect(await seen(data, terms, 'library', {})).toMatchObject({ outcome: { hint: expect.stringContaining('--through') }, entries: [] }); // biome-ignore format: one line
  });
});

describe('a stream where rows are the secret', () => {
  it.each([
    ['3 and 3.4 are one week as it is read', '3.4'],
    ['3 and 2.6 are one week as it is read', '2.6'],
  ])('the stream has the same outcome on neighbouring data sets, which agree in the week as it is read: %s', async (_, week) => {
    const other = data.map(([p, w, ill]): Row => [p, p === 'p' && w === '3' ? week : w, p === 'p' && w === '3' ? 'yes' : ill]);
    const [first, second] = [await seen(data, {}, 'library', {}), await seen(other, {}, 'library', {})];
    expect(first).toEqual(second);
    expect(first).toMatchObject({ outcome: [1, 2, 3, 4, 5], files: 1 });
  });

  it.each([
    ['11 and 11.4 are the last declared week', '11', '11.4', [1, 2, 3, 4, 5]],
    ['60 and 60.4 are one week beyond the bounds', '60', '60.4', { code: 'DATA_MALFORMED' }],
  ])('the stream has the same outcome for one value around and above the upper bound: %s', async (_, week, other, outcome) => {
    const last: readonly Row[] = [...data, ...['6', '7', '8', '9', '10'].map((w): Row => ['p', w, 'no'])];
    const ends = (w: string) => seen([...last, ['q', w, 'yes']], {}, 'library', { through: 4 });
    const [first, second] = [await ends(week), await ends(other)];
    expect(first).toEqual(second);
    expect(first).toMatchObject({ outcome });
  });

  it('the stream counts a number below the bounds in the first week, where every count reads it', async () => {
    const other = data.map(([p, w, ill]): Row => [p, p === 'p' && w === '0' ? '-7' : w, ill]);
    expect(await seen(other, {}, 'library', {})).toEqual(await seen(data, {}, 'library', {}));
  });

  const withdrawn: Terms = { week: '{ type: integer, bounds: [0, 11] }' };
  const refusal = { code: 'LEDGER_MISMATCH', message: expect.stringContaining('step in week') };
  it.each(['library', 'command', 'service'] as const)(
    'the stream records the note once, and `public` cannot be withdrawn afterwards: by %s',
    async (way) => {
      const policy = ward(data);
      await steps(policy, way, { through: 1 });
      await steps(policy, way, { through: 2 });
      const entries = await entriesOf(policy);
      expect(entries.filter(({ relied }) => relied.includes('step in week'))).toHaveLength(1);
      // Before anything that was paid for.
      expect(entries[0]).toMatchObject({
        relied: ['step in week', expect.stringMatching(/^reading \w+ of week$/)],
        settled: true,
      });
      expect(entries[0]!.profile.perRecord.size).toBe(0);
      expect(await lossIn(policy)).toBeCloseTo(0.125, 9);
      await expect(amendTerms(written(withdrawn), { reason: 'x' })).rejects.toMatchObject(refusal);
      // Nor may totals be declared as known, within which rows exchange weeks.
      await expect(amendTerms(written({ extra: 'known:\n  - { margin: ill }\n' }), { reason: 'x' })).rejects.toThrow();
      await amendTerms(written({ budget: '{ epsilon: 2 }' }), { reason: 'x' });
      expect(await lossIn(policy)).toBeCloseTo(0.125, 9);
    },
  );

  it.each([
    ['a higher lower bound', '{ type: integer, bounds: [3, 11], public: true }'],
    ['a code for no answer', '{ type: integer, bounds: [0, 11], public: true, missing: [3] }'],
    ['days', '{ type: date, bounds: [2020-01-01, 2021-01-01], public: true }'],
    ['codes', '{ type: category, values: [0, 1], public: true }'],
  ])('the account then refuses terms that read the column differently: %s', async (_, week) => {
    const policy = ward(data);
    await steps(policy, 'library', { through: 1 });
    written({ week });
    await expect(amendTerms(policy, { reason: 'x' })).rejects.toMatchObject({ code: 'LEDGER_MISMATCH', message: expect.stringContaining('in another way') }); // biome-ignore format: one line
    const before = await entriesOf(policy);
    await expect(lossIn(policy)).rejects.toMatchObject({ code: 'LEDGER_MISMATCH', message: expect.stringContaining('in another way') }); // biome-ignore format: one line
    expect(await entriesOf(policy)).toEqual(before);
    written({ week: '{ type: integer, bounds: [0, 60], public: true }' });
    expect(await lossIn(policy)).toBeCloseTo(0.125, 9);
  });

  it('the stream notes both columns where late rows are counted when they arrive', async () => {
    const arrived = 'arrived: { type: integer, bounds: [0, 11], public: true }';
    const late: Terms = { extra: `  ${arrived}\n` };
    const policy = ward(data, late);
    const lines = readFileSync(join(folder, 'ward.csv'), 'utf8').trim().split('\n');
    writeFileSync(join(folder, 'ward.csv'), lines.map((line, i) => `${line},${i === 0 ? 'arrived' : line.split(',')[1]}\n`).join('')); // biome-ignore format: one line
    await steps(policy, 'library', { late: 'next', arrived: 'arrived', through: 1 });
    expect((await entriesOf(policy)).flatMap(({ relied }) => relied.filter((fact) => fact.startsWith('step')))).toEqual(expect.arrayContaining(['step in week', 'step in arrived'])); // biome-ignore format: one line
    for (const hidden of [{ ...late, week: '{ type: integer, bounds: [0, 11] }' }, { extra: `  ${arrived.replace(', public: true', '')}\n` }]) // biome-ignore format: one line
      await expect(amendTerms(written(hidden), { reason: 'x' })).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' });
  });

  it('the stream records the note even if the look-up ends in a refusal, which discloses something', async () => {
    const policy = ward(data.filter(([, w]) => w !== '2'));
    await expect(steps(policy, 'library', {})).rejects.toThrow('Step 3 (week 2) has no rows');
    await expect(amendTerms(written(withdrawn), { reason: 'x' })).rejects.toMatchObject(refusal);
  });

  it('the stream reads nothing before the note is durable: a ledger that cannot write ends the look-up', async () => {
    const policy = await readPolicy(ward(data));
    const [engine, kept] = [await openEngine(policy), await openLedger(policy.ledger)];
    let [pins, writable] = [0, false];
    const counted = new Proxy(engine, {
      get: (target, property) => {
        if (property === 'whole') return counted;
        const value = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        if (property === 'snapshot') pins++;
        return value.bind(target);
      },
    });
    const full = () => Promise.reject(new Fault('DISK_FULL', 'The disk is full.', 'Make room.'));
    const ledger = {
      ...kept,
      reserve: (request: Parameters<typeof kept.reserve>[0]) => (writable ? kept.reserve(request) : full()),
    };
    const session = await createSession({ policy, engine: counted, ledger });
    const first = async () => (await streamIn(session, { ...request, through: 0 }).next()).value?.step;
    pins = 0;
    await expect(first()).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(pins).toBe(0);
    writable = true;
    expect(await first()).toBe(1);
    expect(pins).toBeGreaterThan(0);
    await kept.close();
    await engine.close();
  });

  it('the ledger shows the note, at no cost', async () => {
    const policy = ward(data);
    await steps(policy, 'library', { through: 1 });
    const text = await runCommand(registerLedger, 'ledger', policy);
    expect(text).toContain('rows of each step: read for nothing (step in week)');
  });
});

describe('a stream of answers', () => {
  it('the stream reads the public column, records the note, and the column cannot become a secret', async () => {
    const protect = '{ secret: answer, unit: person }';
    const policy = ward(data, { protect });
    expect(await steps(policy, 'library', {})).toEqual([1, 2, 3, 4, 5]);
    await expect(amendTerms(written({ protect, week: '{ type: integer, bounds: [0, 11] }' }), { reason: 'x' })).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' }); // biome-ignore format: one line
  });
});

describe('the registry of public reads', () => {
  const opened = async <T>(
    terms: Terms,
    work: (policy: Awaited<ReturnType<typeof readPolicy>>, engine: Awaited<ReturnType<typeof openEngine>>) => Promise<T>,
  ): Promise<T> => {
    const policy = await readPolicy(ward(data, terms));
    const engine = await openEngine(policy);
    return work(policy, engine).finally(() => engine.close());
  };

  it('the registry is closed: a read made elsewhere is refused', async () => {
    const own: PublicRead<undefined, string> = { ...publicReads.content, name: 'own' };
    await opened({}, async (policy, engine) => {
      await expect(withPublicReader(engine, policy, (look) => look(own))).rejects.toThrow('no registered public read');
      expect(await withPublicReader(engine, policy, (look) => look(publicReads.records))).toBe(data.length);
    });
  });

  it('nobody can read without a ledger what the ledger has to note', async () => {
    await opened({}, async (policy, engine) => {
      const step = { column: 'week', width: 1, count: 12, unitsOf: (k: number) => [k - 1, k - 1] as const };
      await expect(withPublicReader(engine, policy, (look) => look(publicReads.stepRows, { steps: step, order: 'week' }))).rejects.toThrow('keeps a note'); // biome-ignore format: one line
    });
  });

  it('the registry refuses protected reads: presence, hidden relations, groups that nobody declared', async () => {
    await opened({ protect: '{ secret: row, neighbours: add-remove }' }, (policy, engine) =>
      expect(withPublicReader(engine, policy, (look) => look(publicReads.records))).rejects.toMatchObject({
        code: 'QUERY_UNSUPPORTED',
      }),
    );
    rmSync(folder, { recursive: true, force: true });
    await opened(person, async (policy, engine) => {
      expect(await withPublicReader(engine, policy, (look) => look(publicReads.records))).toBe(2);
      await expect(withPublicReader(engine, policy, (look) => look(publicReads.relationSize, 'friend'))).rejects.toMatchObject({ code: 'QUERY_UNSUPPORTED' }); // biome-ignore format: one line
      await expect(withPublicReader(engine, policy, (look) => look(publicReads.membersOfSeveral, 'week'))).rejects.toMatchObject({ code: 'QUERY_UNSUPPORTED' }); // biome-ignore format: one line
    });
  });

  it('the registry refuses to count the rows of protected steps, for every caller', async () => {
    const asSteps = { column: 'week', width: 1, count: 12, unitsOf: (k: number) => [k - 1, k - 1] as const };
    for (const [terms, order] of [
      [person, 'week'],
      [{}, 'ill'],
    ] as const) {
      // biome-ignore format: one line
      await opened(terms, async (policy, engine) => {
        const ledger = await openLedger(policy.ledger);
        const session = await createSession({ policy, engine, ledger });
        await expect(session.stepRows({ steps: asSteps, order })).rejects.toMatchObject({ code: 'QUERY_UNSUPPORTED' });
        expect(await ledger.entries('ward')).toEqual([]);
        await ledger.close();
      }).finally(() => rmSync(folder, { recursive: true, force: true }));
    }
  });

  it('docs/reference/unpaid-reads.md lists every read with its basis', () => {
    folder = mkdtempSync(join(tmpdir(), 'fugu-public-'));
    const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'reference', 'unpaid-reads.md'), 'utf8');
    const lines = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| read |'));
    expect(lines).toEqual([
      ...Object.values(publicReads).map(
        ({ name, relies, ...read }) => `| ${name} | ${relies} | ${'relied' in read ? 'yes' : 'no'} |`,
      ),
      ...Object.entries(stewardReads).map(([name, why]) => `| ${name} | ${why} |`),
    ]);
  });
});
