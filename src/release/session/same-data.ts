import { Fault } from '../../base/errors.js';
import { sha256 } from '../../base/platform/hash.js';
import { namesBefore } from '../../data/ties/slicings.js';
import type { Policy } from '../../policy/policy.js';
import { composeCosts, type PrivacyCost, type SpentCosts, slicingsIn, toStored } from '../../privacy/mechanism/privacy-cost.js';
import { accountSource, declaredOwn, declaredSlices } from '../accountant/sources.js';
import type { Ledger, LedgerAccount, SpendEntry } from '../ledger/ledger.js';
import { systemAnalyst } from './analyst.js';

const prefix = 'same-data:';
/** An attempt fails only if another process spends between reading and reserving. */
const attempts = 100;

/**
 * Declares, for good, that all costs of an account were spent on the data of this policy
 * (release/accountant/sources.proof.md). The entries of a declaration cost nothing; none is made if nothing is left to declare.
 */
export async function recordSameData(ledger: Ledger, policy: Policy, reason: string): Promise<readonly SpendEntry[]> {
  const made: SpendEntry[] = [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    const account = await openedAccount(ledger, policy);
    const [cost] = await undeclared(ledger, policy, account.spent);
    if (!cost) return made;
    const entry = await reserveDeclaration(ledger, { account, profile: cost, reason, policy });
    if (!entry) continue;
    await ledger.commit(entry, JSON.stringify({ declared: reason }));
    made.push(entry);
  }
  throw new Fault(
    'LEDGER_BUSY',
    'Others kept spending from this account during the declaration.',
    'Try again while nobody releases.',
  );
}

async function openedAccount(ledger: Ledger, { population }: Policy): Promise<LedgerAccount> {
  const account = await ledger.account(population);
  if (account) return account;
  throw new Fault(
    'DATA_NOT_FOUND',
    'This population has no account in the ledger, so nothing was spent.',
    'Nothing needs to be declared before the first release.',
  );
}

/** Costs still to be declared, one for each kind of noise. */
async function undeclared(ledger: Ledger, policy: Policy, spent: SpentCosts): Promise<readonly PrivacyCost[]> {
  const before = await ledger.keyed(policy.population, prefix);
  const own = declaredOwn(accountSource(policy), spent);
  const slices = (['pure', 'zcdp'] as const).flatMap((noise) => {
    const taken = new Set(
      before.filter(({ profile: cost }) => cost.noise === noise).flatMap(({ profile: cost }) => slicingsIn(cost)),
    );
    const renames = new Map([...namesBefore(policy)].filter(([now]) => !taken.has(now)).map(([now, then]) => [then, now]));
    return declaredSlices(renames, spent[noise]);
  });
  return (['pure', 'zcdp'] as const).flatMap((noise) => {
    const [first, ...others] = [...own, ...slices].filter((cost) => cost.noise === noise);
    return first ? [others.reduce<PrivacyCost>(composeCosts, first)] : [];
  });
}

interface Declaration {
  readonly account: LedgerAccount;
  readonly profile: PrivacyCost;
  readonly reason: string;
  readonly policy: Policy;
}

/** Reserves a declaration about exactly the costs it was derived from; undefined where the account has changed since. */
async function reserveDeclaration(
  ledger: Ledger,
  { account, profile: cost, reason, policy }: Declaration,
): Promise<SpendEntry | undefined> {
  const state = textOf(account.spent);
  let isStale = false;
  try {
    return await ledger.reserve({
      population: policy.population,
      // The data that was read is not part of the terms: the account's terms stay, even where the policy's differ.
      terms: account.terms,
      // No quota pays for it.
      analyst: `declared by ${systemAnalyst()}`,
      key: `${prefix}${sha256(JSON.stringify([state, toStored(cost)]))}`,
      label: `same data: ${reason}`.slice(0, 200),
      profile: cost,
      admit: (_after, before) => {
        isStale = textOf(before) !== state;
        if (isStale) throw new Fault('LEDGER_BUSY', 'The account has changed.', 'Try again.');
      },
    });
  } catch (error) {
    const now = isStale ? undefined : await ledger.account(policy.population);
    if (isStale || now?.terms.digest !== account.terms.digest) return undefined;
    throw error;
  }
}

/** Costs only grow, so equal texts prove that nothing was spent or declared between. */
const textOf = ({ pure, zcdp }: SpentCosts): string => JSON.stringify([toStored(pure), toStored(zcdp)]);
