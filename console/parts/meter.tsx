import type { Amounts } from '../api/shapes.ts';
import { figure } from './figures.ts';

/** Spent part of the budget, and the cost of one more release. */
export function Meter({
  budget,
  asked = 0,
  what,
}: {
  readonly budget: Amounts;
  readonly asked?: number;
  readonly what?: string;
}) {
  const part = (x: number) => `${Math.min(100, Math.max(0, (100 * x) / budget.total))}%`;
  const words = `${figure(budget.spent)} of ${figure(budget.total)} spent`;
  return (
    <div class="meter">
      <div
        class="meter-bar"
        role="img"
        aria-label={`${what ?? 'Budget'}: ${words}${asked > 0 ? `, this release would take ${figure(asked)}` : ''}`}
      >
        <span class="spent" style={{ width: part(budget.spent) }} />
        {asked > 0 && <span class="asked" style={{ width: part(Math.min(asked, budget.remaining)) }} />}
      </div>
      <div class="meter-words">
        <span>{words}</span>
        <span>
          {figure(Math.max(0, budget.remaining - asked))} left{asked > 0 ? ' after' : ''}
        </span>
      </div>
    </div>
  );
}
