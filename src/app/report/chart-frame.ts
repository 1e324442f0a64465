import { tickText } from './number.js';
import {
  clipText,
  colour,
  type Drawing,
  element,
  escapeText,
  half,
  line,
  linear,
  type Scale,
  smallest,
  textElement,
  textWidth,
} from './svg.js';

const tick = (x: number, y: number, text: string, anchor: 'middle' | 'end'): string =>
  textElement(x, y, text, { 'text-anchor': anchor, 'font-size': smallest, fill: colour.muted });

/** Line of the grid: zero is heavier. */
const gridLine = (
  t: number,
  from: readonly [number, number],
  to: readonly [number, number],
  zero: string = colour.rule,
): string => line(from, to, { stroke: t === 0 ? zero : colour.rule, 'stroke-width': t === 0 ? 1.5 : 1 });

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}
interface Axis {
  readonly scale: Scale;
  readonly name?: string;
  readonly ticks?: readonly number[];
  readonly text?: (t: number) => string;
}

/** Grid, ticks and names of the two axes of a plane; without `x`, its marks bring their own labels. */
export function planeFrame(box: Box, { x, y }: { readonly x?: Axis; readonly y: Axis }): string {
  const across = (y.ticks ?? y.scale.ticks).map((t) => {
    const at = y.scale(t);
    return gridLine(t, [box.left, at], [box.right, at]) + tick(box.left - 6, at + 3.5, (y.text ?? tickText)(t), 'end');
  });
  const down = (x?.ticks ?? x?.scale.ticks ?? []).map((t) => {
    const at = x!.scale(t);
    return gridLine(t, [at, box.top], [at, box.bottom]) + tick(at, box.bottom + 15, (x!.text ?? tickText)(t), 'middle');
  });
  const middle = (box.top + box.bottom) / 2;
  return [
    ...across,
    ...down,
    x?.name === undefined ? '' : tick((box.left + box.right) / 2, box.bottom + 34, x.name, 'middle'),
    y.name === undefined ? '' : element('g', { transform: `rotate(-90 12 ${middle})` }, tick(12, middle, y.name, 'middle')),
  ].join('');
}

export interface ChartRow {
  readonly label: string;
  /** "no answer given" and the like are drawn in a quiet colour. */
  readonly quiet?: boolean;
  readonly strong?: boolean;
  /** Figures at the right: the number, and its error or interval. */
  readonly value?: string;
  readonly error?: string;
  /** No number is known. */
  readonly empty?: boolean;
  /** Marks of the row at this height. */
  readonly draw: (x: Scale, y: number) => string;
}
export interface RowChart {
  readonly rows: readonly ChartRow[];
  /** Description for screen readers. */
  readonly label: string;
  readonly width: number;
  readonly domain: readonly [number, number];
  readonly tickLabel?: (t: number) => string;
  /** Colour of the line at zero. */
  readonly zero?: string;
}

/** Thinner where there are many rows. */
export const rowHeight = ({ length }: readonly unknown[]): number => (length > 10 ? 20 : 26);

/** Rows on one horizontal axis: label to the left, figures in columns to the right. */
export function rowChart({ rows, label, width, domain, tickLabel = tickText, zero }: RowChart): Drawing {
  const longest = Math.max(40, ...rows.map((r) => textWidth(r.label) + 4));
  // A label that would leave too little width, or would be cut, stands above its row.
  const above = longest > (width < half ? 0.32 : 0.38) * width ? 16 : 0;
  const own = rowHeight(rows);
  const widest = (texts: readonly (string | undefined)[], size?: number) =>
    Math.max(0, ...texts.map((text) => (text ? textWidth(text, size) : 0)));
  const valueWidth = widest(rows.map((r) => r.value));
  const errorWidth = widest(
    rows.map((r) => r.error),
    smallest,
  );
  const valueEnd = width - errorWidth - (errorWidth > 0 ? 16 : 0);
  const left = above > 0 ? 12 : longest + 12;
  const x = linear(domain, [left, valueEnd - (valueWidth > 0 ? valueWidth + 18 : 16)]);
  const ticks = linear(domain, x.range, Math.max(1, Math.floor((x.range[1] - left) / 60))).ticks;
  const bottom = rows.length * (own + above) + 6;
  const grid = ticks.map((t) => gridLine(t, [x(t), 0], [x(t), bottom], zero) + tick(x(t), bottom + 14, tickLabel(t), 'middle'));
  const drawn = rows.map((row, k) => {
    const top = k * (own + above);
    const middle = top + above + own / 2 + 3;
    const place = above > 0 ? { x: 4, y: top + 15 } : { x: longest, y: middle + 4, 'text-anchor': 'end' };
    const name = element(
      'text',
      { ...place, 'font-size': 12, fill: row.quiet ? colour.muted : colour.ink, ...(row.strong && { 'font-weight': 700 }) },
      escapeText(clipText(row.label, above > 0 ? width - 4 : longest - 2)),
      element('title', {}, escapeText(row.label)),
    );
    const figure = (at: number, text: string | undefined, look: Parameters<typeof textElement>[3]) =>
      text ? textElement(at, middle + 4, text, { 'text-anchor': 'end', class: 'figure', ...look }) : '';
    return [
      name,
      row.draw(x, middle),
      figure(valueEnd, row.value, { 'font-weight': 600, fill: row.empty || row.quiet ? colour.muted : colour.ink }),
      figure(width, row.error, { 'font-size': smallest, fill: colour.muted }),
    ].join('');
  });
  return { width, height: bottom + 20, label, body: [...grid, ...drawn].join('') };
}
