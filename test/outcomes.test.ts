import { afterEach, describe, expect, it } from 'vitest';
import { releaseKmeans } from '../src/analysis/learn/kmeans/kmeans.js';
import { type PrivacySession, releaseContextOf, PrivacySession as Sessions } from '../src/release/session/session.js';
import type { Engine, Ledger, Outcome } from './inside.js';
import { chooseSurveyBatch, createSession, Fault, OutcomeLog, openEngine, readPolicy } from './inside.js';
import { type MemoryLedger, memoryLedger } from './memory-ledger.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** For every error at every place, the reported state of the budget is the state of the ledger. */
const shops: Workshop[] = [];
const engines: Engine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  for (const shop of shops.splice(0)) shop.remove();
});

async function open(budget = '{ epsilon: 1000 }') {
  const shop = openWorkshop(policyYaml({ budget }), 60);
  shops.push(shop);
  const policy = await readPolicy(shop.policyFile);
  const engine = await openEngine(policy);
  engines.push(engine);
  const ledger = memoryLedger();
  const session = (more: { analyst?: string; outcomes?: OutcomeLog } = {}) =>
    createSession({ policy, engine, ledger, analyst: 'ann', ...more });
  return { shop, policy, engine, ledger, session };
}

type Wrong = (sequence?: number) => unknown;
/** Errors that may be thrown: those of a careful ledger, and unexpected ones. */
const wrongs: Readonly<Record<string, Wrong>> = {
  'a fault of the ledger': (entry) =>
    new Fault(
      'DISK_FAILED',
      'broken',
      'mend',
      entry === undefined ? {} : { outcome: { state: 'spent', entry, resumable: true } },
    ),
  'a full disk': (entry) =>
    new Fault('DISK_FULL', 'full', 'free', entry === undefined ? {} : { outcome: { state: 'spent', entry, resumable: true } }),
  'an error nobody thought of': () => new TypeError('undefined is no function'),
  'a word': () => 'oops',
};

/** Throws at the n-th moment: before and after every call that a request makes of its ledger and its engine. */
function breaking(ledger: Ledger, engine: Engine, at: number, wrong: Wrong) {
  let moment = 0;
  const met: string[] = [];
  const pass = (what: string, sequence?: number): void => {
    met.push(what);
    if (moment++ === at) throw wrong(sequence);
  };
  const wrapped = <T extends object>(inner: T, names: readonly (keyof T & string)[]): T =>
    new Proxy(inner, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (!names.includes(String(name) as keyof T & string)) return value.bind(target);
        return async (...given: unknown[]) => {
          pass(`before ${String(name)}`);
          const result = await value.apply(target, given);
          pass(`after ${String(name)}`, name === 'reserve' ? (result as { sequence: number }).sequence : undefined);
          return result;
        };
      },
    });
  const pinning = wrapped({ snapshot: async () => wrapped(await engine.snapshot(), ['rows', 'columns', 'size']) }, ['snapshot']);
  return {
    met,
    ledger: wrapped(ledger, ['replay', 'reserve', 'commit', 'spentUnder', 'unanswered']),
    engine: {
      snapshot: () => pinning.snapshot(),
      source: engine.source,
      room: engine.room,
      whole: engine.whole,
      without: engine.without.bind(engine),
      close: () => engine.close(),
    } as Engine,
  };
}

interface ReleaseOutcome {
  readonly answered: boolean;
  readonly recorded?: boolean;
  readonly outcome?: Outcome;
}
type Ask = (session: PrivacySession) => Promise<{ receipt: { ledger: { recorded?: false } } }>;
const outcomeWith = async (ask: Ask, session: PrivacySession): Promise<ReleaseOutcome> => {
  try {
    const { receipt } = await ask(session);
    return { answered: true, recorded: receipt.ledger.recorded !== false };
  } catch (error) {
    return { answered: false, ...(error instanceof Fault && error.outcome && { outcome: error.outcome }) };
  }
};

const histogram: Ask = (s) => s.release({ kind: 'histogram', column: 'party' }, { epsilon: '1' });
const medians: Ask = (s) => s.release({ kind: 'quantile', column: 'age', at: [0.5] }, { epsilon: '1' });
const clustersFor = (s: PrivacySession, epsilon: string) => releaseKmeans(s, { columns: ['age'], clusters: 2 }, { epsilon });
const clusters: Ask = (s) => clustersFor(s, '1');
const kinds: Readonly<Record<string, { ask: Ask; resumable: boolean }>> = {
  'a histogram': { ask: histogram, resumable: true },
  'a quantile': { ask: medians, resumable: true },
  'an adaptive analysis': { ask: clusters, resumable: false },
};

/** State of the one request according to the ledger. */
const truth = ({ kept }: MemoryLedger): Outcome => {
  const [entry] = kept;
  if (!entry) return { state: 'not spent' };
  if (entry.answer !== undefined) return { state: 'recorded', entry: entry.sequence };
  return { state: 'spent', entry: entry.sequence, resumable: entry.resumable };
};

describe.each(Object.entries(kinds))('%s that fails at any moment', (_kind, { ask, resumable }) => {
  it.each(Object.entries(wrongs))(
    'a failure by %s reports the true outcome, and a repeated request costs what the report states',
    async (_wrong, wrong) => {
      const { policy, engine } = await open();
      const seen = new Set<string>();
      for (let at = 0; ; at++) {
        const ledger = memoryLedger();
        const broken = breaking(ledger, engine, at, wrong);
        const outcomes = new OutcomeLog();
        const whole = await createSession({ policy, engine, ledger, analyst: 'ann' });
        // A session whose every call may fail; opening it is not part of the request.
        const session = new Sessions({ ...releaseContextOf(whole), engine: broken.engine, ledger: broken.ledger, outcomes });
        const outcome = await outcomeWith(ask, session);
        if (broken.met.length <= at) {
          expect(outcome).toEqual({ answered: true, recorded: true });
          break;
        }
        const where = broken.met[at]!;
        seen.add(where);
        const was = truth(ledger);
        if (outcome.answered) expect(where, 'told though something failed').toMatch(/commit/);
        else if (outcome.outcome !== undefined || was.state !== 'not spent') expect(outcome.outcome, where).toEqual(was);
        if (was.state !== 'not spent' && !outcome.answered) expect(outcomes.whole, where).toEqual(was);
        // An answer that may be resumed is never returned before it is recorded.
        if (resumable && outcome.answered) expect(was.state, where).toBe('recorded');

        const before = ledger.kept.length;
        const again = await outcomeWith(ask, whole);
        expect(again.answered).toBe(true);
        const free = was.state === 'recorded' || (was.state === 'spent' && was.resumable);
        expect(ledger.kept.length - before, where).toBe(free ? 0 : 1);
        if (was.state === 'spent') expect(was.resumable).toBe(resumable);
      }
      for (const name of ['reserve', 'commit', 'replay', 'snapshot']) {
        expect([...seen], 'every moment was met').toContain(`before ${name}`);
        expect([...seen]).toContain(`after ${name}`);
      }
    },
  );
});

describe('the test of outcomes', () => {
  it('the test detects a ledger that reserves in silence, and one that reports a record it does not have', async () => {
    const { ledger, session } = await open();
    const context = releaseContextOf(await session());
    const silent: Ledger = {
      ...ledger,
      reserve: async (r) => {
        await ledger.reserve(r);
        throw new Fault('DISK_FAILED', 'broken', 'mend');
      },
    };
    const outcome = await outcomeWith(histogram, new Sessions({ ...context, ledger: silent }));
    expect(outcome.outcome).not.toEqual(truth(ledger));

    const careless = memoryLedger();
    const forgetful = { ...careless, commit: async (_entry: unknown, text: string) => text };
    expect(await outcomeWith(histogram, new Sessions({ ...context, ledger: forgetful }))).toMatchObject({ answered: true });
    expect(truth(careless).state).toBe('spent');
  });
});

describe('a request whose entry was never answered', () => {
  const failing = (ledger: Ledger): Ledger => ({
    ...ledger,
    commit: () => Promise.reject(new Fault('DISK_FULL', 'full', 'free')),
  });

  it('the request is completed by the same request, even one for all that remains, and by another analyst', async () => {
    for (const options of [{ epsilon: '0.5' }, { all: true }, {}]) {
      const { ledger, session } = await open('{ epsilon: 1 }');
      const query = { kind: 'histogram', column: 'party' };
      const first = await session();
      await first.release({ kind: 'count' }, { epsilon: '0.45' });
      const broken = new Sessions({ ...releaseContextOf(first), ledger: failing(ledger) });
      await expect(broken.release(query, options)).rejects.toMatchObject({
        outcome: { state: 'spent', entry: 2, resumable: true },
      });
      const other = await session({ analyst: 'bob' });
      const plan = await other.plan(query, options);
      expect(plan).toMatchObject({ completes: 2, fits: true });
      const { receipt } = await other.release(query, options);
      expect(receipt.ledger).toMatchObject({ entry: 2, replayed: false, resumed: true });
      expect(ledger.kept).toHaveLength(2);
      expect(ledger.kept[1]).toMatchObject({ analyst: 'ann' });
      expect((await other.release(query, options)).receipt.ledger).toMatchObject({ entry: 2, replayed: true });
      expect((await other.plan(query, options)).completes).toBeUndefined();
    }
  });

  it('two requests that complete it at once get the same answer, and a fresh one pays for its own', async () => {
    const { ledger, session } = await open();
    const query = { kind: 'histogram', column: 'party' };
    const context = releaseContextOf(await session());
    await expect(new Sessions({ ...context, ledger: failing(ledger) }).release(query, { epsilon: '1' })).rejects.toThrow();
    const both = await Promise.all([1, 2].map(async () => (await session()).release(query, { epsilon: '1' })));
    expect(both[0]!.tables).toEqual(both[1]!.tables);
    expect(ledger.kept).toHaveLength(1);

    await expect(
      new Sessions({ ...context, ledger: failing(ledger) }).release(query, { epsilon: '1', fresh: true }),
    ).rejects.toMatchObject({ outcome: { entry: 2, resumable: true } });
    // Alone, a fresh request completes it with the data as it is now.
    const fresh = () => session().then((s) => s.release(query, { epsilon: '1', fresh: true }));
    expect((await fresh()).receipt.ledger).toMatchObject({ entry: 2, resumed: true });
    await expect(
      new Sessions({ ...context, ledger: failing(ledger) }).release(query, { epsilon: '1', fresh: true }),
    ).rejects.toMatchObject({ outcome: { entry: 3 } });
    const two = await Promise.all([fresh(), fresh()]);
    expect(two.map(({ receipt }) => receipt.ledger.entry).sort()).toEqual([3, 4]);
  });

  it('a fresh request never gets an answer that somebody else completed meanwhile: it pays for its own', async () => {
    const { ledger, session } = await open();
    const query = { kind: 'histogram', column: 'party' };
    const context = releaseContextOf(await session());
    await expect(new Sessions({ ...context, ledger: failing(ledger) }).release(query, { epsilon: '1' })).rejects.toThrow();
    let theirs: Awaited<ReturnType<PrivacySession['release']>> | undefined;
    const overtaken: Ledger = {
      ...ledger,
      commit: async (entry, text) => {
        theirs ??= await (await session({ analyst: 'bob' })).release(query, { epsilon: '1' });
        return ledger.commit(entry, text);
      },
    };
    const outcomes = new OutcomeLog();
    const request = (options: object) =>
      new Sessions({ ...context, ledger: overtaken, outcomes }).release(query, { epsilon: '1', ...options });
    const own = await request({ fresh: true });
    expect(theirs!.receipt.ledger).toMatchObject({ entry: 1, resumed: true });
    expect(own.receipt.ledger).toMatchObject({ entry: 2, replayed: false });
    expect(own.tables).not.toEqual(theirs!.tables);
    expect(outcomes.entries).toEqual([{ state: 'recorded', entry: 2 }]);
    // A recorded answer is no answer to a request that must be fresh.
    expect((await request({ fresh: true })).receipt.ledger).toMatchObject({ entry: 3, replayed: false });
    expect((await request({})).receipt.ledger).toMatchObject({ entry: 3, replayed: true });
  });

  it.each([
    ['', {}],
    ['', { all: true }],
    ['delta: 1e-6,', {}],
  ])('the request is completed under another quota than it was reserved under (%s %o)', async (delta, options) => {
    const quotas = (ann: string) => `{ epsilon: 1, ${delta} analysts: { ann: ${ann} } }`;
    const { shop, ledger, engine, session } = await open(quotas('0.05'));
    const query = { kind: 'histogram', column: 'party' };
    const broken = new Sessions({ ...releaseContextOf(await session()), ledger: failing(ledger) });
    await expect(broken.release(query, options)).rejects.toMatchObject({
      outcome: { state: 'spent', entry: 1, resumable: true },
    });
    for (const ann of ['0.5', '0.01']) {
      const policy = await readPolicy(shop.write(`${ann}.yaml`, policyYaml({ budget: quotas(ann) })));
      const later = await createSession({ policy, engine, ledger, analyst: 'ann' });
      const { completes, epsilon } = await later.plan(query, options);
      expect(completes).toBe(1);
      expect(epsilon).toBeCloseTo(0.05, 9);
      if (ann === '0.01') expect((await later.release(query, options)).receipt.ledger).toMatchObject({ entry: 1, resumed: true });
    }
    expect(ledger.kept).toHaveLength(1);
  });

  it('the request gets an answer that somebody else received between the look-up and the reservation', async () => {
    const { ledger, session } = await open();
    const first = await session();
    const { tables } = await first.release({ kind: 'count' }, { epsilon: '1' });
    let looks = 0;
    const late: Ledger = { ...ledger, replay: async (...request) => (looks++ === 0 ? undefined : ledger.replay(...request)) };
    const second = await new Sessions({ ...releaseContextOf(first), ledger: late }).release({ kind: 'count' }, { epsilon: '1' });
    expect([second.tables, second.receipt.ledger.replayed, ledger.kept.length]).toEqual([tables, true, 1]);
  });

  it('the fault states that the request cannot be completed if the ledger knows that an answer is lost', async () => {
    const { ledger, session } = await open();
    const context = releaseContextOf(await session());
    for (const outcome of [
      { state: 'spent', entry: 1, resumable: false },
      { state: 'recorded', entry: 2 },
    ] as const) {
      const lost = { ...ledger, commit: () => Promise.reject(new Fault('DISK_FAILED', 'broken', 'mend', { outcome })) };
      const request = new Sessions({ ...context, ledger: lost }).release({ kind: 'count' }, { epsilon: `${outcome.entry}` });
      await expect(request).rejects.toMatchObject({ outcome });
    }
  });

  it('an adaptive request without a recorded answer is returned all the same, and charged again', async () => {
    const { ledger, session } = await open();
    const s = await session();
    const outcome = await clusters(new Sessions({ ...releaseContextOf(s), ledger: failing(ledger) }));
    expect(outcome.receipt.ledger).toMatchObject({ recorded: false });
    await clusters(s);
    expect(ledger.kept).toHaveLength(2);
  });

  it('the length of a recorded answer discloses no secret', async () => {
    const { ledger, session } = await open('{ epsilon: 1000, delta: 1e-6 }');
    const s = await session();
    const lengths = new Set<number>();
    for (let k = 0; k < 12; k++) {
      await s.release(
        {
          queries: [
            { kind: 'histogram', column: 'party' },
            { kind: 'quantile', column: 'age', at: [0.5] },
            { kind: 'mean', column: 'age' },
          ],
        },
        { epsilon: '0.5', fresh: true },
      );
      const { answer } = ledger.kept.at(-1)!;
      // The text before it is the plan, which is public and includes the budget spent so far.
      lengths.add(answer!.length - answer!.indexOf('"noisy"'));
    }
    expect(lengths.size).toBe(1);
    const plain = new Set(ledger.kept.map(({ answer }) => JSON.stringify(JSON.parse(answer!).noisy).length));
    expect(plain.size, 'without filling up they differ').toBeGreaterThan(1);
  });
});

describe('an epsilon close to zero', () => {
  it.each(['1e-99', '1e-30', '1e-12'])('plans, releases and surveys refuse epsilon %s in words', async (epsilon) => {
    const { policy, session } = await open('{ epsilon: 1 }');
    const s = await session();
    const refused = { code: 'BUDGET_INVALID', message: expect.stringMatching(/billionth/) };
    await expect(s.plan({ kind: 'count' }, { epsilon })).rejects.toMatchObject(refused);
    await expect(s.release({ kind: 'count' }, { epsilon })).rejects.toMatchObject({
      ...refused,
      outcome: { state: 'not spent' },
    });
    await expect(clustersFor(s, epsilon)).rejects.toMatchObject(refused);
    expect(() => chooseSurveyBatch(policy, s.account, { epsilon })).toThrow(/billionth/);
  });
});
