import { afterEach, expect, it, vi } from 'vitest';
import { openLedger } from '../../release/ledger/open.js';
import { memoryOf } from '../../release/ledger/postgres/seen.js';
import { openEngine } from '../terms/open.js';

vi.mock('node:os', async (original) => {
  const unknown = () => {
    throw Object.assign(new Error('A system error occurred: uv_os_get_passwd returned ENOENT'), { code: 'ERR_SYSTEM_ERROR' });
  };
  return { ...(await original<typeof import('node:os')>()), userInfo: unknown, homedir: unknown };
});
afterEach(() => vi.unstubAllEnvs());

it('a process without a user name must be given one before it contacts any server', async () => {
  vi.stubEnv('PGUSER', undefined);
  vi.stubEnv('TRINO_USER', undefined);
  for (const [variable, work] of [
    ['PGUSER', () => openEngine({ source: 'postgres://127.0.0.1:1/town', table: 'people' })],
    ['PGUSER', () => openLedger('postgres://127.0.0.1:1/town')],
    ['TRINO_USER', () => openEngine({ source: 'trino://127.0.0.1:1/town/public', table: 'people' })],
  ] as const)
    await expect(work()).rejects.toMatchObject({
      name: 'Fault',
      code: 'ACCESS_DENIED',
      hint: expect.stringContaining(variable),
    });
  // With a user name the connection is attempted; there is no server.
  vi.stubEnv('PGUSER', 'reader');
  await expect(openEngine({ source: 'postgres://127.0.0.1:1/town', table: 'people' })).rejects.toMatchObject({
    message: expect.stringMatching(/cannot be reached/),
  });
});

it('a process without a home directory keeps the ledger position that it has seen in its own memory', () => {
  vi.stubEnv('XDG_STATE_HOME', undefined);
  const memory = memoryOf('postgres://keeper@127.0.0.1/budgets');
  memory.see({ sequence: 3, hash: 'abc', recovered: [] });
  expect(memory.seen()).toEqual({ sequence: 3, hash: 'abc', recovered: [] });
});
