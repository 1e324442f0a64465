import { dot, link } from '@observablehq/plot';
import type { ChartDrawing } from './chart.tsx';

export interface BeliefMove {
  readonly value: string;
  readonly before: number;
  readonly after: number;
  readonly actual: boolean;
}

/** Belief before (hollow) and after (filled), per answer; the true answer has another colour. */
export const beliefs =
  (rows: readonly BeliefMove[]): ChartDrawing =>
  () => ({
    height: 46 + rows.length * 26,
    marginLeft: Math.min(120, Math.max(...rows.map((r) => r.value.length)) * 7.5 + 16),
    marginRight: 26,
    marginBottom: 36,
    marginTop: 6,
    x: { grid: true, domain: [0, 1], label: 'belief →', ticks: 4, tickFormat: (d: number) => `${Math.round(100 * d)} %` },
    y: { domain: rows.map((r) => r.value), label: null, tickSize: 0 },
    marks: [
      link(rows, { x1: 'before', x2: 'after', y: 'value', stroke: 'var(--edge)', strokeWidth: 2 }),
      dot(rows, {
        x: 'before',
        y: 'value',
        r: 5,
        stroke: (r: BeliefMove) => (r.actual ? 'var(--leak)' : 'var(--mark)'),
        fill: 'var(--panel)',
        strokeWidth: 2,
      }),
      dot(rows, { x: 'after', y: 'value', r: 5.5, fill: (r: BeliefMove) => (r.actual ? 'var(--leak)' : 'var(--mark)') }),
    ],
  });
