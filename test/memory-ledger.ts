import { nothingSpent, type SpentCosts, spend, toStored } from '../src/privacy/mechanism/privacy-cost.js';
import type { AccountTerms, Ledger, Reservation, SpendEntry } from '../src/release/ledger/ledger.js';
import { spentBy } from '../src/release/session/quota.js';

interface Kept extends SpendEntry {
  readonly digest: string;
  readonly resumable: boolean;
  answer?: string;
}

/** Reference ledger that does what the interface promises and nothing more; tests compare outcomes with it. */
export interface MemoryLedger extends Ledger {
  readonly kept: readonly Kept[];
}

export function memoryLedger(): MemoryLedger {
  const kept: Kept[] = [];
  const terms = new Map<string, AccountTerms>();
  const of = (population: string) => kept.filter((e) => e.population === population);
  const shown = ({ digest: _, resumable: __, answer, ...entry }: Kept): SpendEntry => ({
    ...entry,
    settled: answer !== undefined,
  });
  const same = (a: SpendEntry['profile'], b: SpendEntry['profile']) =>
    JSON.stringify(toStored(a)) === JSON.stringify(toStored(b));
  const open = (population: string, key: string) => of(population).findLast((e) => e.key === key && e.resumable && !e.answer);

  const reserve = (r: Reservation): SpendEntry => {
    const { population, analyst, as, key, label, profile, relied = [], resumable = false } = r;
    const { digest } = r.terms;
    const recorded = of(population).findLast((e) => e.key === key && e.answer !== undefined);
    if (r.unlessRecorded && recorded) return shown(recorded);
    const found = of(population).findLast(
      (e) => e.key === key && e.resumable && e.answer === undefined && e.digest === digest && same(e.profile, profile),
    );
    if (resumable && found) return { ...shown(found), resumed: true };
    const before = spentBy(of(population));
    r.admit(spend(before, profile), before, spend(spentBy(of(population), analyst), profile));
    terms.set(population, r.terms);
    const sequence = kept.length + 1;
    const entry: Kept = {
      sequence,
      population,
      analyst,
      key,
      label,
      profile,
      relied,
      at: Date.now(),
      settled: false,
      hash: `hash ${sequence}`,
      ...(as !== undefined && { as }),
      digest,
      resumable,
    };
    kept.push(entry);
    return shown(entry);
  };

  return {
    kept,
    reserve: async (r) => reserve(r),
    commit: async ({ sequence }, answer) => {
      const entry = kept[sequence - 1]!;
      entry.answer ??= answer;
      return entry.answer;
    },
    replay: async (population, key) => {
      const found = of(population).findLast((e) => e.key === key && e.answer !== undefined);
      return found && { entry: shown(found), answer: found.answer! };
    },
    unanswered: async (population, key) => {
      const found = open(population, key);
      return found && shown(found);
    },
    spent: async (population, analyst) => spentBy(of(population), analyst),
    spentUnder: async ({ population }): Promise<SpentCosts> =>
      of(population).length > 0 ? spentBy(of(population)) : nothingSpent,
    account: async (population) => {
      const known = terms.get(population);
      return known && { population, terms: known, spent: spentBy(of(population)) };
    },
    entries: async (population) => of(population).map(shown),
    page: async (population, { most, ...from }) => {
      const all = of(population).map(shown);
      return 'after' in from
        ? all.filter((e) => e.sequence > from.after).slice(0, most)
        : all.filter((e) => e.sequence < from.before).slice(-most);
    },
    keyed: async (population, prefix) =>
      of(population)
        .filter((e) => e.key.startsWith(prefix))
        .map(shown),
    analysts: async (population) => [...new Set(of(population).map((e) => e.analyst))].sort(),
    entry: async (population, sequence) => {
      const found = of(population).find((e) => e.sequence === sequence);
      return found && { entry: shown(found), ...(found.answer !== undefined && { answer: found.answer }) };
    },
    verify: async () => ({ ok: true, entries: kept.length }),
    amend: async () => undefined,
    close: async () => undefined,
  };
}
