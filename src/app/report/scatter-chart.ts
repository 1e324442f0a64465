import { planeFrame } from './chart-frame.js';
import { colour, type Drawing, element, linear, textElement } from './svg.js';

export interface ScatterChart {
  readonly points: readonly { readonly x: number; readonly y: number; readonly name: string; readonly size?: number }[];
  readonly xLabel: string;
  readonly yLabel: string;
  readonly label: string;
  readonly width?: number;
}

/** Named points in the plane: cluster centres. */
export function scatterChart({ points, xLabel, yLabel, label, width = 640 }: ScatterChart): Drawing {
  const height = Math.round(0.72 * width);
  const box = { left: 64, right: width - 20, top: 16, bottom: height - 42 };
  const x = linear(padded(points.map((p) => p.x)), [box.left, box.right], Math.max(2, Math.floor((box.right - box.left) / 90)));
  const y = linear(padded(points.map((p) => p.y)), [box.bottom, box.top]);
  const most = Math.max(1, ...points.map((p) => p.size ?? 1));
  const dots = points.map(
    (p) =>
      element('circle', {
        cx: x(p.x),
        cy: y(p.y),
        r: 8 + 14 * Math.sqrt(Math.max(0, p.size ?? 0) / most),
        fill: colour.bar,
        'fill-opacity': 0.75,
      }) + textElement(x(p.x), y(p.y) + 4, p.name, { 'text-anchor': 'middle', fill: colour.paper, 'font-weight': 600 }),
  );
  const frame = planeFrame(box, { x: { scale: x, name: xLabel }, y: { scale: y, name: yLabel } });
  return { width, height, label, body: frame + dots.join('') };
}

function padded(values: readonly number[]): [number, number] {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const margin = (high - low || 1) * 0.12;
  return [low - margin, high + margin];
}
