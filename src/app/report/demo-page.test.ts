import { describe, expect, it } from 'vitest';
import { demoPage } from './demo-page.js';

const release = (knowing: number, most: number) => ({
  error: 80,
  leakage: 2.2,
  ignoring: 0.24,
  knowing,
  finding: [
    { party: 'left', value: 100, low: 50, high: 150 },
    { party: 'none', value: most, low: most - 50, high: most + 50 },
  ],
});

describe('the page of the demo', () => {
  const page = demoPage({
    people: 8000,
    households: 4000,
    questions: 12,
    strangers: release(0.51, 600),
    declared: release(0.24, 620),
  });

  it('the demo page draws the prior, and the posteriors under plain noise and under Fugu', () => {
    const filled = page.split('<section class="card').map((card) => card.match(/<circle[^>]*r="5.4"/g)?.length ?? 0);
    expect(filled.filter((n) => n > 0)).toEqual([10, 51, 24]);
  });

  it('the demo page shows the finding of both releases on one scale, and loads nothing', () => {
    expect(page).toMatch(/600[\s\S]*620/);
    expect(page).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/);
  });
});
