import type { Amounts } from '../api/shapes.ts';
import { formatNumber } from './figures.ts';

/** Spent part of the budget, and the cost of one more release. */
export function Meter({
  budget,
  requested = 0,
  what,
}: {
  readonly budget: Amounts;
  readonly requested?: number;
  readonly what?: string;
}) {
  const part = (x: number) => `${Math.min(100, Math.max(0, (100 * x) / budget.total))}%`;
  const words = `${formatNumber(budget.spent)} of ${formatNumber(budget.total)} spent`;
  return (
    <div class="meter">
      <div
        class="meter-bar"
        role="img"
        aria-label={`${what ?? 'Budget'}: ${words}${requested > 0 ? `, this release would take ${formatNumber(requested)}` : ''}`}
      >
        <span class="spent" style={{ width: part(budget.spent) }} />
        {requested > 0 && <span class="asked" style={{ width: part(Math.min(requested, budget.remaining)) }} />}
      </div>
      <div class="meter-words">
        <span>{words}</span>
        <span>
          {formatNumber(Math.max(0, budget.remaining - requested))} left{requested > 0 ? ' after' : ''}
        </span>
      </div>
    </div>
  );
}
