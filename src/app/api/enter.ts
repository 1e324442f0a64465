import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { amountOf, readReceipt } from '../../release/session/enter.js';
import { amount, type FileName, faulting, fileNamed, newBudget, readOptions, reason } from './door.js';
import { type Spending, spendingOf } from './ledger.js';
import { closing, openAll } from './opened.js';

const entering = z.strictObject({
  /** The receipt of another publisher's Fugu, as it was written. */
  receipt: z.unknown().optional(),
  /** With a receipt: the most of their records that hold one person here. Costs multiply: epsilon by it, rho by its square. */
  recordsPerPerson: z.int().min(1).max(999_999).optional(),
  /** What it cost one record that is replaced, where there is no receipt: a pure epsilon, or a rho of zCDP. */
  epsilon: amount.optional(),
  rho: amount.optional(),
  /** Who released it. */
  by: z.string().min(1).max(200).optional(),
  /** Why, or what it was; written into the chain for good. */
  reason,
  /** Write it also where it is more than the budget allows: spent is spent. Nothing can be released then. */
  over: z.boolean().optional(),
  newBudget,
});
export type EnterOptions = z.input<typeof entering>;

/** What was entered, and what is left. */
export interface EnteredSpending {
  readonly population: string;
  readonly label: string;
  readonly ledger: { readonly entry: number; readonly hash: string };
  /** The same receipt was entered before: it counts once. */
  readonly already?: true;
  readonly budget: Spending['budget'];
  readonly over?: true;
}

/**
 * Books what another publisher has spent on the same people: by the receipt of their release, or by a number that somebody answers for.
 * With a receipt, `recordsPerPerson` states how many of their records hold one person here.
 *
 * @example
 * const { budget } = await enterSpending('policy.yaml', { epsilon: '0.2', by: 'the census', reason: 'table 3 of 2026' });
 * console.log(budget.remaining);
 */
export async function enterSpending(policy: FileName, given: EnterOptions): Promise<EnteredSpending> {
  return faulting(async () => {
    const { receipt, recordsPerPerson, epsilon, rho, by, reason: why, over, newBudget: anew } = readOptions(entering, given);
    const said = [receipt, epsilon, rho].filter((x) => x !== undefined);
    if (said.length !== 1)
      throw new Fault(
        'USAGE',
        said.length === 0 ? 'What was spent is not said.' : 'What was spent is said twice.',
        'Give a receipt, an epsilon or a rho. An (epsilon, delta) does not add up with anything: say the rho of its Gaussian noise, sensitivity^2 / (2 sigma^2).',
      );
    if (recordsPerPerson !== undefined && receipt === undefined)
      throw new Fault(
        'USAGE',
        'Records per person are said of a receipt.',
        'An epsilon or rho is the cost of one person here already: multiply it yourself.',
      );
    const opened = await openAll(fileNamed(policy, 'The policy'), { ...(anew !== undefined && { newBudget: anew }) });
    return closing(opened, async () => {
      const { session } = opened;
      const told =
        receipt === undefined
          ? { cost: epsilon === undefined ? { rho: amountOf(rho!) } : { epsilon: amountOf(epsilon) }, label: '' }
          : readReceipt(receipt, opened.policy, recordsPerPerson);
      const label = [by && `by ${by}`, told.label, why.trim()].filter(Boolean).join(': ').slice(0, 200);
      const entry = await session.enter({ ...told, label, ...(over && { over }) });
      const { budget, over: beyond } = await spendingOf(opened);
      return {
        population: opened.policy.population,
        label: entry.label,
        ledger: { entry: entry.sequence, hash: entry.hash },
        ...(entry.settled && { already: true }),
        budget,
        ...(beyond && { over: beyond }),
      };
    });
  });
}
