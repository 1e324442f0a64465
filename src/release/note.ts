import { createHash } from 'node:crypto';
import type { Ledger } from '../ledger/ledger.js';
import { costTogether } from '../mechanism/mechanism.js';
import { withWayOut } from './amend.js';
import type { Desk } from './charge.js';
import { openingFor } from './data-claims.js';
import type { Relied } from './relied.js';

/** The latest of what was noted under a key. */
export const noted = async ({ ledger, policy }: Desk, key: string): Promise<string | undefined> =>
  (await ledger.replay(policy.population, key))?.answer;

/** A note in the ledger. Nothing in it may depend on what is secret, and `relied` says why it does not. */
export interface Note {
  readonly key: string;
  readonly label: string;
  readonly text: string;
  readonly relied: readonly Relied[];
}

/** Notes something with the ledger, for whoever reads it from whichever machine: an entry that costs nothing, and its answer. */
export const note = (desk: Desk, noting: Note): Promise<void> => write(desk, noting, {});

/** What each ledger is known to hold a note of, by population. */
const kept = new WeakMap<Ledger, Set<string>>();

/** Notes durably, once per account and fact, what is about to be read for nothing because everybody knows it. */
export async function keepRelied(desk: Desk, name: string, relied: readonly Relied[]): Promise<void> {
  const { ledger, policy } = desk;
  const known = kept.get(ledger) ?? new Set<string>();
  kept.set(ledger, known);
  for (const fact of relied) {
    const own = JSON.stringify([policy.population, fact]);
    if (known.has(own)) continue;
    const key = createHash('sha256')
      .update(JSON.stringify(['public read', fact]))
      .digest('hex');
    if ((await noted(desk, key)) === undefined) {
      const label = `${name}: read for nothing (${fact})`.slice(0, 120);
      await write(desk, { key, label, text: JSON.stringify({ relied: [fact] }), relied: [fact] }, { unlessRecorded: true });
    }
    known.add(own);
  }
}

async function write(desk: Desk, { key, label, text, relied }: Note, more: { readonly unlessRecorded?: true }): Promise<void> {
  const { ledger, policy, account, analyst } = desk;
  const profile = account.book(costTogether([]), {});
  const opening = await openingFor(desk);
  const { population } = policy;
  const entry = await ledger
    .reserve({
      population,
      terms: account.terms,
      analyst,
      key,
      label,
      profile,
      relied,
      admit: () => undefined,
      ...opening,
      ...more,
    })
    .catch(async (error: unknown) => Promise.reject(await withWayOut(error, ledger, { policy, account })));
  if (!entry.settled) await ledger.settle(entry, text);
  await desk.claims?.remember();
}
