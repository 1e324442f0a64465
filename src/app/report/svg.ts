import { visibleLines } from './visible.js';
/**
 * Drawing with text: every chart is a string of SVG whose colours are CSS variables with a fallback, so it works alone or takes
 * its page's theme.
 */
export const colour = {
  ink: 'var(--ink, #16232e)',
  muted: 'var(--muted, #5b6b78)',
  rule: 'var(--rule, #dde4e8)',
  bar: 'var(--bar, #1f6f8b)',
  soft: 'var(--bar-soft, #c4dce4)',
  accent: 'var(--accent, #cf5f22)',
  paper: 'var(--card, #ffffff)',
} as const;

/** Colours of several series, distinct in lightness as well as in hue. */
export const series: readonly string[] = [
  'var(--s1, #1f6f8b)',
  'var(--s2, #cf5f22)',
  'var(--s3, #6d5bae)',
  'var(--s4, #3f8f52)',
  'var(--s5, #b0872b)',
  'var(--s6, #a3456f)',
];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escapeText = (text: string): string => visibleLines(text).replace(/[&<>"']/g, (c) => entities[c]!);

/** Smallest size of text. */
export const smallest = 11.5;

type Attributes = Readonly<Record<string, string | number | undefined>>;
const round = (x: number) => Math.round(x * 100) / 100;
/** An element; attribute values are escaped, children are markup already. */
export function element(name: string, attributes: Attributes, ...children: string[]): string {
  const written = Object.entries(attributes)
    .filter(([, v]) => v !== undefined)
    .map(([k, v]) => ` ${k}="${typeof v === 'number' ? round(v) : escapeText(v!)}"`)
    .join('');
  return children.length === 0 ? `<${name}${written}/>` : `<${name}${written}>${children.join('')}</${name}>`;
}

export const textElement = (x: number, y: number, text: string, more: Attributes = {}): string =>
  element('text', { x, y, 'font-size': 12, fill: colour.ink, ...more }, escapeText(text));
type Point = readonly [x: number, y: number];
export const line = ([x1, y1]: Point, [x2, y2]: Point, more: Attributes = {}): string =>
  element('line', { x1, y1, x2, y2, stroke: colour.ink, ...more });
export const path = (points: readonly Point[]): string =>
  points.map(([x, y], k) => `${k === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('');

/**
 * Estimate good enough to lay out labels: the width of a wide sans-serif's glyphs (DejaVu, Verdana), so that no font cuts a label
 * off.
 */
export const textWidth = (text: string, size = 12): number =>
  size * [...text].reduce((em, c) => em + (glyphWidths.find(([glyphs]) => glyphs.test(c))?.[1] ?? 0.62), 0);
const glyphWidths = [
  [/[ilj.,:;|'!()[\]]/, 0.36],
  [/[mwMW%@]/, 0.97],
  [/[A-Z]/, 0.72],
] as const;
export function clipText(text: string, width: number, size = 12): string {
  if (textWidth(text, size) <= width) return text;
  let cut = text;
  while (cut.length > 1 && textWidth(`${cut}…`, size) > width) cut = cut.slice(0, -1);
  return `${cut.trimEnd()}…`;
}

export interface Scale {
  (value: number): number;
  readonly ticks: readonly number[];
  readonly range: Point;
}

/** Round numbers that cover the span. */
export function niceTicks(low: number, high: number, count: number): number[] {
  const span = high - low || 1;
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999)!;
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

export function linear(domain: readonly [number, number], range: Point, count = 4): Scale {
  const [a, b] = domain[0] === domain[1] ? [domain[0], domain[0] + 1] : domain;
  const scale = (v: number) => range[0] + ((v - a) / (b - a)) * (range[1] - range[0]);
  return Object.assign(scale, { ticks: niceTicks(a, b, count), range });
}

export function logarithmic(domain: readonly [number, number], range: Point): Scale {
  const [a, b] = [Math.log10(domain[0]), Math.log10(domain[1])];
  const scale = (v: number) => range[0] + ((Math.log10(v) - a) / (b - a || 1)) * (range[1] - range[0]);
  const steps = [1, ...(b - a <= 1.5 ? [2, 5] : []), ...(b - a > 1.5 && b - a <= 3 ? [3] : [])];
  const ticks: number[] = [];
  for (let k = Math.floor(a); k <= b; k++)
    for (const m of steps)
      if (m * 10 ** k >= domain[0] * (1 - 1e-9) && m * 10 ** k <= domain[1] * (1 + 1e-9)) ticks.push(m * 10 ** k);
  return Object.assign(scale, { ticks: ticks.length >= 2 ? ticks : domain, range });
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** Description for screen readers. */
  readonly label: string;
  readonly body: string;
}

const fonts = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

/** For use inside a page: scales to its container, never above its own width. */
export const inline = (drawing: Drawing, more: Attributes = {}): string =>
  element('svg', { ...frameOf(drawing), class: 'chart', ...more }, drawing.body);
const frameOf = ({ width, height, label }: Drawing): Attributes => ({
  viewBox: `0 0 ${round(width)} ${round(height)}`,
  width,
  height,
  role: 'img',
  'aria-label': label,
});

/** Widths of a telephone, and of half a page. */
export const [narrow, half] = [290, 440];

/** Drawn for each of these widths, smallest first; a page shows the one that fits, so that text keeps its size (html-style.ts). */
export const fitting = (draw: (width: number) => Drawing, widths: readonly number[]): string =>
  element(
    'div',
    { class: `fit fit${widths.length}` },
    ...widths.map((width, k) => inline(draw(width), { class: `chart at${k}`, style: `max-width: ${Math.round(1.1 * width)}px` })),
  );

/** Standalone file, on white. */
export const standalone = (drawing: Drawing): string => {
  const { width, height, body } = drawing;
  const paper = element('rect', { width, height, fill: colour.paper });
  return `${element('svg', { xmlns: 'http://www.w3.org/2000/svg', ...frameOf(drawing), 'font-family': fonts }, paper, body)}\n`;
};

/** Drawings in a grid, one caption above each. */
export function smallMultiples(panels: readonly { caption: string; drawing: Drawing }[], across: number, label: string): Drawing {
  const gap = 24;
  const head = 22;
  const cellWidth = Math.max(...panels.map((p) => p.drawing.width));
  const cellHeight = Math.max(...panels.map((p) => p.drawing.height)) + head;
  const rows = Math.ceil(panels.length / across);
  const body = panels.map(({ caption, drawing }, k) =>
    element(
      'g',
      { transform: `translate(${(k % across) * (cellWidth + gap)} ${Math.floor(k / across) * (cellHeight + gap)})` },
      textElement(4, 14, clipText(caption, cellWidth - 8, 13), { 'font-size': 13, 'font-weight': 600 }),
      element('g', { transform: `translate(0 ${head})` }, drawing.body),
    ),
  );
  const columns = Math.min(across, panels.length);
  return {
    width: columns * cellWidth + (columns - 1) * gap,
    height: rows * cellHeight + (rows - 1) * gap,
    label,
    body: body.join(''),
  };
}
