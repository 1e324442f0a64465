import { describe, expect, it } from 'vitest';
import { intervalChart } from './interval-chart.js';
import { intervalText } from './number.js';

const chart = (low: number | null, high: number | null): string =>
  intervalChart({ label: 'coefficients', marks: [{ label: 'age', value: 3, low, high }] }).body;

describe('the drawing of a confidence interval', () => {
  it('an interval is drawn with an arrow on the side without a bound, and hollow without any bound', () => {
    expect(chart(1, 5)).not.toContain('<path');
    const right = /<path d="M([\d.]+),[\d.]+ l-10,/.exec(chart(1, null));
    const left = /<path d="M([\d.]+),[\d.]+ l10,/.exec(chart(null, 5));
    expect(Number(right![1])).toBeGreaterThan(Number(left![1]) + 100);
    expect(chart(null, null)).not.toContain('<path');
    const dots = [chart(1, 5), chart(1, null), chart(null, null)].map((body) => /<circle [^>]*fill="([^"]+)"/.exec(body)![1]);
    expect(dots[1]).toBe(dots[0]);
    expect(dots[2]).not.toBe(dots[0]);
  });

  it('an interval is described by the bounds that it has', () => {
    const words = (low: number | null, high: number | null) => intervalText({ low, high }, String, { to: ' to ', none: '-' });
    expect([words(1, 5), words(1, null), words(null, 5), words(null, null)]).toEqual(['1 to 5', 'from 1', 'up to 5', '-']);
  });
});
