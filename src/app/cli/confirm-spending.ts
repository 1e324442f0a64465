import { Fault } from '../../base/errors.js';
import type { Plan } from '../../release/session/plan.js';
import { numberText } from '../report/terminal-text.js';
import { askYesNo, isInteractive, withDialogue } from './dialogue.js';
import { expectedErrorText } from './expected-error.js';
import { reasonIn } from './options.js';
import { printNote } from './output.js';

/** Options of every command that pays. */
export interface PaymentOptions {
  readonly yes?: boolean | undefined;
  readonly acceptNoProtection?: boolean | undefined;
  readonly newBudget?: string | undefined;
  readonly json?: boolean | undefined;
}
export const newBudgetOption = [
  '--new-budget <reason>',
  'open a budget although this data has another one; the reason is written into the chain',
] as const;

/** Reason for a further budget of the same data; absent if none is given. */
export function newBudgetOf({ newBudget }: Pick<PaymentOptions, 'newBudget'>): { readonly newBudget?: string } {
  if (newBudget === undefined) return {};
  const hint = 'Write why: --new-budget "these are the answers of another year".';
  return { newBudget: reasonIn(newBudget, '--new-budget', ['A second budget needs a reason.', hint]) };
}

/** A user at a terminal confirms before anything is spent; without a terminal nobody can. */
export const spendingDecision = ({ yes, acceptNoProtection = false, newBudget, json }: PaymentOptions, sure = yes) => ({
  acceptNoProtection,
  ...newBudgetOf({ newBudget }),
  decide: isInteractive(json) && !sure ? confirmSpending : undefined,
});

/** Confirmation before payment: the cost and the expected error. */
async function confirmSpending(plan: Plan): Promise<void> {
  for (const line of priceText(plan)) printNote(line);
  if (!(await withDialogue((ask) => askYesNo(ask, `Spend epsilon ${numberText(plan.epsilon)}?`, false))))
    throw new Fault(
      'USAGE',
      'Nothing was released, as you decided.',
      'Ask with another --epsilon, or for less; --yes skips this question.',
    );
}

const mostShown = 5;

function priceText({ label, epsilon, budget, errors, warnings = [] }: Plan): string[] {
  const widest = [...errors].sort((a, b) => b.halfWidth - a.halfWidth);
  const one = (error: Plan['errors'][number]) => `  ±${expectedErrorText(error)}  ${error.name}`;
  return [
    `${label}: epsilon ${numberText(epsilon)} of ${numberText(budget.total)} (spent ${numberText(budget.spent)}, left afterwards ${numberText(Math.max(0, budget.remaining - epsilon))}).`,
    ...(widest.length > 0
      ? [
          `95 % error${widest.length > mostShown ? `, the ${mostShown} largest of ${widest.length}` : ''}:`,
          ...widest.slice(0, mostShown).map(one),
        ]
      : []),
    ...warnings.map((text) => `Warning: ${text}`),
  ];
}
