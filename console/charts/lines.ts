import { dot, line, ruleY, text } from '@observablehq/plot';
import type { ChartDrawing } from './chart.tsx';

export interface ChartSeries {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}
/** As many as people can distinguish; each series is also labelled at its end or in the key. */
export const seriesColours = [
  'var(--mark)',
  'var(--leak)',
  'var(--tie-3)',
  'var(--good)',
  'var(--soft)',
  'var(--accent-deep)',
] as const;

/** Lines over a common axis, each with its name at its end where there is room. */
export const lines =
  (
    series: readonly ChartSeries[],
    {
      along,
      what,
      limit,
    }: { readonly along: string; readonly what: string; readonly limit?: { readonly at: number; readonly words: string } },
  ): ChartDrawing =>
  (width) => ({
    height: 300,
    marginLeft: 54,
    marginRight: 24,
    marginBottom: 46,
    marginTop: 24,
    x: { label: `${along} →`, ticks: Math.max(3, Math.floor(width / 100)) },
    y: { grid: true, label: `↑ ${what}`, nice: true, zero: true, ticks: 5 },
    marks: [
      ...(limit
        ? [
            ruleY([limit.at], { stroke: 'var(--bad)', strokeDasharray: '5 4' }),
            text([limit], { y: 'at', text: 'words', frameAnchor: 'right', textAnchor: 'end', dy: -8, fill: 'var(--bad)' }),
          ]
        : []),
      ...series.map((s, k) =>
        line(s.points, { x: 'x', y: 'y', stroke: seriesColours[k % seriesColours.length]!, strokeWidth: 2.2 }),
      ),
      ...series.map((s, k) =>
        s.points.length <= 30 ? dot(s.points, { x: 'x', y: 'y', r: 3, fill: seriesColours[k % seriesColours.length]! }) : null,
      ),
      ruleY([0], { stroke: 'var(--edge)' }),
    ],
  });
