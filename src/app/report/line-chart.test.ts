import { describe, expect, it } from 'vitest';
import { lineChart } from './line-chart.js';
import { digitsFor, estimateText, tickText } from './number.js';
import { clipText, niceTicks, smallMultiples, standalone, textWidth } from './svg.js';

describe('line charts', () => {
  const chart = lineChart({
    series: [
      { name: 'ours', points: [1, 2, 3].map((x) => ({ x, y: x * x, low: x, high: 2 * x * x })) },
      {
        name: 'theirs',
        points: [
          { x: 1, y: 2 },
          { x: 3, y: 4 },
        ],
        dashed: true,
      },
    ],
    xLabel: 'x',
    yLabel: 'y',
    label: 'squares',
  });

  it('line charts draw lines, bands and a legend inside their frame, without broken coordinates', () => {
    const svg = standalone(chart);
    expect(svg).toMatch(/^<svg xmlns=/);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    expect(svg).toContain('stroke-dasharray');
    expect(svg).toContain('fill-opacity="0.16"');
  });

  it('line charts accept one point, equal values and logarithmic axes', () => {
    for (const y of [0, 5])
      expect(lineChart({ series: [{ name: 'a', points: [{ x: 1, y }] }], xLabel: '', yLabel: '', label: '' }).body).not.toMatch(
        /NaN|Infinity/,
      );
    const log = lineChart({
      series: [{ name: 'a', points: [1, 10, 1000].map((x) => ({ x, y: 1 / x })) }],
      xLabel: '',
      yLabel: '',
      label: '',
      logX: true,
      logY: true,
    });
    expect(log.body).not.toMatch(/NaN|Infinity/);
  });

  it('charts fit next to each other as small multiples', () => {
    const grid = smallMultiples(
      [1, 2, 3].map((k) => ({ caption: `panel ${k}`, drawing: chart })),
      2,
      'three',
    );
    expect(grid.width).toBe(2 * chart.width + 24);
    expect(grid.body.match(/panel/g)!.length).toBe(3);
  });
});

describe('numbers for people', () => {
  it('a number shows the digits that its error leaves meaningful', () => {
    expect(estimateText(1204.4, 35.2)).toEqual({ value: '1,204', error: '± 35' });
    expect(estimateText(0.34123, 0.0071)).toEqual({ value: '0.3412', error: '± 0.0071' });
    expect(estimateText(42.476, 0.61)).toEqual({ value: '42.48', error: '± 0.61' });
    expect(estimateText(null, 3)).toEqual({ value: 'no answer', error: '' });
    expect(digitsFor(0)).toBe(0);
  });

  it('numbers on axes are short', () => {
    expect([0, 1500, 25_000, 3_500_000, 0.25].map(tickText)).toEqual(['0', '1,500', '25k', '3.5M', '0.25']);
    expect(niceTicks(0, 97, 4)).toEqual([0, 25, 50, 75]);
  });

  it('labels are cut to the available width', () => {
    expect(clipText('short', 100)).toBe('short');
    const cut = clipText('a very long answer that does not fit', 80);
    expect(cut.endsWith('…')).toBe(true);
    expect(textWidth(cut)).toBeLessThanOrEqual(80);
  });

  it('an axis counts steps in whole numbers', () => {
    const over = (xs: readonly number[]) =>
      lineChart({
        series: [{ name: 'a', points: xs.map((x) => ({ x, y: 1 })) }],
        xLabel: 'step',
        yLabel: '',
        label: '',
        width: 860,
      }).body;
    const steps = Array.from({ length: 23 }, (_, k) => k + 1);
    expect(over(steps)).not.toMatch(/>\d+\.5</);
    expect(over(steps)).toMatch(/>15</);
    expect(over(steps.map((x) => x + 0.25))).toMatch(/>\d+\.5</);
  });
});
