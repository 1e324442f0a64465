import { Fault } from '../../base/errors.js';
import { toText } from '../../base/exact/rational.js';
import type { Snapshot } from '../../data/engine/engine.js';
import type { Account } from '../accountant/account.js';
import { openAccount } from '../accountant/open-account.js';
import { publicReader, publicReads } from './public-read.js';
import type { ReleaseContext } from './release-context.js';

/** The data as it is now, and its account. The caller closes the data. */
export interface PresentData {
  readonly data: Snapshot;
  readonly account: Account;
}
/** The account last computed again for a release context, and the content it was computed for. */
const known = new WeakMap<ReleaseContext, { readonly id: string; readonly account: Account }>();

/**
 * Reads the ties again where bounds depend on them and the data has changed: under the same bounds the request goes on, under
 * others it needs another plan. So the outcome depends on the public ties, and not on whether a value has changed.
 */
export async function presentAccount(context: ReleaseContext): Promise<PresentData> {
  const data = await context.engine.snapshot();
  try {
    return { data, account: await accountOf(context, data) };
  } catch (error) {
    await data.close();
    throw error;
  }
}

async function accountOf(context: ReleaseContext, data: Snapshot): Promise<Account> {
  if (context.tiesOf === undefined) return context.account;
  const look = publicReader(context.policy, data.whole);
  const id = await look(publicReads.content);
  if (id === context.tiesOf) return context.account;
  const last = known.get(context);
  if (last?.id === id) return last.account;
  const account = openAccount(context.policy, (await look(publicReads.ties, {})).amplifiers);
  if (boundsOf(account) !== boundsOf(context.account)) throw tiesChanged();
  known.set(context, { id, account });
  return account;
}

/** Fields that a plan was made from and prints: capacities, conditions (which name the records that are used), assumptions. */
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
