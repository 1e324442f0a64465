import { planeFrame } from './chart-frame.js';
import { briefNumber } from './number.js';
import {
  clipText,
  colour,
  type Drawing,
  element,
  line,
  linear,
  logarithmic,
  series as palette,
  path,
  type Scale,
  smallest,
  textElement,
  textWidth,
} from './svg.js';

export interface LineSeries {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number; readonly low?: number; readonly high?: number }[];
  /** Drawn dashed: figures from another source. */
  readonly dashed?: boolean;
}
export interface LineChart {
  readonly series: readonly LineSeries[];
  readonly xLabel: string;
  readonly yLabel: string;
  readonly label: string;
  readonly width?: number;
  readonly height?: number;
  readonly logX?: boolean;
  readonly logY?: boolean;
  readonly xDomain?: readonly [number, number];
  readonly yDomain?: readonly [number, number];
  readonly percentY?: boolean;
}

const span = (numbers: readonly number[]): [number, number] => [Math.min(...numbers), Math.max(...numbers)];

/** Lines over a shared axis, with a band where a series has one, and its name at the line's end (or in a legend when ends collide). */
export function lineChart(chart: LineChart): Drawing {
  const { series, width = 520, height = 300 } = chart;
  const all = series.flatMap((s) => s.points);
  const xs = chart.xDomain ?? span(all.map((p) => p.x));
  const ys = chart.yDomain ?? widen(span(all.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y])), chart.logY === true);
  const names = series.length > 1 ? legend(series, 56, width - 14) : { rows: 0, drawn: '' };
  const top = 12 + 18 * names.rows;
  const box = { left: 56, right: width - 14, top, bottom: height - 42 };
  const across = (chart.logX ? logarithmic : linear)(
    xs,
    [box.left, box.right],
    Math.max(2, Math.floor((box.right - box.left) / 80)),
  );
  const up = (chart.logY ? logarithmic : linear)(ys, [box.bottom, box.top], Math.max(2, Math.floor((box.bottom - box.top) / 45)));
  // Steps are whole numbers.
  const ticks = all.every((p) => Number.isInteger(p.x)) ? across.ticks.filter(Number.isInteger) : across.ticks;
  const frame = planeFrame(box, {
    x: { scale: across, ticks, name: chart.xLabel },
    y: { scale: up, name: chart.yLabel, ...(chart.percentY && { text: (t) => `${briefNumber(t * 100)} %` }) },
  });
  const drawn = series.map((s, k) => drawSeries(s, palette[k % palette.length]!, across, up));
  return { width, height, label: chart.label, body: [frame, ...drawn, names.drawn].join('') };
}

function widen([low, high]: [number, number], log: boolean): [number, number] {
  if (log) return [low / 1.15, high * 1.15];
  const margin = (high - low || Math.abs(high) || 1) * 0.06;
  return [low >= 0 && low - margin < 0 ? 0 : low - margin, high + margin];
}

function drawSeries(s: LineSeries, stroke: string, x: Scale, y: Scale): string {
  const points = [...s.points].sort((a, b) => a.x - b.x);
  const banded = points.filter((p) => p.low !== undefined && p.high !== undefined);
  const band =
    banded.length > 1
      ? element('path', {
          d: `${path([...banded.map((p) => [x(p.x), y(p.high!)] as const), ...banded.toReversed().map((p) => [x(p.x), y(p.low!)] as const)])}Z`,
          fill: stroke,
          'fill-opacity': 0.16,
        })
      : '';
  const track = element('path', {
    d: path(points.map((p) => [x(p.x), y(p.y)])),
    fill: 'none',
    stroke,
    'stroke-width': 2,
    'stroke-linejoin': 'round',
    ...(s.dashed && { 'stroke-dasharray': '5 4' }),
  });
  const dots = points.length <= 40 ? points.map((p) => element('circle', { cx: x(p.x), cy: y(p.y), r: 2.6, fill: stroke })) : [];
  return [band, track, ...dots].join('');
}

/** Legend of names in one row, or in as many as they need. */
function legend(series: readonly LineSeries[], left: number, right: number): { readonly rows: number; readonly drawn: string } {
  let [at, row] = [left, 0];
  const drawn = series.map((s, k) => {
    const name = clipText(s.name, right - left - 22, smallest);
    const margin = 34 + textWidth(name, smallest);
    if (at > left && at + margin - 14 > right) [at, row] = [left, row + 1];
    const stroke = palette[k % palette.length]!;
    const y = 11 + 18 * row;
    const one = [
      line([at, y], [at + 16, y], { stroke, 'stroke-width': 2.5, ...(s.dashed && { 'stroke-dasharray': '4 3' }) }),
      textElement(at + 20, y + 4, name, { 'font-size': smallest, fill: colour.ink }),
    ];
    at += margin;
    return one.join('');
  });
  return { rows: row + 1, drawn: drawn.join('') };
}
