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

export interface IntervalMark {
  readonly label: string;
  readonly value: number | null;
  /** Confidence interval of the noise; null where the noise sets no bound. */
  readonly low: number | null;
  readonly high: number | null;
  /** Confidence interval of noise and sampling together. */
  readonly wide?: { readonly low: number | null; readonly high: number | null };
}

/** Points with confidence intervals around a zero line: thick for the noise, thin for noise and sampling together. */
export function intervalChart({
  marks,
  label,
  width = 520,
}: {
  readonly marks: readonly IntervalMark[];
  readonly label: string;
  readonly width?: number;
}): Drawing {
  const longest = Math.max(40, ...marks.map((m) => textWidth(m.label) + 4));
  const above = width < half && longest > 0.32 * width ? 16 : 0;
  const rowHeight = 26 + above;
  const numbers = marks.map((m) => estimateText(m.value, widthOf(m)));
  const gutter = above > 0 ? 0 : Math.min(width * 0.38, longest);
  const valueWidth = Math.max(...numbers.map((n) => textWidth(n.value)), 24);
  const errorWidth = Math.max(0, ...numbers.map((n) => textWidth(n.error, smallest)));
  const left = gutter + 12;
  const right = width - valueWidth - errorWidth - 34;
  const ends = marks.flatMap((m) => [m.low, m.high, m.value, m.wide?.low ?? null, m.wide?.high ?? null]);
  const there = ends.filter((x): x is number => x !== null && Number.isFinite(x));
  const domain = [Math.min(0, ...there), Math.max(0, ...there) || 1] as const;
  const x = linear(domain, [left, right], Math.max(1, Math.floor((right - left) / 60)));
  const bottom = marks.length * rowHeight + 6;
  const grid = x.ticks.flatMap((t) => [
    line(x(t), 0, x(t), bottom, { stroke: t === 0 ? colour.ink : colour.rule, 'stroke-width': 1 }),
    textElement(x(t), bottom + 14, tickText(t), { 'text-anchor': 'middle', 'font-size': smallest, fill: colour.muted }),
  ]);
  const rows = marks.map((mark, k) => {
    const middle = k * rowHeight + above + 16;
    const name = element(
      'text',
      above > 0
        ? { x: 4, y: k * rowHeight + 15, 'font-size': 12, fill: colour.ink }
        : { x: gutter, y: middle + 4, 'text-anchor': 'end', 'font-size': 12, fill: colour.ink },
      escapeText(clipText(mark.label, above > 0 ? width - 4 : gutter - 2)),
      element('title', {}, escapeText(mark.label)),
    );
    const figures = [
      textElement(width - errorWidth - (errorWidth > 0 ? 16 : 0), middle + 4, numbers[k]!.value, {
        'text-anchor': 'end',
        'font-weight': 600,
        fill: mark.value === null ? colour.muted : colour.ink,
        class: 'figure',
      }),
      textElement(width, middle + 4, numbers[k]!.error, {
        'text-anchor': 'end',
        'font-size': smallest,
        fill: colour.muted,
        class: 'figure',
      }),
    ];
    return [name, ...drawn(mark, x, middle, [left, right]), ...figures].join('');
  });
  return { width, height: bottom + 20, label, body: [...grid, ...rows].join('') };
}

const widthOf = ({ low, high, wide }: IntervalMark): number | null => {
  const [a, b] = wide ? [wide.low, wide.high] : [low, high];
  return a === null || b === null ? null : (b - a) / 2;
};

function drawn(
  { value, low, high, wide }: IntervalMark,
  x: (v: number) => number,
  middle: number,
  [left, right]: readonly [number, number],
): readonly string[] {
  if (value === null) return [];
  // An interval without a bound on one side extends to the edge, with an arrow.
  const bar = (a: number | null, b: number | null, thick: number): string => {
    if (a === null && b === null) return '';
    const [from, to] = [a === null ? left : x(a), b === null ? right : x(b)];
    const [edge, out] = a === null ? [left, -10] : [right, 10];
    const point = `M${edge + out},${middle} l${-out},-6 v12 z`;
    return [
      line(from, middle, to, middle, { stroke: colour.bar, 'stroke-width': thick }),
      ...(a === null || b === null ? [element('path', { d: point, fill: colour.bar })] : []),
    ].join('');
  };
  const known = low !== null || high !== null;
  return [
    ...(wide ? [bar(wide.low, wide.high, 1.5)] : []),
    bar(low, high, 5),
    // Hollow where the noise gives the number no bound.
    element('circle', {
      cx: x(value),
      cy: middle,
      r: 4.5,
      fill: known ? colour.ink : colour.paper,
      stroke: colour.ink,
      'stroke-width': 1.5,
    }),
  ];
}
