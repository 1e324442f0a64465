import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { RateLimiter } from '../src/app/service/turns.js';
import type { Ledger } from '../src/release/ledger/ledger.js';
import { faultOf } from './fault.js';
import { createSession, openEngine, openLedger, readPolicy } from './inside.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-clock-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  vi.restoreAllMocks();
});

/** Readings of a machine clock that is changed while we look at it. */
const hour = 3_600_000;
const clocks: Readonly<Record<string, (look: number) => number>> = {
  'runs backwards': (look) => -look * hour,
  'is a day further at every look': (look) => look * 24 * hour,
  'is set to and fro': (look) => (look % 2 === 0 ? 1 : -1) * look * hour,
  'stands still': () => 0,
};
function move(how: (look: number) => number): void {
  const from = Date.now();
  let looks = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => from + how(looks++));
}

async function opened(name: string) {
  const file = (ext: string) => join(folder, `${name.replaceAll(' ', '-')}.${ext}`);
  writeFileSync(file('csv'), `party\n${'dem\nrep\n'.repeat(50)}`);
  writeFileSync(
    file('yaml'),
    `data: { source: ${JSON.stringify(file('csv'))} }\nprotect: { secret: row }\nbudget: { epsilon: 1000000 }\npopulation: ${name.replaceAll(' ', '-')}\nledger: ${JSON.stringify(file('db'))}\ndependence: none\ncolumns:\n  party: { type: category, values: [dem, rep] }\n`,
  );
  const policy = await readPolicy(file('yaml'));
  const [engine, ledger] = [await openEngine(policy, { deadline: 600_000, release: 600_000 }), await openLedger(policy.ledger)];
  const session = (own: Ledger = ledger) => createSession({ policy, engine, ledger: own });
  const close = async () => {
    await ledger.close();
    await engine.close();
  };
  return { policy, ledger, session, close };
}
const request = { kind: 'histogram', column: 'party' } as const;
const costing = { epsilon: '10000' } as const;

describe.each(Object.entries(clocks))('a clock that %s during a release', (name, how) => {
  it('the clock changes neither answer nor ledger: the same request gets the recorded answer, free', async () => {
    const { ledger, session, close, policy } = await opened(name);
    move(how);
    const own = await session();
    const first = await own.release(request, costing);
    expect(first.tables[0]!.rows.map(({ value }) => value)).toEqual([50, 50, 0]);
    expect((await own.release(request, costing)).receipt.ledger).toMatchObject({ replayed: true });
    await own.release(request, { ...costing, fresh: true });
    expect(await ledger.entries(policy.population)).toHaveLength(2);
    expect((await ledger.verify()).ok).toBe(true);
    await close();
  });

  it('the clock does not hide a reservation that failed', async () => {
    const { ledger, session, close, policy } = await opened(`${name}, and more`);
    // The entry is reserved, and an unexpected error comes back.
    const broken = new Proxy(ledger, {
      get(target, key) {
        const value = Reflect.get(target, key, target) as unknown;
        if (typeof value !== 'function') return value;
        if (key !== 'reserve') return value.bind(target);
        return async (...given: unknown[]) => {
          await value.apply(target, given);
          throw new TypeError('undefined is no function');
        };
      },
    });
    const own = await session(broken);
    move(how);
    const { outcome } = await faultOf(own.release(request, costing));
    const [entry] = await ledger.entries(policy.population);
    expect(outcome).toEqual({ state: 'spent', entry: entry!.sequence, resumable: true });
    await close();
  });
});

describe('durations measured while a process runs', () => {
  it('durations use a clock that nobody sets: a waiting request does not wait for an hour', () => {
    const rate = new RateLimiter(1, 1000);
    expect(rate.wait('a')).toBe(0);
    move(() => -hour);
    expect(rate.wait('a')).toBeLessThan(1);
    expect(rate.wait('a')).toBeLessThan(1);
  });

  /** Modules that may read the time of day, and their purpose; all others measure by `performance.now()`. */
  const messages: readonly RegExp[] = [
    // Times of events, recorded or shown to people.
    /^release\/ledger\/(rescue\/|postgres\/rescue\.ts$|chained-ledger\.ts$|known-data\.ts$)/,
    /^release\/session\/(batch|write-entry|foreign-spending|receipt)\.ts$/,
    /^app\/service\/(answer|drafts|job|jobs|made-policies|writer-lock|sessions|token|routes\/session)\.ts$/,
    // Compared with the time that a file was written.
    /^data\/engine\/data-file\.ts$/,
    /^app\/(cli|report)\//,
  ];
  it('no other module reads the time of day', () => {
    const root = join(import.meta.dirname, '..', 'src');
    const asking = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .filter((file) => /\bDate\.now\b|new Date\(\)/.test(readFileSync(join(root, file), 'utf8')));
    expect(asking.filter((file) => !messages.some((may) => may.test(file)))).toEqual([]);
  });
});
