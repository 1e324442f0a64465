import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { parseJson } from '../../base/input/json.js';
import { sha256 } from '../../base/platform/hash.js';
import { totalCostOf } from '../../privacy/mechanism/mechanism.js';
import type { Ledger } from '../ledger/ledger.js';
import { withWayOut } from './amend.js';
import { openingFor } from './data-claims.js';
import { isReading, nowSecret, type PublicFact, stepFact } from './public-facts.js';
import type { ReleaseContext } from './release-context.js';

/** The latest note under a key. */
export const noted = async ({ ledger, policy }: ReleaseContext, key: string): Promise<string | undefined> =>
  (await ledger.replay(policy.population, key))?.answer;

/** A note in the ledger. Its content may not depend on secrets, and `relied` states why it does not. */
export interface Note {
  readonly key: string;
  readonly label: string;
  readonly text: string;
  readonly relied: readonly PublicFact[];
}

/** Writes a note to the ledger, readable from every machine: an entry that costs nothing, and its answer. */
export const note = (context: ReleaseContext, noting: Note): Promise<void> => write(context, noting, {});

/** Notes known to be in each ledger, by population. */
const recordedFacts = new WeakMap<Ledger, Set<string>>();

/** One note: a fact and its reason. */
export type FactsOfOne = readonly [fact: PublicFact, ...more: PublicFact[]];
const keyOf = (fact: PublicFact): string => sha256(JSON.stringify(['public read', fact]));

/** Notes durably, once per account and fact, what is about to be read at no cost because everybody knows it. */
export async function recordPublicFacts(context: ReleaseContext, name: string, relied: readonly FactsOfOne[]): Promise<void> {
  const { ledger, policy } = context;
  const known = recordedFacts.get(ledger) ?? new Set<string>();
  recordedFacts.set(ledger, known);
  for (const facts of relied) {
    const [fact] = facts;
    const own = JSON.stringify([policy.population, fact]);
    if (known.has(own)) continue;
    const key = keyOf(fact);
    if ((await noted(context, key)) === undefined) {
      const label = `${name}: read for nothing (${fact})`.slice(0, 120);
      await write(context, { key, label, text: JSON.stringify({ relied: facts }), relied: facts }, { unlessRecorded: true });
    }
    known.add(own);
  }
}

const noteText = z.object({ relied: z.array(z.string()) });

/** Refuses terms that read a public column in another way than when it was read at no cost: distinct rows may be the same. */
export async function refuseChangedReadings(context: ReleaseContext): Promise<void> {
  const { policy } = context;
  for (const { name } of [...policy.columns.values()].filter((column) => column.public)) {
    const text = await noted(context, keyOf(stepFact(name)));
    const found = text === undefined ? undefined : noteText.safeParse(parseJson(text, { file: 'the ledger' }));
    const readings = found?.success ? found.data.relied.filter(isReading) : [];
    if (nowSecret(readings, policy).length > 0)
      throw new Fault(
        'LEDGER_MISMATCH',
        `Which rows stand at which "${name}" was read at no cost, and these terms read that column in another way.`,
        'Keep its type, lower bound and missing codes, and what makes it public; or name another population. A wider upper bound is no other reading.',
      );
  }
}

async function write(
  context: ReleaseContext,
  { key, label, text, relied }: Note,
  more: { readonly unlessRecorded?: true },
): Promise<void> {
  const { ledger, policy, account, analyst } = context;
  const cost = account.reservedCost(totalCostOf([]), {});
  const opening = await openingFor(context);
  const { population } = policy;
  const entry = await ledger
    .reserve({
      population,
      terms: account.terms,
      analyst,
      key,
      label,
      profile: cost,
      relied,
      admit: () => undefined,
      ...opening,
      ...more,
    })
    .catch(async (error: unknown) => Promise.reject(await withWayOut(error, ledger, { policy, account })));
  if (!entry.settled) await ledger.commit(entry, text);
  await context.claims?.remember();
}
