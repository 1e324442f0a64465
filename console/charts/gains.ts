import { barX, ruleX, text } from '@observablehq/plot';
import type { ChartDrawing } from './chart.tsx';

export interface Gain {
  readonly who: string;
  readonly median: number;
  readonly most: number;
}

const wrapped = (words: string, most: number): string => (words.length <= most ? words : `${words.slice(0, most - 1)}…`);

/** Gain of each attacker: for the median and the worst record, compared with the promise. */
export const gains =
  (rows: readonly Gain[], promised: number): ChartDrawing =>
  (width) => ({
    height: 60 + rows.length * 46,
    marginLeft: width < 480 ? 16 : 290,
    marginTop: 28,
    marginBottom: 46,
    marginRight: 20,
    x: {
      grid: true,
      label: 'log-odds gained →',
      nice: true,
      domain: [0, Math.max(promised * 1.1, ...rows.map((r) => r.most))],
      ticks: Math.max(3, Math.floor(width / 130)),
    },
    y: {
      domain: rows.map((r) => r.who),
      label: null,
      tickSize: 0,
      axis: width < 480 ? null : 'left',
      tickFormat: (d: string) => wrapped(d, 46),
    },
    marks: [
      barX(rows, {
        x: 'most',
        y: 'who',
        fill: (r: Gain) => (r.most > promised ? 'var(--leak)' : 'var(--mark-faint)'),
        insetTop: 17,
        insetBottom: 8,
      }),
      barX(rows, {
        x: 'median',
        y: 'who',
        fill: (r: Gain) => (r.most > promised ? 'var(--bad)' : 'var(--mark)'),
        insetTop: 17,
        insetBottom: 8,
      }),
      ...(width < 480 ? [text(rows, { x: 0, y: 'who', text: 'who', textAnchor: 'start', dy: -14, fill: 'var(--ink)' })] : []),
      ruleX([promised], { stroke: 'var(--bad)', strokeDasharray: '5 4', strokeWidth: 1.6 }),
      text([{ promised }], {
        x: 'promised',
        frameAnchor: 'top',
        text: ['promised at most'],
        textAnchor: 'end',
        dy: -14,
        dx: -4,
        fill: 'var(--bad)',
      }),
    ],
  });
