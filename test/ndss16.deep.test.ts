import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { bestMatching, clusteringAccuracy, lloyd } from '../experiments/ndss16/cluster.js';
import { dataFolder } from '../experiments/ndss16/data.js';
import { run } from '../experiments/ndss16/run.js';
import { separation } from '../experiments/ndss16/separation.js';

describe('the measures of the experiment', () => {
  it('clusters are matched one to one in the best way', () => {
    expect(bestMatching([Float64Array.of(5, 9, 1), Float64Array.of(8, 7, 1), Float64Array.of(2, 2, 2)])).toBe(19);
  });

  it('the same clustering under other names is perfect', () => {
    const points = { count: 6, width: 1, at: Float64Array.of(0, 0.1, 0.5, 0.6, 0.9, 1) };
    const { centres } = lloyd(points, Float64Array.of(0, 0.5, 1));
    expect(clusteringAccuracy(points, centres, centres.toReversed())).toBe(1);
    expect(clusteringAccuracy(points, centres, Float64Array.of(-5, 0.5, 9))).toBeLessThan(1);
  });

  it('the measures show that copies double the loss', () => {
    const copies = [
      { secret: 0, answer: 0 },
      { secret: 1, answer: 2 },
    ];
    expect(separation(copies, 1)).toBeCloseTo(2, 12);
  });
});

describe.skipIf(!dataFolder)('the reproduction of Liu et al. 2016 on the public data, quick form', () => {
  it('the reproduction writes every figure and keeps the promise for attackers inside the class', async () => {
    const out = mkdtempSync(join(tmpdir(), 'fugu-ndss16-test-'));
    process.env.FUGU_QUICK = '1';
    const quiet = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    try {
      await run(out);
      for (const name of ['2', '3', '5a', '5b', '6', '8a', '8b', '9a-12d', '9a-2d', '9b', '9c', '10a', '10b'])
        expect(existsSync(join(out, `figure-${name}.svg`)), `figure ${name}`).toBe(true);
      const shifts = readFileSync(join(out, 'shifts.csv'), 'utf8').trim().split('\n').slice(1);
      const cells = shifts.map((line) => line.match(/("[^"]*"|[^,]+)/g)!);
      const certified = cells.filter(([release]) => release!.includes('certified'));
      const inside = certified.filter(([, attacker]) => !attacker!.includes('OUTSIDE'));
      expect(inside.length).toBeGreaterThanOrEqual(4);
      for (const [, , shift, promised] of inside) expect(Number(shift)).toBeLessThanOrEqual(Number(promised));
      const outside = certified.filter(([, attacker]) => attacker!.includes('OUTSIDE'));
      expect(Math.max(...outside.map(([, , shift]) => Number(shift)))).toBeGreaterThan(0.8);
      const table = readFileSync(join(out, 'table-1.csv'), 'utf8');
      expect(table).toContain('New York,all,2523,122898,20580');
      expect(readFileSync(join(out, 'figure-5-split.csv'), 'utf8')).toContain('attack 2,');
    } finally {
      delete process.env.FUGU_QUICK;
      quiet.mockRestore();
      rmSync(out, { recursive: true, force: true });
    }
  });
});
