import { dot, line, ruleX, text } from '@observablehq/plot';
import { formatPercent } from '../parts/figures.ts';
import type { ChartDrawing } from './chart.tsx';

/** One budget: the attacker's posterior, and the error of a count. */
export interface BeliefChartPoint {
  readonly epsilon: number;
  readonly belief: number;
  readonly error: number;
}

/** Margins of the chart, also needed to map a pointer to it. */
export const beliefMargins = { left: 56, right: 18, top: 22, bottom: 44 } as const;
const beliefHeight = 320;

/** Belief against error: the less an attacker may come to believe, the wider the error bars. */
export const beliefAgainstError =
  (
    points: readonly BeliefChartPoint[],
    chosen: BeliefChartPoint,
    { prior, own }: { readonly prior: number; readonly own: BeliefChartPoint | undefined },
  ): ChartDrawing =>
  (width) => ({
    height: beliefHeight,
    marginLeft: beliefMargins.left,
    marginRight: beliefMargins.right,
    marginTop: beliefMargins.top,
    marginBottom: beliefMargins.bottom,
    x: {
      type: 'log',
      label: 'error of a count, 95 % →',
      ticks: Math.max(2, Math.floor(width / 130)),
      tickFormat: (d: number) => `±${d >= 1000 ? `${d / 1000}k` : d}`,
    },
    y: {
      grid: true,
      label: '↑ what an attacker may believe after',
      domain: [0, 1],
      tickFormat: (d: number) => `${Math.round(100 * d)} %`,
      ticks: 5,
    },
    marks: [
      line(points, { x: 'error', y: 'belief', stroke: 'var(--mark)', strokeWidth: 2.5 }),
      line(
        [points[0]!, points.at(-1)!].map((p) => ({ ...p, belief: prior })),
        { x: 'error', y: 'belief', stroke: 'var(--edge)', strokeDasharray: '4 4' },
      ),
      text([{ error: points[0]!.error, belief: prior }], {
        x: 'error',
        y: 'belief',
        text: [`before: ${formatPercent(prior)}`],
        dy: -8,
        textAnchor: 'end',
        fill: 'var(--soft)',
        frameAnchor: 'left',
        dx: 0,
      }),
      ...(own
        ? [dot([own], { x: 'error', y: 'belief', r: 5, fill: 'var(--panel)', stroke: 'var(--mark)', strokeWidth: 2.5 })]
        : []),
      ruleX([chosen], { x: 'error', y1: 0, y2: 'belief', stroke: 'var(--leak)', strokeDasharray: '3 3' }),
      dot([chosen], { x: 'error', y: 'belief', r: 9, fill: 'var(--leak)', stroke: 'var(--panel)', strokeWidth: 2.5 }),
    ],
  });
