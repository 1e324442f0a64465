import { termsOf } from '../calibration/account.js';
import { Fault } from '../errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Policy } from '../policy/policy.js';

export interface Amended {
  readonly before: string | null;
  readonly after: string;
}

/**
 * What a cost per row also covers when the secret changes. Nothing else carries over: what was spent per row says nothing about all rows of a person, per
 * tuple nothing about rows, and per row nothing about how the cost was spread over the answers.
 */
const covered: Readonly<Record<string, readonly string[]>> = {
  answer: ['row', 'step'],
  person: ['row', 'step'],
  row: ['step'],
  step: ['row'],
};

/** Takes over the terms of a policy for good. Budget and ties may change; whose secret the costs are about may not, once something was spent. */
export async function amendTerms(ledger: Ledger, policy: Policy, reason: string): Promise<Amended> {
  const known = await ledger.account(policy.population);
  const terms = termsOf(policy);
  if (known && (await ledger.entries(policy.population)).length > 0) {
    const [was, now] = [secretIn(known.terms.summary), secretIn(terms.summary)];
    if (was !== now && !covered[was.split(' ')[0]!]?.includes(now))
      throw new Fault(
        'LEDGER_MISMATCH',
        `What this population has spent was counted for the secret "${was}"; it cannot be counted for "${now}" afterwards.`,
        'Keep the secret and its unit, or name another population for the new one.',
      );
  }
  await ledger.amend(policy.population, terms, reason);
  return { before: known?.terms.summary ?? null, after: terms.summary };
}

/** The summary is part of the chain, so this is the secret the account was opened with. */
const secretIn = (summary: string): string => /secret (.*), adversary /.exec(summary)?.[1] ?? summary;
