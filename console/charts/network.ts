import { dot, link } from '@observablehq/plot';
import { type Edge, layout, type Node } from '../network/layout.ts';
import type { ChartDrawing } from './chart.tsx';

const strengthOf = (oddsRatio: Edge['oddsRatio']): number =>
  oddsRatio === 'inf' || oddsRatio === null ? 1000 : oddsRatio === '-inf' ? 1 : Math.max(1, oddsRatio);

/** From strangers to copies, as colour and as width. */
export const strengths = [
  { most: 3, words: 'weak (up to 3)', colour: 'var(--tie-1)', width: 1 },
  { most: 10, words: 'alike (up to 10)', colour: 'var(--tie-2)', width: 1.5 },
  { most: 100, words: 'strong (up to 100)', colour: 'var(--tie-3)', width: 2.2 },
  { most: Number.POSITIVE_INFINITY, words: 'nearly copies', colour: 'var(--tie-4)', width: 3 },
] as const;
export const strengthClass = (oddsRatio: Edge['oddsRatio']) =>
  strengths.find(({ most }) => strengthOf(oddsRatio) <= most) ?? strengths.at(-1)!;

/** A network of records that know each other; the strength of a tie is its colour and its width. */
export function networkChart(nodes: readonly Node[], edges: readonly Edge[]): ChartDrawing {
  const placed = layout(nodes, edges);
  const records = placed.filter((p) => p.kind !== 'shared');
  const at = new Map(placed.map((p) => [p.id, p]));
  const lines = edges.flatMap((e) => {
    const [a, b] = [at.get(e.a), at.get(e.b)];
    return a && b ? [{ x1: a.x, y1: a.y, x2: b.x, y2: b.y, shade: strengthClass(e.oddsRatio) }] : [];
  });
  const ends = [
    Math.min(...placed.map((p) => p.x)),
    Math.max(...placed.map((p) => p.x)),
    Math.min(...placed.map((p) => p.y)),
    Math.max(...placed.map((p) => p.y)),
  ] as const;
  return (width) => {
    const height = Math.round(Math.min(460, width * 0.8));
    const half = Math.max((ends[1] - ends[0]) / width, (ends[3] - ends[2]) / height) * 0.51;
    const [cx, cy] = [(ends[0] + ends[1]) / 2, (ends[2] + ends[3]) / 2];
    return {
      height,
      margin: 8,
      x: { axis: null, domain: [cx - half * width, cx + half * width] },
      y: { axis: null, domain: [cy - half * height, cy + half * height] },
      marks: [
        ...strengths.map((s) =>
          link(
            lines.filter((l) => l.shade === s),
            { x1: 'x1', y1: 'y1', x2: 'x2', y2: 'y2', stroke: s.colour, strokeWidth: s.width },
          ),
        ),
        dot(
          placed.filter((p) => p.kind === 'shared'),
          { x: 'x', y: 'y', r: 2.6, symbol: 'diamond', fill: 'var(--panel)', stroke: 'var(--soft)', strokeWidth: 1.2 },
        ),
        dot(records, {
          x: 'x',
          y: 'y',
          r: (p: Node) => Math.min(6, 1.8 + Math.sqrt(p.degree) / 1.4),
          fill: 'var(--ink)',
          stroke: 'var(--panel)',
          strokeWidth: 1,
        }),
      ],
    };
  };
}
