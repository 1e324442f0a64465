import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the walk table of the architecture page is what the build does', () => {
  const { status, stderr } = spawnSync(process.execPath, [join('scripts', 'walk.mjs'), '--check'], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
