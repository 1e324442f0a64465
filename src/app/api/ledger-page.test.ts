import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rational } from '../../base/exact/rational.js';
import { nothingSpent, pureCost } from '../../privacy/mechanism/privacy-cost.js';
import type { SpendEntry } from '../../release/ledger/ledger.js';
import type { PrivacySession } from '../../release/session/session.js';
import { entryPage } from './ledger-page.js';

const entry = (sequence: number, analyst: string): SpendEntry =>
  ({
    sequence,
    analyst,
    population: 'town',
    key: 'k',
    label: 'l',
    profile: pureCost([]),
    relied: [],
    at: 0,
    settled: true,
    hash: 'h',
  }) as SpendEntry;

/** Session with these entries that counts the entries read. */
function sessionOf(all: readonly SpendEntry[]): { readonly session: PrivacySession; readonly read: () => number } {
  let read = 0;
  const page = async (p: { after?: number; before?: number; most: number }) => {
    const found =
      p.after !== undefined
        ? all.filter((e) => e.sequence > p.after!).slice(0, p.most)
        : all.filter((e) => e.sequence < p.before!).slice(-p.most);
    read += found.length;
    return found;
  };
  return {
    session: {
      page,
      spent: async () => nothingSpent,
      account: { epsilon: rational(1), routes: [], source: { isTied: false } },
    } as unknown as PrivacySession,
    read: () => read,
  };
}

describe('a page of the ledger', () => {
  it('paging forwards or backwards returns every entry of an analyst once and in order', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom('ann', 'bob')), { maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom('ann', undefined),
        fc.boolean(),
        async (gaps, most, analyst, backwards) => {
          const all: SpendEntry[] = [];
          for (const [gap, who] of gaps) all.push(entry((all.at(-1)?.sequence ?? 0) + gap, who));
          const { session } = sessionOf(all);
          const sequences: number[] = [];
          let next: number | undefined = backwards ? 1e6 : 0;
          while (next !== undefined) {
            const page = await entryPage(session, { ...(backwards ? { before: next } : { after: next }), most, analyst });
            expect(page.entries.length).toBeLessThanOrEqual(most);
            expect(page.more).toBe(page.next !== undefined);
            const own = page.entries.map((e) => e.sequence);
            if (backwards) sequences.unshift(...own);
            else sequences.push(...own);
            next = page.next;
          }
          expect(sequences).toEqual(all.filter((e) => analyst === undefined || e.analyst === analyst).map((e) => e.sequence));
        },
      ),
    ));

  it("a page continues from the analyst's own entry and does not reveal the positions of other entries", async () => {
    const all = Array.from({ length: 12 }, (_, k) => entry(2 * k + 2, k % 4 === 1 ? 'ann' : 'bob'));
    const { session } = sessionOf(all);
    expect((await entryPage(session, { after: 0, most: 1, analyst: 'ann' })).next).toBe(4);
    expect((await entryPage(session, { after: 4, most: 1, analyst: 'ann' })).next).toBe(12);
    expect((await entryPage(session, { before: 1000, most: 1, analyst: 'ann' })).next).toBe(20);
    expect((await entryPage(session, { before: 20, most: 2, analyst: 'ann' })).next).toBeUndefined();
  });

  it('a page examines at most 2,000 entries, however few of them belong to the analyst', async () => {
    const all = Array.from({ length: 9000 }, (_, k) => entry(k + 1, k === 8999 ? 'ann' : 'bob'));
    const { session, read } = sessionOf(all);
    const first = await entryPage(session, { after: 0, most: 10, analyst: 'ann' });
    expect(first).toEqual({ entries: [], more: true, next: 2000 });
    expect(read()).toBe(2000);
    expect((await entryPage(session, { before: 1e6, most: 10, analyst: 'ann' })).entries.map((e) => e.sequence)).toEqual([9000]);
  });
});
