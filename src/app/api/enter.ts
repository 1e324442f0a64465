import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { amountOf, readReceipt } from '../../release/session/foreign-spending.js';
import { amountShape, type FileName, fileNamed, newBudgetShape, parseOptions, reason, withFaults } from './input.js';
import { type Spending, spendingOf } from './ledger.js';
import { openHandles, withClosing } from './open-handles.js';
import { defineRequest, field } from './request.js';

const entering = defineRequest('EnterOptions', {
  receipt: field(z.unknown().optional(), "Receipt of another publisher's Fugu, unchanged."),
  recordsPerPerson: field(
    z.int().min(1).max(999_999).optional(),
    'With a receipt: most of their records that one person here has. Epsilon is multiplied by it, rho by its square.',
  ),
  epsilon: field(
    amountShape.optional(),
    'Without a receipt: privacy cost of replacing one record, as a pure epsilon or as a rho of zCDP.',
  ),
  rho: amountShape.optional(),
  by: field(z.string().min(1).max(200).optional(), 'Publisher of the release.'),
  reason: field(reason, "Reason or description; permanent in the ledger's chain."),
  over: field(z.boolean().optional(), 'Enters the cost even where it exceeds the budget; nothing can be released afterwards.'),
  newBudget: newBudgetShape,
});
export type EnterOptions = z.input<typeof entering>;

/** Entered cost, and the remaining budget. */
export interface EnteredSpending {
  readonly population: string;
  readonly label: string;
  readonly ledger: { readonly entry: number; readonly hash: string };
  /** True where the same receipt was entered before: it counts once. */
  readonly already?: true;
  readonly budget: Spending['budget'];
  readonly over?: true;
}

/**
 * Enters the privacy cost of another publisher's release on the same people, by its receipt or by a number that somebody answers
 * for. With a receipt, `recordsPerPerson` bounds how many of their records belong to one person here.
 *
 * @example
 * const { budget } = await enterSpending('policy.yaml', { epsilon: '0.2', by: 'the census', reason: 'table 3 of 2026' });
 * console.log(budget.remaining);
 */
export async function enterSpending(policy: FileName, given: EnterOptions): Promise<EnteredSpending> {
  return withFaults(async () => {
    const { receipt, recordsPerPerson, epsilon, rho, by, reason: why, over, newBudget: anew } = parseOptions(entering, given);
    const sources = [receipt, epsilon, rho].filter((x) => x !== undefined);
    if (sources.length !== 1)
      throw new Fault(
        'USAGE',
        sources.length === 0 ? 'What was spent is not said.' : 'What was spent is said twice.',
        'Give a receipt, an epsilon or a rho. An (epsilon, delta) does not add up with anything: say the rho of its Gaussian noise, sensitivity^2 / (2 sigma^2).',
      );
    if (recordsPerPerson !== undefined && receipt === undefined)
      throw new Fault(
        'USAGE',
        'Records per person are said of a receipt.',
        'An epsilon or rho is the cost of one person here already: multiply it yourself.',
      );
    const opened = await openHandles(fileNamed(policy, 'The policy'), { ...(anew !== undefined && { newBudget: anew }) });
    return withClosing(opened, async () => {
      const { session } = opened;
      const spending =
        receipt === undefined
          ? { cost: epsilon === undefined ? { rho: amountOf(rho!) } : { epsilon: amountOf(epsilon) }, label: '' }
          : readReceipt(receipt, opened.policy, recordsPerPerson);
      const label = [by && `by ${by}`, spending.label, why.trim()].filter(Boolean).join(': ').slice(0, 200);
      const entry = await session.enter({ ...spending, label, ...(over && { over }) });
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
