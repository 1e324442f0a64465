import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { run } from '../experiments/households/run.js';

it('the household experiment plans no more than 1.3 times what C alone would take, and never group noise', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-households-'));
  const quiet = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  try {
    await run(folder);
    const [head, ...rows] = readFileSync(join(folder, 'households.csv'), 'utf8').trim().split('\n');
    expect(head).toContain('planned / (untied x C)');
    expect(rows).toHaveLength(16);
    for (const row of rows) {
      const [, , , planned, ratio, , group] = row.split(',').map(Number);
      expect(ratio).toBeLessThan(1.3);
      expect(planned).toBeLessThanOrEqual(group!);
    }
  } finally {
    quiet.mockRestore();
    rmSync(folder, { recursive: true });
  }
});
