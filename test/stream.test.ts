import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { planStream, type StreamOptions, stream } from '../src/app/api/stream.js';
import { parseRational, toNumber } from '../src/base/exact/rational.js';
import { additiveMechanism } from '../src/privacy/mechanism/additive.js';
import { pure } from '../src/privacy/mechanism/budget-share.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import { sensitivityOn } from '../src/privacy/mechanism/sensitivity.js';
import { requestKeys } from '../src/release/session/request-key.js';
import { builtOnce, fugu, mainFile } from './fugu.js';
import { createSession, Fault, openEngine, openLedger, readPolicy } from './inside.js';

let folder: string;
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Shop {
  readonly policy: string;
  readonly data: string;
}
const people = 6;
const rowsOf = (day: number, who = people): string =>
  Array.from({ length: who }, (_, p) => `p${p},${day},${(p + day) % 3 === 0 ? 'ill' : 'well'},${day}\n`).join('');
function shopWith(
  days: readonly number[],
  more: { budget?: string; day?: string; protect?: string; dependence?: string } = {},
): Shop {
  folder = mkdtempSync(join(tmpdir(), 'fugu-stream-'));
  const data = join(folder, 'visits.csv');
  writeFileSync(data, `person,day,state,came\n${days.map((day) => rowsOf(day)).join('')}`);
  const policy = join(folder, 'visits.yaml');
  writeFileSync(
    policy,
    `data: { source: visits.csv }
protect: ${more.protect ?? '{ secret: row }'}
budget: ${more.budget ?? '{ epsilon: 4 }'}
population: ward
ledger: ledger.db
dependence: ${more.dependence ?? 'none'}
columns:
  day: ${more.day ?? '{ type: integer, bounds: [1, 60], public: true }'}
  came: { type: integer, bounds: [1, 60], public: true }
  state: { type: category, values: [ill, well] }
`,
  );
  return { policy, data };
}
const until = (last: number): number[] => Array.from({ length: last }, (_, k) => k + 1);
const ill = { kind: 'count', where: [{ column: 'state', op: '=', value: 'ill' }] } as const;
const illOn = (day: number): number => Array.from({ length: people }, (_, p) => (p + day) % 3 === 0).filter(Boolean).length;

const all = async (policy: string, options: StreamOptions) => {
  const steps = [];
  for await (const step of await stream(policy, { order: 'day', ...options })) steps.push(step);
  return steps;
};
const faultOf = async (work: Promise<unknown>): Promise<Fault> => {
  const error = await work.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
};
/** Entries with a cost: notes of public reads are free. */
const entriesOf = async ({ policy }: Shop) => {
  const ledger = await openLedger((await readPolicy(policy)).ledger);
  const entries = await ledger.entries('ward');
  await ledger.close();
  return entries.filter(({ profile }) => profile.perRecord.size > 0);
};
const exact = { budget: '{ epsilon: 4000000 }' };

describe('a stream', () => {
  it('a stream releases each completed step once, and goes on as rows arrive', async () => {
    const shop = shopWith(until(3), exact);
    const first = await all(shop.policy, { query: ill, epsilon: 100000, acceptNoProtection: true });
    expect(first.map(({ step, tables, replayed }) => [step, tables![0]!.rows[0]!.value, replayed])).toEqual([
      [1, illOn(1), false],
      [2, illOn(2), false],
    ]);
    appendFileSync(shop.data, rowsOf(4));
    const next = await all(shop.policy, { query: ill, epsilon: 100000, acceptNoProtection: true });
    expect(next.map(({ replayed }) => replayed)).toEqual([true, true, false]);
    expect(next.slice(0, 2).map(({ tables }) => tables)).toEqual(first.map(({ tables }) => tables));
    const last = await all(shop.policy, { query: ill, epsilon: 100000, through: 4, since: 4, acceptNoProtection: true });
    expect(last.map(({ step, tables }) => [step, tables![0]!.rows[0]!.value])).toEqual([[4, illOn(4)]]);
    expect(await entriesOf(shop)).toHaveLength(4);
  });

  it('a stream remembers the rows of its steps in a file of its owner, by a digest with a salt of its own', async () => {
    const journal = async () => {
      const shop = shopWith(until(3));
      await all(shop.policy, { query: ill, epsilon: 0.1 });
      const [name, ...others] = readdirSync(folder).filter((file) => file.startsWith('steps-'));
      expect(others).toEqual([]);
      const file = join(folder, name!);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const { rows, salt } = JSON.parse(readFileSync(file, 'utf8'));
      await all(shop.policy, { query: ill, epsilon: 0.1, through: 3 });
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ through: 3, salt });
      rmSync(folder, { recursive: true });
      return rows;
    };
    const [first, second] = [await journal(), await journal()];
    expect(first).not.toBe(second);
    expect(first).not.toBe(createHash('sha256').update(`${people};${people};`).digest('hex'));
  });

  it('a stream takes SQL too, over steps of several units', async () => {
    const shop = shopWith(until(9), exact);
    const sql = "SELECT COUNT(*) FROM visits WHERE state = 'ill'";
    const steps = await all(shop.policy, { sql, every: 4, epsilon: 100000, acceptNoProtection: true });
    const sum = (from: number, to: number) =>
      until(to)
        .slice(from - 1)
        .reduce((n, day) => n + illOn(day), 0);
    expect(steps.map(({ units, tables }) => [...units, tables![0]!.rows[0]!.value])).toEqual([
      [1, 4, sum(1, 4)],
      [5, 8, sum(5, 8)],
    ]);
  });

  it.each([
    ['rows', '{ secret: row }'],
    ['persons of many rows', '{ secret: person, unit: person, maxRows: 60 }'],
    ['answers', '{ secret: answer, unit: person }'],
  ])('the running totals are the true totals when there is hardly any noise: %s', async (_, protect) => {
    const shop = shopWith(until(13), { budget: '{ epsilon: 4e9 }', protect });
    const options = {
      query: { kind: 'count', by: ['state'] },
      totals: true,
      through: 12,
      every: 2,
      epsilon: 4e9,
      acceptNoProtection: true,
    } as const;
    const steps = await all(shop.policy, options);
    let total = 0;
    for (const { step, units, totals } of steps) {
      total += illOn(units[0]) + illOn(units[1]);
      expect(totals![0]!.total).toBeCloseTo(total, 3);
      expect(totals![1]!.total).toBeCloseTo(2 * people * step - total, 3);
    }
    expect(steps.map(({ step }) => step)).toEqual(until(6));
  });

  it('running totals are paid for once: later ones are drawn for nothing more, and returned again unchanged', async () => {
    const shop = shopWith(until(5));
    const options = { query: ill, totals: true, horizon: 40, epsilon: 1 } as const;
    const first = await all(shop.policy, options);
    appendFileSync(shop.data, rowsOf(6) + rowsOf(7));
    const next = await all(shop.policy, options);
    expect(next).toHaveLength(6);
    expect(next.slice(0, 4).map(({ totals }) => totals)).toEqual(first.map(({ totals }) => totals));
    expect(next.map(({ replayed }) => replayed)).toEqual([true, true, true, true, false, false]);
    const entries = await entriesOf(shop);
    expect(entries.map(({ profile }) => [...profile.perRecord.keys()][0])).toEqual([
      '*',
      expect.stringMatching(/^once:/),
      expect.stringMatching(/^once:/),
    ]);
    expect(next[0]!.receipt!.guarantee.assumptions.join(' ')).toContain('Everybody knows at which day a record stands.');
    expect(next[3]!.totals![0]!.standardError).toBeGreaterThan(next[0]!.totals![0]!.standardError);
    await all(shop.policy, { ...options, fresh: true });
    expect((await entriesOf(shop)).filter(({ profile }) => profile.perRecord.has(everyRecord))).toHaveLength(2);
  });

  it('a plan of totals is free, and states the errors that the totals then have', async () => {
    const shop = shopWith(until(6));
    const options = { query: ill, order: 'day', totals: true, horizon: 40, epsilon: 1 } as const;
    const plan = await planStream(shop.policy, options);
    expect(plan).toMatchObject({ epsilon: 1, fits: true, totals: { way: 'a noise for each step' } });
    expect(plan.totals!.standardErrors).toHaveLength(40);
    expect(await entriesOf(shop)).toEqual([]);
    const steps = await all(shop.policy, options);
    expect(steps.map(({ totals }) => totals![0]!.standardError)).toEqual(plan.totals!.standardErrors.slice(0, 5));
    const step = await planStream(shop.policy, { query: ill, order: 'day', epsilon: 1 });
    expect(step.totals).toBeUndefined();
    expect(step).toMatchObject({ epsilon: 1, budget: { spent: 1 } });
  });

  it('totals are paid for by the steps of the horizon: later steps keep their budget, and a person who could change steps would pay for both', async () => {
    const shop = shopWith(until(13));
    const [first] = await all(shop.policy, { query: ill, totals: true, horizon: 10, epsilon: 4 });
    const { perRecord } = first!.receipt!.profile;
    const costOf = (part: RegExp) => Object.entries(perRecord).find(([name]) => part.test(name))?.[1];
    expect([costOf(/^\*$/), costOf(/^sliced:day#/), costOf(/^slice:day#[^:]*:1\.\.10$/)]).toEqual(['8', '8', '4']);
    const policy = await readPolicy(shop.policy);
    const [engine, ledger] = [await openEngine(policy), await openLedger(policy.ledger)];
    const session = await createSession({ policy, engine, ledger });
    const on = (day: number) => ({ ...ill, where: [...ill.where, { column: 'day', op: '=', value: day }] });
    await session.release(on(11), { epsilon: '4' });
    await session.release({ ...ill, where: [...ill.where, { column: 'day', op: '>', value: 11 }] }, { epsilon: '4' });
    for (const day of [1, 10, 11]) await expect(session.release(on(day), { epsilon: '0.01' })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' }); // biome-ignore format: one line
    expect(await session.privacyLoss()).toBe(4);
    await ledger.close();
    await engine.close();
    // A new horizon over the same steps has nothing left.
    expect((await faultOf(all(shop.policy, { query: ill, totals: true, horizon: 12, epsilon: 0.1 }))).code).toBe(
      'BUDGET_EXCEEDED',
    );
  });

  it.each([
    ['{ epsilon: 4 }', 2],
    ['{ epsilon: 4, delta: 1e-6 }', 4],
  ])(
    'totals are reserved for those who keep another public column as for those who may change their step: budget %s',
    async (budget, more) => {
      const early = { column: 'came', op: '<=', value: 5 } as const;
      const shop = shopWith(until(13), { budget, day: '{ type: integer, bounds: [1, 9000], public: true }' });
      const [first] = await all(shop.policy, { query: { ...ill, where: [...ill.where, early] }, totals: true, epsilon: 1 });
      const { perRecord } = first!.receipt!.profile;
      const costOf = (part: RegExp) => toNumber(parseRational(Object.entries(perRecord).find(([name]) => part.test(name))![1]));
      const all9000 = costOf(/^\*$/);
      expect(costOf(/^slice:came#[^:]*:1\.\.5$/)).toBe(all9000);
      // By the step, and by both columns together, a record stays at its step.
      expect(costOf(/^slice:day#[^:]*:1\.\.$/) * more).toBeCloseTo(all9000, 4);
      expect(costOf(/^slice:came#[^:]*:day#[^:]*:1\.\.5;1\.\.$/) * more).toBeCloseTo(all9000, 4);
    },
  );

  it('the noise of totals by another public column fits those who keep both', async () => {
    const shop = shopWith(until(3));
    const [first] = await all(shop.policy, { query: { kind: 'count', by: ['came'] }, totals: true, horizon: 3, epsilon: 1 });
    const { noise } = first!.receipt!.measures[0]!;
    expect(noise).toMatchObject({ kind: 'laplace', scale: '1' });
  });

  it('totals hold zeros where no step of the horizon is in the query', async () => {
    const { policy } = shopWith(until(4));
    const later = { kind: 'count', where: [{ column: 'day', op: '>', value: 8 }] } as const;
    const steps = await all(policy, { query: later, totals: true, horizon: 5, epsilon: 1 });
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3]);
    const { perRecord } = steps[0]!.receipt!.profile;
    // Persons who could come at any day pay, and nobody who stays where they are.
    expect(Object.keys(perRecord).map((name) => name.split(':')[0])).toEqual(['*', 'sliced', 'sliced']);
  });

  it('totals along a chain are charged what their steps leak, and take by default what every step may spend for ever', async () => {
    const dependence = '[{ kind: sequence, by: person, order: day, state: state, transition: daily.json }]';
    const shop = shopWith(until(13), { protect: '{ secret: step }', budget: '{ epsilon: 1, per: step }', dependence });
    writeFileSync(join(folder, 'daily.json'), '[[0.8, 0.2], [0.2, 0.8]]');
    const options = { query: ill, order: 'day', totals: true, horizon: 20 } as const;
    const plan = await planStream(shop.policy, options);
    const [first] = await all(shop.policy, options);
    const steps = Object.entries(first!.receipt!.profile.perRecord).find(([name]) => /^slice:day#[^:]*:1\.\.20$/.test(name));
    expect(toNumber(parseRational(steps![1]))).toBeCloseTo(plan.steady!.each, 9);
    expect(plan).toMatchObject({ fits: true, parts: [{ column: 'day', from: 1, to: 20 }] });
  });

  it('totals cost more if a person may come at any step', async () => {
    const scaleOf = async (protect: string) => {
      const shop = shopWith(until(3), { protect });
      const [first] = await all(shop.policy, { query: ill, totals: true, horizon: 3, through: 3, epsilon: 1 });
      const noise = first!.receipt!.measures[0]!.noise;
      return noise.kind === 'laplace' ? noise.scale : '';
    };
    // A row changes one count by one; two rows of a person leave two steps and enter two others.
    expect(await scaleOf('{ secret: row }')).toBe('1');
    expect(await scaleOf('{ secret: person, unit: person, maxRows: 2 }')).toBe('4');
  });

  it('totals have Gaussian noise where there is a delta, and under ties', async () => {
    const shop = shopWith(until(5), {
      budget: '{ epsilon: 1, delta: 1e-6 }',
      dependence: '[{ kind: groups, by: person, column: state, oddsRatio: 1.1 }]',
      day: '{ type: integer, bounds: [1, 9000], public: true }',
    });
    const [first] = await all(shop.policy, { query: ill, totals: true, epsilon: 1 });
    // Also when all the budget is gone with it.
    expect((await all(shop.policy, { query: ill, totals: true, epsilon: 1 }))[0]!.totals).toEqual(first!.totals);
    expect(first!.receipt!.why).toContain('fading memories');
    expect(first!.receipt!.profile.noise).toBe('zcdp');
  });

  it('noise in advance is drawn only if paid for, at its own price, and no part twice', async () => {
    const shop = shopWith(until(5));
    const policy = await readPolicy(shop.policy);
    const [engine, ledger] = [await openEngine(policy), await openLedger(policy.ledger)];
    const session = await createSession({ policy, engine, ledger });
    const noise = (epsilon: string) =>
      additiveMechanism(
        { name: 'n', cells: 9, sensitivity: sensitivityOn([everyRecord], { l1: 1n, l2squared: 1n }) },
        pure(parseRational(epsilon)),
      );
    const mechanism = noise('1/4');
    const part = (canonical: string, over: object = {}) =>
      session.charge<string[]>({
        canonical: 'part',
        label: 'part',
        mechanisms: [],
        reading: {},
        prepaid: { key: requestKeys(policy)(canonical).key, mechanisms: [mechanism], part: 0 },
        execute: async (_, paid) => mechanism.prepare(paid, 1)([0n]).map(String),
        ...over,
      });
    expect((await faultOf(part('paid'))).code).toBe('LEDGER_MISMATCH');
    await session.charge({
      canonical: 'paid',
      label: 'paid',
      mechanisms: [mechanism],
      reading: {},
      execute: async () => 'nothing yet',
    });
    const { answer } = await part('paid');
    expect((await part('paid')).answer).toEqual(answer);
    const cheaper = noise('1/2');
    expect(
      (await faultOf(part('paid', { prepaid: { key: requestKeys(policy)('paid').key, mechanisms: [cheaper], part: 1 } }))).code,
    ).toBe('LEDGER_MISMATCH');
    // The same part under other words: as if its record had been lost.
    expect((await faultOf(part('paid', { canonical: 'part again' }))).code).toBe('BUDGET_EXCEEDED');
    await expect(part('paid', { fresh: true })).rejects.toThrow();
    expect((await ledger.entries('ward')).length).toBe(2);
    await ledger.close();
    await engine.close();
  });

  const wrong: readonly [string, readonly number[], StreamOptions, RegExp, { day?: string }?][] = [
    ['a step without rows', [1, 2, 4], { query: ill }, /Step 3 .* has no rows/],
    ['rows beyond the bounds', [1, 2, 61], { query: ill }, /stand at no step/],
    ['a column that is not public', [1, 2], { query: ill }, /not declared public/, { day: '{ type: integer, bounds: [1, 60] }' }],
    ['no order', [1, 2], { query: ill, order: undefined }, /which column puts the rows in order/],
    ['totals of a mean', [1, 2], { query: { kind: 'mean', column: 'day' }, totals: true }, /adds up/],
    ['totals of different values', [1, 2], { query: { kind: 'distinct', column: 'day' }, totals: true }, /adds up/],
    [
      'totals of what is worked out row by row',
      [1, 2],
      { query: { kind: 'sum', column: 'd', derive: { d: { op: '*', of: ['day', 2] } } }, totals: true },
      /adds up/,
    ],
    [
      'totals of what is calculated',
      [1, 2],
      { query: { kind: 'formula', parts: { n: { kind: 'count' } }, of: { op: '*', of: ['n', 2] } }, totals: true },
      /adds up/,
    ],
    ['a horizon beyond the bounds', [1, 2], { query: ill, totals: true, horizon: 61 }, /room for 60 steps/],
    ['a step told anew', [1, 2], { query: ill, fresh: true }, /not counted again/],
    ['late rows without saying when they came', [1, 2], { query: ill, late: 'next' }, /when that was/],
  ];
  it.each(wrong)('the stream refuses %s, and spends nothing', async (_, days, options, words, more = {}) => {
    const shop = shopWith(days, more);
    const { message, outcome } = await faultOf(all(shop.policy, options));
    expect(message).toMatch(words);
    expect(outcome?.state ?? 'not spent').toBe('not spent');
    expect(await entriesOf(shop)).toEqual([]);
  });

  const sequence = '[{ kind: sequence, by: person, order: day, state: state, transition: daily.json }]';
  const mixing = '[[0.8, 0.2], [0.2, 0.8]]';
  const badSequences: readonly [string, string, Parameters<typeof shopWith>[1], string, RegExp][] = [
    ['rows that do not sum to 1', '[[0.8, 0.3], [0.2, 0.8]]', {}, '', /sum to 1/],
    ['two rows of one person at one step', mixing, {}, 'p0,2,ill,2\n', /order|same|twice|one time/],
    ['a row without a step', mixing, {}, 'p0,,ill,2\n', /step|order/i],
    ['a gap', mixing, {}, rowsOf(5), /Step 4 .* has no rows/],
    [
      'states that are never left, with a budget per step',
      '[[1, 0], [0.2, 0.8]]',
      { budget: '{ epsilon: 1, per: step }' },
      '',
      /for ever/,
    ],
    [
      'a window and steps that are skipped',
      mixing,
      { protect: '{ secret: step, window: 2 }' },
      'q,1,ill,1\nq,3,ill,3\n',
      /skips steps/,
    ],
  ];
  it.each(badSequences)(
    'a stream along a sequence refuses %s, steps and totals, and spends nothing',
    async (_, transition, more, rows, words) => {
      for (const totals of [false, true]) {
        const shop = shopWith(until(3), { protect: '{ secret: step }', dependence: sequence, ...more });
        writeFileSync(join(folder, 'daily.json'), transition);
        appendFileSync(shop.data, rows);
        const { message, outcome } = await faultOf(all(shop.policy, { query: ill, totals, ...(totals && { horizon: 10 }) }));
        expect(message).toMatch(words);
        expect(outcome?.state ?? 'not spent').toBe('not spent');
        expect(await entriesOf(shop)).toEqual([]);
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );

  it('a stream is the same for any order of the rows', async () => {
    const shop = shopWith([3, 1, 4, 2], exact);
    const steps = await all(shop.policy, { query: ill, epsilon: 100000, acceptNoProtection: true });
    expect(steps.map(({ step, tables }) => [step, tables![0]!.rows[0]!.value])).toEqual(
      [1, 2, 3].map((day) => [day, illOn(day)]),
    );
  });

  it('a stream takes steps without rows as empty on request', async () => {
    const shop = shopWith([1, 3, 4], exact);
    const steps = await all(shop.policy, { query: ill, gaps: 'empty', epsilon: 100000, acceptNoProtection: true });
    expect(steps.map(({ tables }) => tables![0]!.rows[0]!.value)).toEqual([illOn(1), 0, illOn(3)]);
  });

  it('rows that arrive for a released step are refused, or counted when they arrive', async () => {
    const shop = shopWith(until(4), exact);
    const options = { query: ill, epsilon: 100000, acceptNoProtection: true } as const;
    await all(shop.policy, options);
    const before = (await entriesOf(shop)).length;
    appendFileSync(shop.data, `p9,2,ill,4\n${rowsOf(5)}`);
    expect((await faultOf(all(shop.policy, options))).message).toContain('released already');
    expect(await entriesOf(shop)).toHaveLength(before);
    const next = await all(shop.policy, { ...options, late: 'next', arrived: 'came' });
    expect(next.map(({ tables }) => tables![0]!.rows[0]!.value)).toEqual([illOn(1), illOn(2), illOn(3), illOn(4) + 1]);
    appendFileSync(shop.data, 'p9,5,ill,4\n');
    expect((await faultOf(all(shop.policy, { ...options, late: 'next', arrived: 'came' }))).message).toContain('came in before');
  });
});

describe('a stream that is killed', () => {
  beforeAll(() => builtOnce());
  const kills = Number(process.env.FUGU_STREAM_KILLS ?? 2);

  /** Output before the process was killed after so many milliseconds; all of it if the process was quicker. */
  const killedAfter = (wait: number | undefined, words: readonly string[]): Promise<string[]> =>
    new Promise((done) => {
      const child = spawn(process.execPath, [mainFile, 'stream', 'visits.yaml', ...words], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      let out = '';
      child.stdout.on('data', (text) => {
        out += text;
        // From the first line on it is in the middle of its work.
        if (wait === undefined) child.kill('SIGKILL');
        else setTimeout(() => child.kill('SIGKILL'), wait);
      });
      child.on('exit', () => done(out.split('\n').slice(0, -1)));
    });
  const stepsIn = (lines: readonly string[]) =>
    new Map(lines.map((line) => JSON.parse(line)).map(({ step, totals, tables }) => [step, JSON.stringify(totals ?? tables)]));

  it('a killed stream goes on in the middle of totals that were not all delivered, and delivers them unchanged', async () => {
    const days = 2500;
    const shop = shopWith(until(days + 1), { day: `{ type: integer, bounds: [1, ${days + 1}], public: true }` });
    const words = ['--every', 'day', '--order', 'day', '--query', JSON.stringify(ill), '--json', '--totals', '--epsilon', '1'];
    const before = stepsIn(await killedAfter(undefined, words));
    expect(before.size).toBeGreaterThan(0);
    expect(before.size).toBeLessThan(days);
    const whole = await fugu({ cwd: folder }, 'stream', 'visits.yaml', ...words);
    expect(whole).toMatchObject({ code: 0, err: expect.any(String) });
    const after = stepsIn(whole.out.trim().split('\n'));
    expect(after.size).toBe(days);
    for (const [step, text] of before) expect(after.get(step)).toBe(text);
    expect((await entriesOf(shop)).filter(({ profile }) => profile.perRecord.has(everyRecord))).toHaveLength(1);
  });

  it.each([
    ['steps', ['--epsilon', '1/16'], 16],
    ['steps as they come', ['--epsilon', '1/16', '--follow', '0.05'], 16],
    ['totals', ['--epsilon', '1', '--totals', '--horizon', '40'], 1],
    ['totals of late rows', ['--epsilon', '1', '--totals', '--horizon', '40', '--late', 'next', '--arrived', 'came'], 1],
  ] as const)('a killed stream goes on without paying or drawing twice: %s', async (_, how, paying) => {
    const shop = shopWith(until(5));
    const words = ['--every', 'day', '--order', 'day', '--query', JSON.stringify(ill), '--json', ...how];
    const steps = new Map<number, string>();
    for (let k = 0; k < kills; k++) {
      for (const [step, text] of stepsIn(await killedAfter((k * 37) % 90, words))) {
        expect(steps.get(step) ?? text).toBe(text);
        steps.set(step, text);
      }
      appendFileSync(shop.data, rowsOf(6 + 2 * k) + rowsOf(7 + 2 * k));
    }
    const once = words.filter((word, k) => word !== '--follow' && words[k - 1] !== '--follow');
    const whole = await fugu({ cwd: folder }, 'stream', 'visits.yaml', ...once, '--through', '16', '--gaps', 'empty');
    expect(whole).toMatchObject({ code: 0, err: expect.any(String) });
    const undisturbed = stepsIn(whole.out.trim().split('\n'));
    expect(undisturbed.size).toBe(16);
    for (const [step, text] of steps) expect(undisturbed.get(step)).toBe(text);
    expect((await entriesOf(shop)).filter(({ profile }) => profile.perRecord.has(everyRecord))).toHaveLength(paying);
  });
});

describe('a stream that follows a file which somebody is writing', () => {
  const following = async (shop: Shop, last: number, write: (step: number) => void) => {
    const { followWith } = await import('../src/app/api/stream-follow.js');
    const steps: (readonly [number, number | null])[] = [];
    const options = { query: ill, order: 'day', epsilon: 100000, acceptNoProtection: true } as const;
    for await (const { step, tables } of followWith(shop.policy, options, {}, 0.05)) {
      steps.push([step, tables![0]!.rows[0]!.value]);
      if (step === last) return steps;
      write(step);
    }
    return steps;
  };

  it('the stream waits for the rest of a line, at which one look ends', async () => {
    const cut = shopWith(until(2), exact);
    appendFileSync(cut.data, 'p9,3,we');
    expect((await faultOf(all(cut.policy, { query: ill, epsilon: 1 }))).code).toMatch(/^DATA/);
    rmSync(folder, { recursive: true });
    const shop = shopWith(until(2), exact);
    // The end of a line is still to come: as it stands it lacks cells, or would be another day.
    const steps = await following(shop, 4, (step) => {
      if (step > 1) return;
      const last = rowsOf(5);
      appendFileSync(shop.data, 'p9,3,we');
      setTimeout(() => appendFileSync(shop.data, `ll,3\n${rowsOf(3)}${rowsOf(4)}${last.slice(0, -20)}`), 300);
      setTimeout(() => appendFileSync(shop.data, last.slice(-20)), 600);
    });
    expect(steps.map(([, value]) => value)).toEqual([1, 2, 3, 4].map(illOn));
    expect(await entriesOf(shop)).toHaveLength(4);
  });

  it('the stream finds the end of a line even if every letter has two bytes', async () => {
    const shop = shopWith(until(3), exact);
    writeFileSync(shop.data, Buffer.from(`\ufeff${readFileSync(shop.data, 'utf8')}`, 'utf16le'));
    writeFileSync(shop.policy, readFileSync(shop.policy, 'utf8').replace('visits.csv', 'visits.csv, encoding: utf-16'));
    const waits = vi.spyOn(globalThis, 'setTimeout');
    expect((await following(shop, 2, () => undefined)).map(([, value]) => value)).toEqual([1, 2].map(illOn));
    // Fifty times it would have waited for the rest of the last line.
    expect(waits.mock.calls.filter(([, milliseconds]) => milliseconds === 100).length).toBeLessThan(25);
    waits.mockRestore();
  });

  it.each([
    ['cut off', (shop: Shop) => truncateSync(shop.data, 22)],
    ['another one', (shop: Shop) => writeFileSync(shop.data, `person,day,state,came\n${until(4).map((day) => rowsOf(day, 2)).join('')}`)], // biome-ignore format: one line
  ])('the stream releases no step of a file that has lost it between two steps, and pays for none: %s', async (_, change) => {
    const shop = shopWith(until(5), exact);
    const error = await faultOf(following(shop, 9, (step) => step === 2 && change(shop)));
    expect(error.code).toBe('DATA_MALFORMED');
    expect(await entriesOf(shop)).toHaveLength(2);
  });

  it('the stream goes on with rows that arrived between two steps', async () => {
    const shop = shopWith(until(3), exact);
    const steps = await following(shop, 5, (step) => step === 1 && appendFileSync(shop.data, [4, 5, 6].map((day) => rowsOf(day)).join(''))); // biome-ignore format: one line
    expect(steps.map(([, value]) => value)).toEqual(until(5).map(illOn));
  });

  it('the stream ends with the fault of a file at rest, and has spent nothing for it', async () => {
    const shop = shopWith(until(3), exact);
    const error = await faultOf(following(shop, 9, (step) => step === 2 && appendFileSync(shop.data, 'p0,4,ill,4,5,6\n')));
    expect(error.code).toMatch(/^DATA/);
    expect(await entriesOf(shop)).toHaveLength(2);
  });
});
