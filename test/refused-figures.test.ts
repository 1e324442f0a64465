import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { open } from '../src/app/api/fugu.js';
import type { Fault } from '../src/base/errors.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-refused-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const is = (column: string, value: string | number) => ({ column, op: '=' as const, value });
const count = (week?: number) => ({
  kind: 'count' as const,
  where: [is('g', 'a'), ...(week === undefined ? [] : [is('week', week)])],
});

it('a refused release states the requested and the remaining amount, of the week that it is about', async () => {
  const rows = Array.from({ length: 12 }, (_, i) => `p${i},${i % 3},${'ab'[i % 2]}`).join('\n');
  writeFileSync(join(folder, 'a.csv'), `id,week,g\n${rows}\n`);
  const policy = join(folder, 'policy.yaml');
  writeFileSync(
    policy,
    `data: { source: a.csv }
population: refused
ledger: ledger.db
protect: { secret: row, unit: id }
budget: { epsilon: 1 }
dependence: none
columns:
  week: { type: integer, bounds: [0, 2], public: true }
  g: { type: category, values: [a, b] }
`,
  );
  await using fugu = await open(policy);
  const refused = (week: number, epsilon: string): Promise<Fault> =>
    fugu.release(count(week), { epsilon }).then(
      () => expect.unreachable('it was answered'),
      (error: unknown) => error as Fault,
    );
  await fugu.release(count(), { epsilon: '0.4' });
  await fugu.release(count(0), { epsilon: '0.5' });
  // Week 0 has 0.1 left, week 1 has 0.6.
  expect((await refused(0, '0.3')).message).toMatch(/requested 0\.3, spent 0\.9 of 1, remaining 0\.1 /);
  expect((await refused(1, '0.7')).message).toMatch(/requested 0\.7, spent 0\.4 of 1, remaining 0\.6 /);
  expect((await refused(1, '1.5')).details).toMatchObject({ asked: 1.5, remaining: 0.6 });
  await fugu.release(count(1), { epsilon: '0.6' });
});
