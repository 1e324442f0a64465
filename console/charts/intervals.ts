import { areaY, barX, lineY, type PlotOptions, ruleX, ruleY, tickX } from '@observablehq/plot';
import type { ChartDrawing } from './chart.tsx';

/** A number with its interval. */
export interface Interval {
  /** Label of the outer key where there are two. */
  readonly group?: string;
  readonly label: string;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

const short = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const widest = (labels: readonly string[], most: number): number =>
  Math.min(most * 7, Math.max(...labels.map((l) => Math.min(most, l.length)), 3) * 7) + 12;

/** Bars with whiskers: the bar is the released value, the whisker its 95 % interval. Dashed bars are examples. */
export function intervals(
  rows: readonly Interval[],
  { what, imagined = false }: { readonly what: string; readonly imagined?: boolean },
): ChartDrawing {
  return (width) => {
    const most = width < 380 ? 13 : 24;
    const labels = [...new Set(rows.map((r) => r.label))];
    const groups = [...new Set(rows.flatMap((r) => r.group ?? []))];
    const left = widest(labels, most);
    const facets = groups.length > 0;
    const each = 26;
    const height = 52 + (facets ? groups.length * (labels.length * each + 14) : labels.length * each);
    const known = rows.filter((r) => r.low !== null && r.high !== null);
    const fy = facets ? { fy: 'group' } : {};
    const options: PlotOptions = {
      marginLeft: left,
      marginRight: facets ? widest(groups, 12) : 16,
      marginBottom: 40,
      marginTop: 10,
      x: { grid: true, label: `${what} →`, labelAnchor: 'right', ticks: Math.max(3, Math.floor(width / 110)), nice: true },
      y: { domain: labels, label: null, tickSize: 0, tickFormat: (d: string) => short(d, most) },
      ...(facets && { fy: { domain: groups, label: null, tickFormat: (d: string) => short(d, 12) } }),
      marks: [
        barX(rows, {
          x: 'value',
          y: 'label',
          ...fy,
          fill: imagined ? 'var(--mark-faint)' : 'var(--mark)',
          fillOpacity: imagined ? 0.55 : 1,
          insetTop: 4,
          insetBottom: 4,
          rx2: 3,
        }),
        ruleY(known, { x1: 'low', x2: 'high', y: 'label', ...fy, stroke: 'var(--ink)', strokeWidth: 1.7 }),
        ...(['low', 'high'] as const).map((end) =>
          tickX(known, { x: end, y: 'label', ...fy, stroke: 'var(--ink)', strokeWidth: 1.7, insetTop: 8, insetBottom: 8 }),
        ),
        ruleX([0], { stroke: 'var(--edge)' }),
      ],
    };
    return { ...options, height };
  };
}

/** Many numbers along an axis: a line inside the band of its intervals. */
export const band =
  (
    rows: readonly (Interval & { readonly at: number })[],
    { what, along }: { readonly what: string; readonly along: string },
  ): ChartDrawing =>
  (width) => ({
    height: 300,
    marginLeft: 58,
    marginBottom: 42,
    x: { label: `${along} →`, ticks: Math.max(3, Math.floor(width / 90)) },
    y: { grid: true, label: `↑ ${what}`, ticks: 5, nice: true },
    marks: [
      areaY(rows, { x: 'at', y1: 'low', y2: 'high', fill: 'var(--mark)', fillOpacity: 0.25 }),
      lineY(rows, { x: 'at', y: 'value', stroke: 'var(--mark)', strokeWidth: 2 }),
      ruleY([0], { stroke: 'var(--edge)' }),
    ],
  });
