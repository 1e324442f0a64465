import { type Account, admission } from '../calibration/account.js';
import type { Reading } from '../calibration/reading.js';
import type { Profile } from '../dependence/profile.js';
import type { Engine } from '../engine/engine.js';
import { Fault } from '../errors.js';
import type { Entry, Ledger } from '../ledger/ledger.js';
import type { Policy } from '../policy/policy.js';
import { textOf } from '../query/scope.js';
import { snapshotKey } from './snapshot-key.js';

/** What every release needs, whatever is being asked. */
export interface Desk {
  readonly policy: Policy;
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly account: Account;
  readonly analyst: string;
  /** The data whose ties the account's bounds were worked out for; absent when they rest on no data. */
  readonly tiesOf?: string;
}

/** One thing to be paid for and then answered. `T` is plain data (it is stored so that the same request on the same data replays it). */
export interface Request<T> {
  /** Canonical text of what is asked and with how much budget; two requests with one text are the same request. */
  readonly canonical: string;
  /** For the ledger's list; from the request's own text only. */
  readonly label: string;
  readonly profile: Profile;
  readonly reading: Reading;
  /** Reads the data and adds the noise; runs only after the profile is durably booked. */
  readonly execute: (engine: Engine) => Promise<T>;
}

export interface Charged<T> {
  readonly answer: T;
  readonly entry: Entry;
  readonly replayed: boolean;
}

/**
 * The one way to the data: replay if this was answered before on this very data, else book durably, then read, then record.
 * A failure after booking is never refunded: whether it failed may depend on the data.
 */
export async function charge<T>(desk: Desk, request: Request<T>): Promise<Charged<T>> {
  const { policy, engine, ledger, account } = desk;
  const snapshot = await engine.snapshot();
  if (desk.tiesOf !== undefined && desk.tiesOf !== snapshot) throw tiesChanged();
  const key = snapshotKey(policy.ledger)(JSON.stringify([policy.digest, snapshot, request.canonical]));
  const before = await ledger.replay(policy.population, key);
  if (before) return { answer: JSON.parse(before.answer) as T, entry: before.entry, replayed: true };
  const entry = await ledger.reserve({
    population: policy.population,
    terms: account.terms,
    analyst: desk.analyst,
    key,
    label: request.label,
    profile: account.book(request.profile, request.reading),
    admit: admission(account),
  });
  const answer = await request.execute(engine);
  // Data that changed meanwhile: the answer stands, but it is no answer for the snapshot it would be replayed for.
  if ((await engine.snapshot()) === snapshot) await ledger.settle(entry, JSON.stringify(answer));
  return { answer, entry, replayed: false };
}

/** How cells and tuples are read (domains, bounds, bins): not part of the terms, but the same words about another domain are another request. */
export const readingOf = ({ columns, relations }: Policy): string =>
  textOf([
    [...columns.values()].map((column) => ({ ...column, label: undefined, labels: undefined })),
    [...relations.values()].map((relation) => ({ ...relation, table: undefined })),
  ]);

const tiesChanged = (): Fault =>
  new Fault(
    'ENGINE_FAILED',
    'The data has changed since its ties were read.',
    'Open it again: who is tied to whom decides how much noise is needed.',
  );
