import { describe, expect, it } from 'vitest';
import { barChart } from './bar-chart.js';
import { half, narrow } from './svg.js';

const chart = (label: string, width: number) =>
  barChart({ bars: [{ label, value: 3, low: 2, high: 4 }], label: 'a chart', width }).body;

describe('bar charts', () => {
  it.each([narrow, half, 1016])(
    'a bar chart of width %d shows labels whole, above the bars if there is no room to their left',
    (width) => {
      const [short, long] = ['north', '2023-01-01 to 2023-02-06'];
      expect(chart(short, width)).toMatch(/text-anchor="end"[^>]*>north</);
      const drawn = chart(long, width);
      expect(drawn).not.toContain('…');
      expect(/text-anchor="end"[^>]*>2023-01-01/.test(drawn)).toBe(width > half);
    },
  );
});
