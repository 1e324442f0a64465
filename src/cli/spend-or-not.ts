import { Fault } from '../errors.js';
import type { Plan } from '../release/plan.js';
import { talking, yes } from './dialogue.js';
import { figure, tell } from './output.js';

/** The one question before the money goes: what it costs, and how wrong the answer will be. */
export async function spendOrNot(plan: Plan): Promise<void> {
  for (const line of priceText(plan)) tell(line);
  if (!(await talking((ask) => yes(ask, `Spend epsilon ${figure(plan.epsilon)}?`, false))))
    throw new Fault(
      'USAGE',
      'Nothing was released, as you decided.',
      'Ask with another --epsilon, or for less; --yes skips this question.',
    );
}

const mostShown = 5;

function priceText({ label, epsilon, budget, errors, warnings = [] }: Plan): string[] {
  const widest = [...errors].sort((a, b) => b.halfWidth - a.halfWidth);
  const one = ({ name, halfWidth, perRow }: Plan['errors'][number]) =>
    `  ±${figure(halfWidth)}${perRow ? ' divided by the rows of the cell' : ''}  ${name}`;
  return [
    `${label}: epsilon ${figure(epsilon)} of ${figure(budget.total)} (spent ${figure(budget.spent)}, left afterwards ${figure(Math.max(0, budget.remaining - epsilon))}).`,
    ...(widest.length > 0
      ? [
          `95 % error${widest.length > mostShown ? `, the ${mostShown} largest of ${widest.length}` : ''}:`,
          ...widest.slice(0, mostShown).map(one),
        ]
      : []),
    ...warnings.map((text) => `Warning: ${text}`),
  ];
}
