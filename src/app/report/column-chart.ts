import { type Bar, barDomain } from './bar-chart.js';
import { briefNumber, tickText } from './number.js';
import { clipText, colour, type Drawing, element, escapeText, line, linear, smallest, textElement, textWidth } from './svg.js';

/** Upright columns for many ordered levels (ages, hours): shape first, numbers in the table below it. */
export function columnChart({
  bars,
  label,
  width = 520,
  height = 220,
}: {
  bars: readonly Bar[];
  label: string;
  width?: number;
  height?: number;
}): Drawing {
  const plot = { left: 44, right: width - 4, top: 8, bottom: height - 28 };
  const y = linear(barDomain(bars), [plot.bottom, plot.top], 4);
  const step = (plot.right - plot.left) / bars.length;
  const thick = Math.max(1, step * 0.72);
  const labelHeight = Math.max(...bars.map((b) => textWidth(b.label, smallest))) + 10;
  const every = Math.max(1, Math.ceil(labelHeight / step));
  const grid = y.ticks.flatMap((t) => [
    line(plot.left, y(t), plot.right, y(t), { stroke: colour.rule, 'stroke-width': t === 0 ? 1.5 : 1 }),
    textElement(plot.left - 6, y(t) + 3.5, tickText(t), { 'text-anchor': 'end', 'font-size': smallest, fill: colour.muted }),
  ]);
  const columns = bars.map((bar, k) => {
    const middle = plot.left + step * (k + 0.5);
    const name =
      k % every === 0
        ? textElement(middle, plot.bottom + 16, clipText(bar.label, step * every, smallest), {
            'text-anchor': 'middle',
            'font-size': smallest,
            fill: colour.muted,
          })
        : '';
    if (bar.value === null) return name;
    const [from, to] = [y(0), y(bar.value)].sort((a, b) => a - b) as [number, number];
    const column = element(
      'rect',
      {
        x: middle - thick / 2,
        y: from,
        width: thick,
        height: Math.max(0.5, to - from),
        rx: thick > 6 ? 2 : 0,
        fill: bar.quiet ? colour.soft : colour.bar,
      },
      element('title', {}, escapeText(`${bar.label}: ${briefNumber(bar.value)}`)),
    );
    const whisker =
      bar.low === null || bar.high === null
        ? ''
        : line(middle, y(bar.low), middle, y(bar.high), {
            stroke: colour.ink,
            'stroke-opacity': 0.65,
            'stroke-width': Math.min(1.5, thick / 3),
          });
    return column + whisker + name;
  });
  return { width, height, label, body: [...grid, ...columns].join('') };
}
