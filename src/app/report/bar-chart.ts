import { estimateText, tickText } from './number.js';
import {
  clipText,
  colour,
  type Drawing,
  element,
  escapeText,
  half,
  line,
  linear,
  smallest,
  textElement,
  textWidth,
} from './svg.js';

export interface Bar {
  readonly label: string;
  readonly value: number | null;
  /** Bounds of the error bar. */
  readonly low: number | null;
  readonly high: number | null;
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
export function barDomain(bars: readonly Bar[]): readonly [number, number] {
  const ends = bars.flatMap((b) => [b.low, b.value, b.high]).filter((x): x is number => x !== null && Number.isFinite(x));
  return [Math.min(0, ...ends), Math.max(0, ...ends) || 1];
}

export const halfWidth = ({ low, high }: Bar): number | null => (low === null || high === null ? null : (high - low) / 2);

/** Horizontal bars with error bars; label to the left, the number and its error in a column to the right. */
export function barChart({ bars, label, width = 520, domain = barDomain(bars), unit = '' }: BarChart): Drawing {
  const longest = Math.max(40, ...bars.map((b) => textWidth(b.label) + 4));
  // A label that would leave too little width, or would be cut, stands above its bar.
  const above = longest > (width < half ? 0.32 : 0.38) * width ? 16 : 0;
  const barHeight = bars.length > 10 ? 20 : 26;
  const rowHeight = barHeight + above;
  const thickness = barHeight - 9;
  const numbers = bars.map((b) => withUnit(shownOf(b), b.value === null ? '' : unit));
  const errors = bars.map((b, k) => b.note ?? numbers[k]!.error);
  const gutter = above > 0 ? 0 : longest;
  const valueWidth = Math.max(...numbers.map((n) => textWidth(n.value)), 24);
  const errorWidth = Math.max(0, ...errors.map((e) => textWidth(e, smallest)));
  const left = gutter + (above > 0 ? 4 : 8);
  const right = width - valueWidth - errorWidth - (errorWidth > 0 ? 34 : 16);
  const x = linear(domain, [left, right], Math.max(1, Math.floor((right - left) / 60)));
  const bottom = bars.length * rowHeight + 6;
  const grid = x.ticks.flatMap((t) => [
    line(x(t), 0, x(t), bottom, { stroke: colour.rule, 'stroke-width': t === 0 ? 1.5 : 1 }),
    textElement(x(t), bottom + 14, tickText(t), { 'text-anchor': 'middle', 'font-size': smallest, fill: colour.muted }),
  ]);
  const rows = bars.map((bar, k) => {
    const middle = k * rowHeight + above + barHeight / 2 + 3;
    const name = element(
      'text',
      above > 0
        ? { x: left, y: k * rowHeight + 15, 'font-size': 12, fill: bar.quiet ? colour.muted : colour.ink }
        : { x: gutter, y: middle + 4, 'text-anchor': 'end', 'font-size': 12, fill: bar.quiet ? colour.muted : colour.ink },
      escapeText(clipText(bar.label, above > 0 ? width - left : gutter - 2)),
      element('title', {}, escapeText(bar.label)),
    );
    const valueEnd = width - errorWidth - (errorWidth > 0 ? 16 : 0);
    const figures = [
      textElement(valueEnd, middle + 4, numbers[k]!.value, {
        'text-anchor': 'end',
        'font-weight': 600,
        fill: bar.value === null || bar.quiet ? colour.muted : colour.ink,
        class: 'figure',
      }),
      textElement(width, middle + 4, errors[k]!, {
        'text-anchor': 'end',
        'font-size': smallest,
        fill: colour.muted,
        class: 'figure',
      }),
    ];
    return [
      name,
      ...(bar.value === null ? [] : [drawBar(bar, bar.value, x, middle, thickness), whisker(bar, x, middle)]),
      ...figures,
    ].join('');
  });
  return { width, height: bottom + 20, label, body: [...grid, ...rows].join('') };
}

const shownOf = (bar: Bar) =>
  bar.value === null
    ? estimateText(null, null)
    : { ...estimateText(bar.value, halfWidth(bar)), ...(bar.text !== undefined && { value: bar.text }) };
const withUnit = ({ value, error }: ReturnType<typeof estimateText>, unit: string) => ({
  value: unit === '' ? value : `${value} ${unit}`,
  error,
});

function drawBar(bar: Bar, value: number, x: (v: number) => number, middle: number, thickness: number): string {
  const [from, to] = [x(0), x(value)].sort((a, b) => a - b) as [number, number];
  return element('rect', {
    x: from,
    y: middle - thickness / 2,
    width: Math.max(to - from, 0.5),
    height: thickness,
    rx: 2,
    fill: bar.quiet ? colour.soft : colour.bar,
  });
}

function whisker({ low, high }: Bar, x: (v: number) => number, middle: number): string {
  if (low === null || high === null) return '';
  const [a, b] = [x(low), x(high)];
  const stroke = { stroke: colour.ink, 'stroke-width': 1.5 };
  // A pale casing keeps the error bar visible on top of the bar.
  return [
    line(a, middle, b, middle, { stroke: colour.paper, 'stroke-width': 4, 'stroke-opacity': 0.75 }),
    line(a, middle, b, middle, stroke),
    line(a, middle - 4, a, middle + 4, stroke),
    line(b, middle - 4, b, middle + 4, stroke),
  ].join('');
}
