import { Fault } from '../../base/errors.js';
import { toText } from '../../base/exact/rational.js';
import type { Pinned } from '../../data/engine/engine.js';
import type { Account } from '../accountant/account.js';
import { openAccount } from '../accountant/open-account.js';
import type { Desk } from './charge.js';
import { lookAt, publicReads } from './public-read.js';

/** The data as it is now, and its account. The caller closes the data. */
export interface Present {
  readonly data: Pinned;
  readonly account: Account;
}
/** The account last computed again for a release context, and the content it was computed for. */
const known = new WeakMap<Desk, { readonly id: string; readonly account: Account }>();

/**
 * Reads the ties again where bounds depend on them and the data has changed: under the same bounds the request goes on, under
 * others it needs another plan. So the outcome depends on the public ties, and not on whether a value has changed.
 */
export async function presentAccount(desk: Desk): Promise<Present> {
  const data = await desk.engine.pin();
  try {
    return { data, account: await accountOf(desk, data) };
  } catch (error) {
    await data.close();
    throw error;
  }
}

async function accountOf(desk: Desk, data: Pinned): Promise<Account> {
  if (desk.tiesOf === undefined) return desk.account;
  const look = lookAt(desk.policy, data.whole);
  const id = await look(publicReads.content);
  if (id === desk.tiesOf) return desk.account;
  const last = known.get(desk);
  if (last?.id === id) return last.account;
  const account = openAccount(desk.policy, (await look(publicReads.ties, {})).amplifiers);
  if (boundsOf(account) !== boundsOf(desk.account)) throw tiesChanged();
  known.set(desk, { id, account });
  return account;
}

/**
 * Fields that a plan was made from and prints: capacities, conditions (which name the records that are used),
 * assumptions.
 */
const boundsOf = ({ routes }: Account): string =>
  JSON.stringify(
    routes.map(({ amplifier, conditions, pureCapacity, gaussian, how }) => [
      amplifier.name,
      amplifier.assumptions,
      amplifier.factoredOnly,
      amplifier.leftOut ?? null,
      conditions.map((c) => c.mark),
      how,
      toText(pureCapacity),
      gaussian ? [toText(gaussian.capacity), toText(gaussian.delta), toText(gaussian.epsilon), gaussian.failure] : null,
    ]),
  );

const tiesChanged = (): Fault =>
  new Fault(
    'ENGINE_FAILED',
    'The ties in the data have changed since they were read.',
    'Open it again: who is tied to whom decides how much noise is needed.',
  );
