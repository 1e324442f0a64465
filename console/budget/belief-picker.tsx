import { useState } from 'preact/hooks';
import { type BeliefChartPoint, beliefAgainstError, beliefMargins } from '../charts/belief.ts';
import { Chart } from '../charts/chart.tsx';
import { Choice, Slider } from '../parts/field.tsx';
import { formatNumber, formatPercent, percentAtMost } from '../parts/figures.ts';
import { DataTable } from '../parts/table.tsx';

/** Posterior per prior, and the error of a count, at one epsilon. */
export interface PickedPoint {
  readonly epsilon: number;
  readonly posterior: Readonly<Record<string, number>>;
  readonly error: number;
}

const closest = <T,>(items: readonly T[], distance: (item: T) => number): number =>
  items.reduce((best, item, k) => (distance(item) < distance(items[best]!) ? k : best), 0);

/** Point on the curve of belief against error, moved by pointer, touch or keyboard. */
export function BeliefPicker({
  points,
  epsilon,
  column,
}: {
  readonly points: readonly PickedPoint[];
  readonly epsilon: number;
  readonly column: string;
}) {
  const priors = Object.keys(points[0]!.posterior);
  const [prior, setPrior] = useState(priors.includes('0.1') ? '0.1' : priors[0]!);
  const own = closest(points, (p) => Math.abs(Math.log(p.epsilon / epsilon)));
  const [at, setAt] = useState(own);
  const drawn = points.map((p): BeliefChartPoint => ({ epsilon: p.epsilon, belief: p.posterior[prior]!, error: p.error }));
  const chosen = drawn[Math.min(at, drawn.length - 1)]!;
  const logs = drawn.map((p) => Math.log(p.error));
  const [least, most] = [Math.min(...logs), Math.max(...logs)];
  const point = (x: number, width: number) => {
    const inside = (x * width - beliefMargins.left) / (width - beliefMargins.left - beliefMargins.right);
    setAt(closest(drawn, (p) => Math.abs(Math.log(p.error) - least - inside * (most - least))));
  };
  return (
    <div class="stack">
      <Chart
        label={`Belief against error. With epsilon ${formatNumber(chosen.epsilon)} a belief of ${formatPercent(Number(prior))} may become ${percentAtMost(chosen.belief)}, and a count is off by up to ${formatNumber(chosen.error)}.`}
        draw={beliefAgainstError(drawn, chosen, { prior: Number(prior), own: drawn[own] })}
        onPoint={point}
      >
        <figcaption>
          Drag the point, or use the slider below. The open point is this policy. The error is that of a count by {column}, were
          the whole budget spent on it.
        </figcaption>
      </Chart>
      <div class="pair">
        <Slider
          label="Budget"
          value={at}
          min={0}
          max={drawn.length - 1}
          step={1}
          words={`epsilon ${formatNumber(chosen.epsilon)}`}
          onSlide={setAt}
        />
        <Choice
          label="What the attacker believed before"
          value={prior}
          options={priors.map((p) => ({ value: p, label: formatPercent(Number(p)) }))}
          onChoose={setPrior}
        />
      </div>
      <dl class="figures" aria-live="polite">
        <div class="figure">
          <dt>Epsilon</dt>
          <dd>{formatNumber(chosen.epsilon)}</dd>
        </div>
        <div class="figure">
          <dt>Belief after, at most</dt>
          <dd>{percentAtMost(chosen.belief)}</dd>
        </div>
        <div class="figure">
          <dt>A count is off by</dt>
          <dd>± {formatNumber(chosen.error)}</dd>
        </div>
        <div class="figure">
          <dt>Odds move by at most</dt>
          <dd>× {formatNumber(Math.exp(chosen.epsilon))}</dd>
        </div>
      </dl>
      <details>
        <summary>The points as a table</summary>
        <DataTable
          caption="Belief against error, point by point"
          tall
          columns={[
            { name: 'epsilon', right: true },
            { name: 'belief after', right: true },
            { name: 'error of a count', right: true },
          ]}
          rows={drawn.map((p) => [formatNumber(p.epsilon), percentAtMost(p.belief), `± ${formatNumber(p.error)}`])}
        />
      </details>
    </div>
  );
}
