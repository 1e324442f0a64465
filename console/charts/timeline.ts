import { dot, ruleX, text } from '@observablehq/plot';
import type { Entry } from '../api/shapes.ts';
import { formatNumber } from '../parts/figures.ts';
import type { ChartDrawing } from './chart.tsx';

/** Releases over time with their share of the budget: one lane per person, larger dots for larger costs. */
export const timeline =
  (entries: readonly Entry[]): ChartDrawing =>
  (width) => {
    const people = [...new Set(entries.map((e) => e.analyst))];
    const left = Math.min(140, Math.max(...people.map((p) => p.length)) * 7.5 + 18);
    const shown = entries.map((e) => ({ ...e, when: new Date(e.at) }));
    const most = Math.max(1e-9, ...entries.map((e) => e.epsilon ?? 0));
    const times = shown.map((e) => e.when.getTime());
    const [first, last] = [Math.min(...times), Math.max(...times)];
    // One moment alone still needs an axis around it.
    const around = last === first ? 60_000 : (last - first) * 0.06;
    const spacing = (40 * (last - first + 2 * around)) / Math.max(1, width - left - 20);
    return {
      height: 62 + 46 * people.length,
      marginLeft: left,
      marginRight: 20,
      marginTop: 26,
      marginBottom: 36,
      x: {
        type: 'utc',
        grid: true,
        label: null,
        ticks: Math.max(2, Math.floor(width / 130)),
        domain: [new Date(first - around), new Date(last + around)],
      },
      y: { type: 'point', domain: people, label: null, tickSize: 0 },
      r: { type: 'identity' },
      marks: [
        ruleX([new Date(first - around)], { stroke: 'var(--line)' }),
        dot(shown, {
          x: 'when',
          y: 'analyst',
          r: (e: Entry) => 3 + 8 * Math.sqrt((e.epsilon ?? 0) / most),
          fill: (e: Entry) => (e.settled ? 'var(--mark)' : 'var(--panel)'),
          stroke: 'var(--mark)',
          strokeWidth: 2,
        }),
        ...(shown.length <= 40
          ? [
              text(spaced(shown, spacing), {
                x: 'when',
                y: 'analyst',
                text: (e: Entry) => (e.epsilon === undefined ? '' : formatNumber(e.epsilon)),
                dy: -20,
                fill: 'var(--soft)',
              }),
            ]
          : []),
      ],
    };
  };

/** Points whose labels do not overlap earlier ones. */
function spaced<E extends Entry & { readonly when: Date }>(entries: readonly E[], spacing: number): readonly E[] {
  const last = new Map<string, number>();
  return entries.filter(({ analyst, when }) => {
    if (when.getTime() - (last.get(analyst) ?? Number.NEGATIVE_INFINITY) < spacing) return false;
    last.set(analyst, when.getTime());
    return true;
  });
}
