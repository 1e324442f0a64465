import { type ChartRow, planeFrame, rowChart, rowHeight } from './chart-frame.js';
import { briefNumber, type Ends, estimateText, halfWidth } from './number.js';
import {
  clipText,
  colour,
  type Drawing,
  element,
  escapeText,
  line,
  linear,
  type Scale,
  smallest,
  textElement,
  textWidth,
} from './svg.js';

export interface Bar extends Ends {
  readonly label: string;
  readonly value: number | null;
  /** "no answer given" and the like are drawn in a quiet colour. */
  readonly quiet?: boolean;
  /** Replaces the value, which is otherwise rounded to the precision of its error. */
  readonly text?: string;
  /** Replaces "± …". */
  readonly note?: string;
}
export interface BarChart {
  readonly bars: readonly Bar[];
  readonly label: string;
  readonly width?: number;
  /** Same scale over several charts. */
  readonly domain?: readonly [number, number];
  /** Unit after every number. */
  readonly unit?: string;
}

/** Always from zero: a bar's length is its value. */
export function barDomain(bars: readonly (Ends & Pick<Bar, 'value'>)[]): readonly [number, number] {
  const ends = bars.flatMap((b) => [b.low, b.value, b.high]).filter((x): x is number => x !== null && Number.isFinite(x));
  return [Math.min(0, ...ends), Math.max(0, ...ends) || 1];
}

/** Horizontal bars with error bars; label to the left, the number and its error in columns to the right. */
export function barChart({ bars, label, width = 520, domain = barDomain(bars), unit = '' }: BarChart): Drawing {
  const thickness = rowHeight(bars) - 9;
  const rows = bars.map((bar): ChartRow => {
    const { value } = bar;
    const shown = estimateText(value, halfWidth(bar));
    const row = { label: bar.label, quiet: bar.quiet === true, error: bar.note ?? shown.error };
    if (value === null) return { ...row, value: shown.value, empty: true, draw: () => '' };
    return {
      ...row,
      value: [bar.text ?? shown.value, unit].join(' ').trimEnd(),
      draw: (x, y) =>
        element('rect', {
          ...barSpan(x, value),
          y: y - thickness / 2,
          height: thickness,
          rx: 2,
          fill: bar.quiet ? colour.soft : colour.bar,
        }) + whisker(bar, x, y),
    };
  });
  return rowChart({ rows, label, width, domain });
}

/** From zero to the value. */
function barSpan(x: Scale, value: number): { readonly x: number; readonly width: number } {
  const from = Math.min(x(0), x(value));
  return { x: from, width: Math.max(Math.abs(x(value) - x(0)), 0.5) };
}

function whisker({ low, high }: Bar, x: Scale, y: number): string {
  if (low === null || high === null) return '';
  const [a, b] = [x(low), x(high)];
  const stroke = { stroke: colour.ink, 'stroke-width': 1.5 };
  // A pale casing keeps the error bar visible on top of the bar.
  return [
    line([a, y], [b, y], { stroke: colour.paper, 'stroke-width': 4, 'stroke-opacity': 0.75 }),
    line([a, y], [b, y], stroke),
    ...[a, b].map((end) => line([end, y - 4], [end, y + 4], stroke)),
  ].join('');
}

/** Upright columns for many ordered levels (ages, hours): shape first, numbers in the table below it. */
export function columnChart({ bars, label, width = 520 }: Pick<BarChart, 'bars' | 'label' | 'width'>): Drawing {
  const height = 220;
  const box = { left: 44, right: width - 4, top: 8, bottom: height - 28 };
  const y = linear(barDomain(bars), [box.bottom, box.top]);
  const step = (box.right - box.left) / bars.length;
  const thick = Math.max(1, step * 0.72);
  const every = Math.max(1, Math.ceil((Math.max(...bars.map((b) => textWidth(b.label, smallest))) + 10) / step));
  const columns = bars.map((bar, k) => {
    const middle = box.left + step * (k + 0.5);
    const look = { 'text-anchor': 'middle', 'font-size': smallest, fill: colour.muted };
    const name = k % every === 0 ? textElement(middle, box.bottom + 16, clipText(bar.label, step * every, smallest), look) : '';
    if (bar.value === null) return name;
    const { x: top, width: length } = barSpan(y, bar.value);
    const column = element(
      'rect',
      {
        x: middle - thick / 2,
        y: top,
        width: thick,
        height: length,
        rx: thick > 6 ? 2 : 0,
        fill: bar.quiet ? colour.soft : colour.bar,
      },
      element('title', {}, escapeText(`${bar.label}: ${briefNumber(bar.value)}`)),
    );
    if (bar.low === null || bar.high === null) return column + name;
    const stroke = { 'stroke-opacity': 0.65, 'stroke-width': Math.min(1.5, thick / 3) };
    return column + line([middle, y(bar.low)], [middle, y(bar.high)], stroke) + name;
  });
  return { width, height, label, body: planeFrame(box, { y: { scale: y } }) + columns.join('') };
}
