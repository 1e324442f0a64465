import type { PairReach } from '../../policy/pairs/examples.js';
import { clipText, colour, type Drawing, element, textElement, textWidth } from './svg.js';

const [row, box, gap, size] = [58, 26, 6, 12];

/** Distinguishability of the values of each column: darker where fewer pairs lie between a value and the one in the middle. */
export function pairsPicture(columns: readonly PairReach[]): Drawing {
  const label = Math.min(160, Math.max(...columns.map(({ column }) => textWidth(column, size))) + 16);
  const widths = columns.map(({ values }) => values.map(({ value, steps }) => widthOf(value, textOf(steps))));
  const width = label + Math.max(...widths.map((list) => list.reduce((sum, w) => sum + w + gap, 0)));
  const body = columns.map(({ column, from, values }, r) => {
    let x = label;
    const boxes = values.map(({ value, steps }, k) => {
      const [at, w] = [x, widths[r]![k]!];
      x += w + gap;
      return element(
        'g',
        {},
        element('rect', { x: at, y: 0, width: w, height: box, rx: 4, ...look(value === from ? 0 : steps) }),
        textElement(at + w / 2, 17, clipText(value, w - 6, size), {
          'text-anchor': 'middle',
          fill: value === from ? colour.paper : colour.ink,
        }),
        textElement(at + w / 2, box + 14, value === from ? '' : textOf(steps), {
          'text-anchor': 'middle',
          'font-size': 10,
          fill: colour.muted,
        }),
      );
    });
    return element(
      'g',
      { transform: `translate(0 ${r * row})` },
      textElement(0, 17, clipText(column, label - 10, size), { 'font-weight': 600 }),
      ...boxes,
    );
  });
  return { width, height: columns.length * row - 10, label: captionText(columns), body: body.join('') };
}

const textOf = (steps: number | null): string => (steps === null ? 'open' : `${steps}x`);
const widthOf = (value: string, under: string): number =>
  Math.min(120, Math.max(30, textWidth(value, size) + 12, textWidth(under, 10) + 4));

/** Fainter with every pair; an outline where no pairs connect the values. */
function look(steps: number | null) {
  if (steps === null) return { fill: colour.paper, stroke: colour.muted, 'stroke-dasharray': '3 3' };
  if (steps === 0) return { fill: colour.bar };
  return { fill: colour.soft, 'fill-opacity': Math.max(0.15, 1 / steps), stroke: colour.rule };
}

const captionText = (columns: readonly PairReach[]): string =>
  columns
    .map(({ column, from, values }) => {
      const near = values.filter(({ steps }) => steps === 1).map(({ value }) => value);
      const isolated = values.filter(({ steps }) => steps === null).map(({ value }) => value);
      return `${column}: ${from} is not distinguished from ${near.join(', ') || 'any other'}${isolated.length > 0 ? `; it may be distinguished from ${isolated.join(', ')}` : ''}`;
    })
    .join('. ');
