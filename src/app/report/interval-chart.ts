import { barDomain } from './bar-chart.js';
import { type ChartRow, rowChart } from './chart-frame.js';
import { type Ends, estimateText, halfWidth } from './number.js';
import { colour, type Drawing, element, line, type Scale } from './svg.js';

/** The interval is that of the noise; a bound that the noise does not set is null. */
export interface IntervalMark extends Ends {
  readonly label: string;
  readonly value: number | null;
  /** Confidence interval of noise and sampling together. */
  readonly wide?: Ends;
}
interface IntervalChart {
  readonly marks: readonly IntervalMark[];
  readonly label: string;
  readonly width?: number;
}

/** Points with confidence intervals around a zero line: thick for the noise, thin for noise and sampling together. */
export function intervalChart({ marks, label, width = 520 }: IntervalChart): Drawing {
  const rows = marks.map((mark): ChartRow => {
    const { value, low, high, wide } = mark;
    const shown = { label: mark.label, ...estimateText(value, halfWidth(wide ?? mark)) };
    if (value === null) return { ...shown, empty: true, draw: () => '' };
    // Hollow where the noise gives the number no bound.
    const fill = low === null && high === null ? colour.paper : colour.ink;
    const point = { r: 4.5, fill, stroke: colour.ink, 'stroke-width': 1.5 };
    return {
      ...shown,
      draw: (x, y) =>
        [
          wide ? interval(wide, x, y, 1.5) : '',
          interval(mark, x, y, 5),
          element('circle', { cx: x(value), cy: y, ...point }),
        ].join(''),
    };
  });
  return rowChart({ rows, label, width, domain: barDomain(marks.flatMap((m) => [m, { ...m, ...m.wide }])), zero: colour.ink });
}

/** An interval without a bound on one side extends to the edge, with an arrow. */
function interval({ low, high }: Ends, x: Scale, y: number, thick: number): string {
  if (low === null && high === null) return '';
  const [left, right] = x.range;
  const [edge, out] = low === null ? [left, -10] : [right, 10];
  return [
    line([low === null ? left : x(low), y], [high === null ? right : x(high), y], { stroke: colour.bar, 'stroke-width': thick }),
    low === null || high === null ? element('path', { d: `M${edge + out},${y} l${-out},-6 v12 z`, fill: colour.bar }) : '',
  ].join('');
}
