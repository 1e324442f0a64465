import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Fault } from '../../src/base/errors.js';
import { rational, toText } from '../../src/base/exact/rational.js';
import { PostgresConnection } from '../../src/data/engine/postgres/connection.js';
import type { Ledger, SpendEntry } from '../../src/release/ledger/ledger.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { askingOfAnn, spentByAnalyst } from '../ledger-folder.js';
import { LedgerTown } from './ledger-server.js';
import { server } from './town.js';

/** End of the session: before the server receives a statement, before its answer arrives (also for two in a row), or after that. */
const moments = ['unheard', 'unanswered', 'unanswered twice', 'afterwards'] as const;
type Moment = (typeof moments)[number];
const lost = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });

describe.skipIf(!server)('a ledger session that ends at any statement', () => {
  let town: LedgerTown;
  let owner: pg.Client;
  beforeAll(async () => {
    town = await LedgerTown.open();
    owner = new pg.Client({ host: '127.0.0.1', port: town.server.port, user: 'owner', password: town.server.owner, database: 'postgres' }); // biome-ignore format: one line
    await owner.connect();
  });
  afterAll(async () => {
    await owner?.end();
    town?.close();
  });
  afterEach(() => void vi.restoreAllMocks());

  /** Ends the session and waits until it is gone. */
  const end = async (connection: PostgresConnection): Promise<void> => {
    const pid = Number(connection.name.replace('pid ', ''));
    const { rows } = await owner.query('SELECT pg_terminate_backend($1, 30000) AS gone', [pid]);
    expect(rows).toEqual([{ gone: true }]);
    connection.destroy();
  };

  /** Every statement that is sent from now on, in order; the session ends at one of them. */
  function watch(at?: number, moment?: Moment): readonly string[] {
    const statements: string[] = [];
    const { runAll, query } = PostgresConnection.prototype;
    const cut = async <T>(connection: PostgresConnection, sql: string, send: () => Promise<T>): Promise<T> => {
      statements.push(sql);
      const due = statements.length === at || (moment === 'unanswered twice' && statements.length === at! + 1);
      if (!due) return send();
      if (moment === 'unheard') await end(connection);
      const answer = await send();
      await end(connection);
      if (moment === 'afterwards') return answer;
      throw lost();
    };
    vi.spyOn(PostgresConnection.prototype, 'runAll').mockImplementation(function (this: PostgresConnection, sql: string) {
      return cut(this, sql, () => runAll.call(this, sql));
    });
    vi.spyOn(PostgresConnection.prototype, 'query').mockImplementation(function (this: PostgresConnection, statement) {
      return cut(this, statement.sql, () => query.call(this, statement));
    });
    return statements;
  }

  type Settled<T> = { readonly value: T } | { readonly fault: Fault };
  const settle = <T>(work: Promise<T>): Promise<Settled<T>> =>
    work.then(
      (value) => ({ value }),
      (fault: unknown) => {
        expect(fault).toBeInstanceOf(Fault);
        return { fault: fault as Fault };
      },
    );

  /** As in a release: recorded answers are returned again, reservations without an answer are resumed. */
  const booking = (key: string) => askingOfAnn({ key, resumable: true, unlessRecorded: true });
  /** Two reservations by two analysts, one of them answered, with queries in between. */
  async function use(ledger: Ledger) {
    const first = await settle(ledger.reserve(booking('a')));
    const answered = 'value' in first ? await settle(ledger.commit(first.value, 'answer')) : undefined;
    const replayed = await settle(ledger.replay('town', 'a'));
    const second = await settle(ledger.reserve({ ...booking('b'), analyst: 'bob' }));
    const spent = await settle(spentByAnalyst(ledger));
    return { first, answered, replayed, second, spent };
  }

  /** Answers that were delivered must be in the ledger; entries in the ledger were not reported as absent. */
  async function compare({ first, answered, replayed, second, spent }: Awaited<ReturnType<typeof use>>): Promise<string[]> {
    const ledger = await openLedger(town.address());
    try {
      const entries = await ledger.entries('town');
      const wrong: string[] = [];
      const look = (name: string, key: string, booked: Settled<SpendEntry>) => {
        const found = entries.filter((entry) => entry.key === key);
        if (found.length > 1) wrong.push(`${name} is booked twice`);
        if ('value' in booked && found[0]?.hash !== booked.value.hash) wrong.push(`${name} was told as booked and is not there`);
        if ('value' in booked) return;
        const { state } = booked.fault.outcome ?? {};
        if (state === undefined) wrong.push(`${name}: nobody says whether it was spent`);
        if (state === 'not spent' && found.length > 0) wrong.push(`${name} was told as not spent and is there`);
        if (state === 'spent' && found.length === 0) wrong.push(`${name} was told as spent, though the server could be asked`);
      };
      look('the first', 'a', first);
      look('the second', 'b', second);
      const kept = await ledger.replay('town', 'a');
      if (answered && 'value' in answered && kept?.answer !== 'answer') wrong.push('an answer that was recorded is lost');
      if ('value' in replayed && replayed.value && replayed.value.answer !== kept?.answer)
        wrong.push('an answer was told that is not recorded');
      if (kept && !entries.some(({ hash }) => hash === kept.entry.hash)) wrong.push('an answer of nothing that was paid for');
      const total = toText(rational(entries.length, 10));
      if ((await spentByAnalyst(ledger)) !== total) wrong.push('the total is not that of the entries');
      if ('value' in spent && spent.value !== total) wrong.push('another total was told');
      const { ok, entries: counted } = await ledger.verify();
      if (!ok || counted !== entries.length) wrong.push('the chain does not verify');
      return wrong;
    } finally {
      await ledger.close();
    }
  }

  it.each(moments)(
    '%s: no answer without a reservation is returned, nothing is lost, and the next session goes on',
    async (moment) => {
      await town.empty();
      await (await openLedger(town.address())).close();
      let ledger = await openLedger(town.address());
      const all = watch();
      await use(ledger);
      await ledger.close();
      vi.restoreAllMocks();
      expect(all.filter((sql) => sql === 'COMMIT').length).toBeGreaterThanOrEqual(5);
      const wrong: string[] = [];
      const ways = new Map<string, number>();
      for (let at = 1; at <= all.length; at++) {
        await town.empty();
        ledger = await openLedger(town.address());
        const statements = watch(at, moment);
        const done = await use(ledger);
        vi.restoreAllMocks();
        expect(statements.length).toBeGreaterThanOrEqual(at);
        const what = `${moment} at ${at}, ${statements[at - 1]!.slice(0, 60)}`;
        wrong.push(...(await compare(done)).map((how) => `${what}: ${how}`));
        for (const [name, one] of Object.entries(done))
          if (one && 'fault' in one) {
            const how = `${name}: ${one.fault.code} ${one.fault.outcome?.state ?? ''}`;
            ways.set(how, (ways.get(how) ?? 0) + 1);
          }
        // The same ledger goes on, and pays for nothing twice.
        const again = await use(ledger);
        for (const [name, one] of Object.entries(again))
          if (one && 'fault' in one) wrong.push(`${what}: later, ${name} is ${one.fault.code}`);
        wrong.push(...(await compare({ ...done, ...again })).map((how) => `${what}: later, ${how}`));
        await ledger.close();
      }
      console.log(
        `${moment}: ${all.length} statements; ${[...ways].map(([how, times]) => `${how} x ${times}`).join(', ') || 'nobody noticed'}`,
      );
      expect(wrong).toEqual([]);
    },
    600_000,
  );

  it('a ledger whose creation was cut is created by the next session', async () => {
    await town.empty();
    const all = watch();
    await (await openLedger(town.address())).close();
    vi.restoreAllMocks();
    for (const moment of ['unheard', 'unanswered'] as const)
      for (let at = 1; at <= all.length; at++) {
        await town.empty();
        watch(at, moment);
        const first = await settle(openLedger(town.address()));
        vi.restoreAllMocks();
        if ('value' in first) await first.value.close();
        else expect(first.fault.code).toBe('LEDGER_BUSY');
        const ledger = await openLedger(town.address());
        const done = await use(ledger);
        expect([moment, at, await compare(done), done.spent]).toEqual([moment, at, [], { value: '1/5' }]);
        await ledger.close();
      }
    console.log(`${all.length} statements make a ledger`);
  });
});
