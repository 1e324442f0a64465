import type { Account } from '../accounting/account.js';
import { openAccount } from '../accounting/open-account.js';
import { Fault } from '../errors.js';
import { toText } from '../exact/rational.js';
import { declaredAmplifiers } from '../ties/declared.js';
import type { Desk } from './charge.js';

interface Present {
  readonly snapshot: string;
  readonly account: Account;
}
/** The account that was last worked out again for a desk, and the data it was worked out for. */
const present = new WeakMap<Desk, Present>();
const attempts = 3;

/**
 * Brings the engine to the data as it is now, and returns the account of that data. Where the bounds rest on who is tied to whom and the data has changed,
 * the ties are read again: by the same bounds the request goes on, under others it would need another plan. So the outcome depends on the ties, which
 * are public, and not on whether a value has changed.
 */
export async function presentAccount(desk: Desk): Promise<Account> {
  for (let k = 0; k < attempts; k++) {
    const snapshot = await desk.engine.snapshot();
    if (desk.tiesOf === undefined || snapshot === desk.tiesOf) return desk.account;
    const known = present.get(desk);
    if (known?.snapshot === snapshot) return known.account;
    const { whole } = desk.engine;
    const { amplifiers } = await declaredAmplifiers(desk.policy, whole);
    if ((await whole.snapshot()) !== snapshot) continue;
    const account = openAccount(desk.policy, amplifiers);
    if (boundsOf(account) !== boundsOf(desk.account)) throw tiesChanged();
    present.set(desk, { snapshot, account });
    return account;
  }
  throw new Fault('ENGINE_FAILED', 'The data keeps changing.', 'Try again when nobody is writing to it.');
}

/** What a plan was made by and prints: capacities, conditions (which name the records that are used), assumptions. */
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
