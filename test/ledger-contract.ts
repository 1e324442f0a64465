import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fault } from '../src/base/errors.js';
import { compare, parseRational, rational, toText } from '../src/base/exact/rational.js';
import { type PrivacyCost, pureCost, zcdpCost } from '../src/privacy/mechanism/privacy-cost.js';
import { answersTo, everyRecord } from '../src/privacy/mechanism/record-class.js';
import { emptyText } from '../src/release/ledger/index/total.js';
import type { Ledger, Reservation, Verification } from '../src/release/ledger/ledger.js';
import { askingOfAnn as asked, failureOf } from './ledger-folder.js';

/** Room for one ledger, which may be opened many times; its tables can be written behind its back. */
export interface LedgerPlace {
  readonly open: (witness?: string) => Promise<Ledger>;
  /** Without opening it. */
  readonly verify: () => Promise<Verification>;
  readonly tamper: (sql: string) => Promise<void>;
  /** A booking takes no more milliseconds of our processor. */
  readonly quick: number;
  readonly close: () => Promise<void>;
}

const terms = { digest: 'd1', summary: 'epsilon 1, secret row' };
const cost = (text: string): PrivacyCost => pureCost([[everyRecord, parseRational(text)]]);
const asking = (over: Partial<Reservation> = {}): Reservation => asked({ terms, ...over });
const limit =
  (text: string): Reservation['admit'] =>
  (after) => {
    if (compare(after.pure.perRecord.get(everyRecord)!, parseRational(text)) > 0)
      throw new Fault('BUDGET_EXCEEDED', 'too much', 'ask less', { details: { limit: text } });
  };
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no fault',
    (error: Fault) => error.code,
  );
const text = async (ledger: Ledger, population = 'town', analyst?: string) =>
  toText((await ledger.spent(population, analyst)).pure.perRecord.get(everyRecord) ?? rational(0));

/** Contract of every ledger, wherever it is stored. */
export function describeLedger(name: string, make: () => LedgerPlace | Promise<LedgerPlace>): void {
  describe(name, () => {
    let place: LedgerPlace;
    beforeEach(async () => {
      place = await make();
    });
    afterEach(() => place.close());

    it('the ledger adds costs exactly and keeps them over a restart', async () => {
      const first = await place.open();
      for (let i = 0; i < 3; i++) await first.reserve(asking({ key: `k${i}` }));
      await first.reserve(asking({ key: 'g', profile: zcdpCost([[answersTo('age'), rational(1, 7)]]) }));
      await first.close();
      const again = await place.open();
      const spent = await again.spent('town');
      expect(toText(spent.pure.perRecord.get(everyRecord)!)).toBe('3/10');
      expect(toText(spent.zcdp.perRecord.get(answersTo('age'))!)).toBe('1/7');
      expect((await again.entries('town')).map((e) => e.key)).toEqual(['k0', 'k1', 'k2', 'g']);
      expect(await again.verify()).toMatchObject({ ok: true, entries: 4 });
    });

    it('a selection of entries equals those of the full list, with who paid', async () => {
      const ledger = await place.open();
      for (let i = 0; i < 7; i++) {
        const entry = await ledger.reserve(asking({ key: `${i % 2 ? 'odd' : 'even'}:${i}`, analyst: `a${i % 3}` }));
        if (i % 2) await ledger.commit(entry, 'told');
        await ledger.reserve(asking({ key: `k${i}`, population: 'village' }));
      }
      const all = await ledger.entries('town');
      for (const { sequence } of [{ sequence: 0 }, ...all, { sequence: 1000 }])
        for (const most of [1, 2, 100]) {
          const later = all.filter((e) => e.sequence > sequence);
          const earlier = all.filter((e) => e.sequence < sequence);
          expect(await ledger.page('town', { after: sequence, most })).toEqual(later.slice(0, most));
          expect(await ledger.page('town', { before: sequence, most })).toEqual(earlier.slice(-most));
        }
      expect(await ledger.keyed('town', 'odd:')).toEqual(all.filter((e) => e.key.startsWith('odd:')));
      expect(await ledger.analysts('town')).toEqual(['a0', 'a1', 'a2']);
      expect([await ledger.page('nowhere', { after: 0, most: 9 }), await ledger.analysts('nowhere')]).toEqual([[], []]);
    });

    it("after every short history, an analyst's spending is the sum of their entries, and entered costs are found by key", async () => {
      let ledger = await place.open();
      const steps: Record<string, (population: string) => Promise<unknown>> = {
        pays: (population) => ledger.reserve(asking({ population, analyst: 'ann', key: 'p', profile: cost('1/3') })),
        // Taken up again where it was not answered: one entry, paid once.
        resumes: (population) =>
          ledger.reserve(asking({ population, analyst: 'bob', key: 'r', profile: cost('1/7'), resumable: true })),
        tells: async (population) => {
          const profile = zcdpCost([[everyRecord, parseRational('1/5')]]);
          const request = asking({ population, analyst: 'ann', key: 't', profile, unlessRecorded: true });
          const entry = await ledger.reserve(request);
          await ledger.commit(entry, 'told');
        },
        enters: (population) => ledger.reserve(asking({ population, analyst: 'cleo', key: 'entered:1', profile: cost('1/11') })),
      };
      const names = Object.keys(steps);
      const histories = names.flatMap((a) => names.flatMap((b) => names.map((c) => [a, b, c])));
      // All of them side by side in one ledger, step by step, opened anew before the last.
      for (const k of [0, 1, 2]) {
        if (k === 2) {
          await ledger.close();
          ledger = await place.open();
        }
        for (const history of histories) await steps[history[k]!]!(history.join());
      }
      const paid = (entries: Awaited<ReturnType<Ledger['entries']>>, noise: PrivacyCost['noise']): string => {
        const costs = entries.filter(({ profile }) => profile.noise === noise).map(({ profile }) => profile.perRecord);
        const each = costs.map((perRecord) => perRecord.get(everyRecord)!);
        const [num, den] = each.reduce(([n, d], cost) => [n * cost.den + cost.num * d, d * cost.den], [0n, 1n]);
        return toText(rational(num, den));
      };
      const total = ({ pure, zcdp }: Awaited<ReturnType<Ledger['spent']>>): readonly string[] =>
        [pure, zcdp].map(({ perRecord }) => toText(perRecord.get(everyRecord) ?? rational(0)));
      for (const history of histories) {
        const population = history.join();
        const entries = await ledger.entries(population);
        const once = (name: string) => (history.includes(name) ? 1 : 0);
        const often = (name: string) => history.filter((step) => step === name).length;
        expect(entries).toHaveLength(often('pays') + once('resumes') + once('tells') + often('enters'));
        for (const analyst of ['ann', 'bob', 'cleo', undefined]) {
          const own = entries.filter((e) => analyst === undefined || e.analyst === analyst);
          expect(total(await ledger.spent(population, analyst))).toEqual([paid(own, 'pure'), paid(own, 'zcdp')]);
        }
        expect(await ledger.analysts(population)).toEqual([...new Set(entries.map((e) => e.analyst))].sort());
        expect(await ledger.keyed(population, 'entered:')).toEqual(entries.filter((e) => e.key.startsWith('entered:')));
        expect(await ledger.page(population, { after: 0, most: 9 })).toEqual(entries);
      }
    });

    it('the ledger remembers whether every release so far was factored over columns', async () => {
      const ledger = await place.open();
      const factored = (key: string, yes: boolean) =>
        ledger.reserve(asking({ key, profile: pureCost([[answersTo('age'), rational(1, 10)]], yes) }));
      await factored('a', true);
      await factored('b', true);
      expect((await ledger.spent('town')).pure.factored).toBe(true);
      expect((await ledger.entries('town'))[0]!.profile).toMatchObject({ factored: true });
      await factored('c', false);
      await factored('d', true);
      expect((await ledger.spent('town')).pure.factored).toBe(false);
    });

    it('a refused admission reserves nothing, not even the account, and its fault is passed through', async () => {
      const ledger = await place.open();
      await expect(ledger.reserve(asking({ admit: limit('1/20') }))).rejects.toMatchObject({
        code: 'BUDGET_EXCEEDED',
        details: { limit: '1/20' },
      });
      expect(await ledger.account('town')).toBeUndefined();
      for (let i = 0; i < 10; i++) await ledger.reserve(asking({ admit: limit('1') }));
      expect(await codeOf(ledger.reserve(asking({ admit: limit('1') })))).toBe('BUDGET_EXCEEDED');
      expect(await text(ledger)).toBe('1');
      expect(await ledger.verify()).toMatchObject({ ok: true, entries: 10 });
    });

    it("admission receives the totals before and after, and the analyst's part", async () => {
      const ledger = await place.open();
      await ledger.reserve(asking({ analyst: 'bob' }));
      const seen: string[] = [];
      await ledger.reserve(
        asking({ admit: (...totals) => void seen.push(...totals.map((t) => toText(t.pure.perRecord.get(everyRecord)!))) }),
      );
      expect(seen).toEqual(['1/5', '1/10', '1/10']);
      expect(await text(ledger, 'town', 'bob')).toBe('1/10');
    });

    it('the ledger keeps one account per population, for all analysts', async () => {
      const ledger = await place.open();
      await ledger.reserve(asking());
      await ledger.reserve(asking({ population: 'city', terms: { digest: 'other', summary: 's' }, profile: cost('2/3') }));
      expect(await text(ledger)).toBe('1/10');
      expect(await text(ledger, 'city')).toBe('2/3');
    });

    it('the ledger refuses a policy with other terms until the account is amended, and the amendment is part of the chain', async () => {
      const ledger = await place.open();
      await ledger.reserve(asking());
      const raised = { digest: 'd2', summary: 'epsilon 2, secret row' };
      await expect(ledger.reserve(asking({ terms: raised }))).rejects.toThrow(/other terms.*: epsilon was 1 and is 2\.$/);
      await ledger.amend('town', raised, 'the board agreed');
      await ledger.reserve(asking({ terms: raised }));
      expect(await codeOf(ledger.reserve(asking()))).toBe('LEDGER_MISMATCH');
      expect(await text(ledger)).toBe('1/5');
      expect(await ledger.verify()).toMatchObject({ ok: true, entries: 2 });
      expect(await codeOf(ledger.amend('nobody', raised, 'x'))).toBe('LEDGER_MISMATCH');
    });

    it('the ledger returns a committed answer, never an uncommitted one, and only for its population and key', async () => {
      const ledger = await place.open();
      const entry = await ledger.reserve(asking());
      expect(await ledger.replay('town', 'k1')).toBeUndefined();
      await ledger.commit(entry, '{"n":41}');
      const found = await ledger.replay('town', 'k1');
      expect(found).toMatchObject({ answer: '{"n":41}', entry: { sequence: entry.sequence, hash: entry.hash, settled: true } });
      expect(await ledger.replay('city', 'k1')).toBeUndefined();
      expect(await ledger.replay('town', 'k2')).toBeUndefined();
      await ledger.commit(entry, '{"n":99}');
      expect((await ledger.replay('town', 'k1'))?.answer).toBe('{"n":41}');
    });

    it('totals stay short over many awkward fractions and are never rounded down', async () => {
      const ledger = await place.open();
      let lower = 0;
      for (let i = 0; i < 60; i++) {
        const den = 1_000_003n + BigInt(i) * 1_009n;
        lower += 1 / Number(den);
        await ledger.reserve(asking({ profile: pureCost([[everyRecord, rational(1n, den)]]) }));
      }
      const total = (await ledger.spent('town')).pure.perRecord.get(everyRecord)!;
      expect(total.den.toString(2).length).toBeLessThan(300);
      expect(Number(total.num) / Number(total.den)).toBeCloseTo(lower, 12);
      expect((await ledger.verify()).ok).toBe(true);
    });

    it('a reservation takes a few milliseconds for any number of entries', async () => {
      const ledger = await place.open();
      for (let i = 0; i < 100; i++) await ledger.reserve(asking({ key: `warm${i}` }));
      // Not by the clock, which others move.
      const before = process.cpuUsage();
      for (let i = 0; i < 50; i++) await ledger.reserve(asking({ key: `k${i}` }));
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000 / 50).toBeLessThan(place.quick);
    });

    it('an entry without an answer is resumed once, and only for the same question under the same terms', async () => {
      const ledger = await place.open();
      const first = await ledger.reserve(asking({ resumable: true }));
      expect(await ledger.unanswered!('town', 'k1')).toMatchObject({ sequence: first.sequence });
      const again = await place.open();
      expect(await again.reserve(asking({ resumable: true, admit: limit('0') }))).toMatchObject({
        sequence: first.sequence,
        hash: first.hash,
        resumed: true,
      });
      expect(await codeOf(again.reserve(asking({ resumable: true, profile: cost('1/9'), admit: limit('1/10') })))).toBe(
        'BUDGET_EXCEEDED',
      );
      expect(await again.commit(first, 'one')).toBe('one');
      expect(await ledger.commit(first, 'two')).toBe('one');
      expect(await ledger.unanswered!('town', 'k1')).toBeUndefined();
      expect(await ledger.reserve(asking({ resumable: true, unlessRecorded: true }))).toMatchObject({ settled: true });
      expect((await ledger.reserve(asking({ resumable: true }))).sequence).toBeGreaterThan(first.sequence);
      expect(await text(again)).toBe('1/5');
    });

    it('the ledger never spends more than the budget, for any number of concurrent requests', async () => {
      const ledgers = await Promise.all([place.open(), place.open()]);
      const asks = Array.from({ length: 24 }, (_, i) =>
        codeOf(ledgers[i % 2]!.reserve(asking({ key: `k${i}`, analyst: `a${i % 3}`, admit: limit('1') }))),
      );
      const codes = await Promise.all(asks);
      expect(codes.toSorted()).toEqual([...Array(14).fill('BUDGET_EXCEEDED'), ...Array(10).fill('no fault')]);
      expect(await text(ledgers[0]!)).toBe('1');
      expect(await ledgers[1]!.verify()).toMatchObject({ ok: true, entries: 10 });
    });

    it('a reservation hands the existing accounts to a check before it opens a new one', async () => {
      const ledger = await place.open();
      await ledger.reserve(asking());
      const seen: (readonly string[])[] = [];
      const opening = (others: readonly string[]) => {
        seen.push(others);
        throw new Fault('LEDGER_MISMATCH', 'a second budget', 'name it');
      };
      expect(await failureOf(ledger.reserve(asking({ population: 'city', opening })))).toMatchObject({
        code: 'LEDGER_MISMATCH',
        outcome: { state: 'not spent' },
      });
      expect(seen).toEqual([['town']]);
      expect(await ledger.account('city')).toBeUndefined();
    });

    it('an amendment sees the account and its entries, and a refusal changes nothing', async () => {
      const ledger = await place.open();
      await ledger.reserve(asking());
      const raised = { digest: 'd2', summary: 'epsilon 2, secret row' };
      const seen: unknown[] = [];
      const refused = ledger.amend('town', raised, 'no', (account, entries) => {
        seen.push(account.terms.digest, entries.length);
        throw new Fault('LEDGER_MISMATCH', 'no', 'no');
      });
      expect(await codeOf(refused)).toBe('LEDGER_MISMATCH');
      expect(seen).toEqual(['d1', 1]);
      expect((await ledger.account('town'))?.terms.digest).toBe('d1');
    });

    it('names and answers are stored unchanged, in any characters', async () => {
      const ledger = await place.open();
      const odd = 'O\'Brien "x" \\ $1 ü 😀 \ud800 \n';
      const entry = await ledger.reserve(asking({ population: odd, analyst: odd, label: odd }));
      await ledger.commit(entry, odd.replace('\ud800', ''));
      const again = await place.open();
      expect((await again.replay(odd, 'k1'))?.answer).toBe(odd.replace('\ud800', ''));
      expect((await again.entries(odd))[0]!.label).toBe(odd);
      expect(await text(again, odd, odd)).toBe('1/10');
      expect((await again.verify()).ok).toBe(true);
    });
  });

  describe(`${name}, damaged`, () => {
    let place: LedgerPlace;
    beforeEach(async () => {
      place = await make();
    });
    afterEach(() => place.close());
    const filled = async () => {
      const ledger = await place.open();
      for (let i = 0; i < 5; i++) await ledger.commit(await ledger.reserve(asking({ key: `k${i}` })), `answer ${i}`);
      await ledger.close();
    };
    const broken = () => place.verify();

    it.each([
      ['a changed cost', `UPDATE link SET body = replace(body, '1/10', '1/99') WHERE sequence = 4`, 4],
      ['a removed entry', 'DELETE FROM link WHERE sequence = 4', 4],
      ['two entries swapped', `UPDATE link SET body = (SELECT body FROM link WHERE sequence = 5) WHERE sequence = 4`, 4],
      ['a key filed under another', `UPDATE link SET key = 'other' WHERE sequence = 3`, 3],
      ['a changed answer', `UPDATE answer SET body = 'answer 9' WHERE of = 2`, 2],
    ])('verify finds the damage: %s', async (_what, sql, at) => {
      await filled();
      await place.tamper(sql);
      expect(await broken()).toMatchObject({ ok: false, brokenAt: at });
    });

    it.each([
      ['a lowered total', `UPDATE account SET totals = replace(totals, '1/2', '1/9')`],
      ['loosened terms', `UPDATE account SET digest = 'd9'`],
      ['a forgotten account', 'DELETE FROM account'],
      ['a lowered analyst total', `UPDATE analyst SET totals = replace(totals, '1/2', '1/9')`],
      ['the newest entry cut off', 'DELETE FROM link WHERE sequence = 11'],
    ])('verify finds the damage: %s', async (_what, sql) => {
      await filled();
      await place.tamper(sql);
      expect((await broken()).ok).toBe(false);
    });

    it.each([
      ['a lowered total', `UPDATE account SET totals = replace(totals, '1/2', '1/9')`],
      ['a forgotten account', 'DELETE FROM account'],
      ['an account as it was at first', `UPDATE account SET totals = '${emptyText}', entries = 0`],
      ['a lowered analyst total', `UPDATE analyst SET totals = replace(totals, '1/2', '1/9')`],
      ['a forgotten analyst', 'DELETE FROM analyst'],
      ['the newest entry changed', `UPDATE link SET body = replace(body, 'answer', 'spend') WHERE sequence = 11`],
    ])('damage stops the next reservation at once: %s', async (_what, sql) => {
      await filled();
      await place.tamper(sql);
      expect(await codeOf(place.open().then((ledger) => ledger.reserve(asking())))).toBe('LEDGER_CORRUPT');
      expect(await codeOf(place.open().then((ledger) => ledger.spent('town', 'ann')))).toBe('LEDGER_CORRUPT');
    });

    it('a changed answer is not returned', async () => {
      await filled();
      await place.tamper(`UPDATE answer SET body = 'answer 9'`);
      expect(await codeOf((await place.open()).replay('town', 'k1'))).toBe('LEDGER_CORRUPT');
    });
  });
}
