import { afterEach, expect, it, vi } from 'vitest';
import { Fault } from '../errors.js';
import { closing } from './session.js';

afterEach(() => vi.restoreAllMocks());

const stuck = { close: () => Promise.reject(new Fault('DISK_FAILED', 'The ledger cannot be closed.', 'Look at the disk.')) };

it('keeps an answer when closing fails, and warns', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect(await closing(stuck, async () => 'answer')).toBe('answer');
  expect(said).toHaveBeenCalledWith(expect.stringMatching(/warning: The ledger cannot be closed/));
});

it('tells what went wrong first, not that closing failed, too', async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await expect(closing(stuck, () => Promise.reject(new RangeError('first')))).rejects.toThrow('first');
});
