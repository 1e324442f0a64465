import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultLimits } from './limits.js';
import { timeLeft } from './time-left.js';

afterEach(() => vi.unstubAllEnvs());

describe('the time of a release', () => {
  it('FUGU_DEADLINE limits a release and a statement; the defaults are an hour and ten minutes', () => {
    const times = () => [defaultLimits().release, defaultLimits().deadline];
    vi.stubEnv('FUGU_DEADLINE', '');
    expect(times()).toEqual([3_600_000, 600_000]);
    for (const [text, time] of [['90s', 90_000], ['10m', 600_000], ['2h', 7_200_000]] as const) {
      vi.stubEnv('FUGU_DEADLINE', text);
      expect(times()).toEqual([time, time]);
    } // biome-ignore format: one line
    for (const text of ['10', '0s', '-1s', '1.5h', '1d', 'soon', '999999h']) {
      vi.stubEnv('FUGU_DEADLINE', text);
      expect(times).toThrow(/not a usable time/);
    }
  });

  it('the deadline of a release ends each of its statements, and none exceeds the limit of a statement', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const left = timeLeft({ deadline: 600, release: 1000 });
      const readings = [left()];
      for (const passed of [300, 300, 300, 300]) {
        vi.advanceTimersByTime(passed);
        readings.push(left());
      }
      expect(readings).toEqual([600, 600, 400, 100, 0]);
    } finally {
      vi.useRealTimers();
    }
  });
});
