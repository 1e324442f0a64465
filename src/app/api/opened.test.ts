import { expect, it } from 'vitest';
import { Fault } from '../../base/errors.js';
import { closing } from './opened.js';

const stuck = { close: () => Promise.reject(new Fault('DISK_FAILED', 'The ledger cannot be closed.', 'Look at the disk.')) };

it('keeps an answer when closing fails, and warns', async () => {
  const said: unknown[] = [];
  expect(
    await closing(
      stuck,
      async () => 'answer',
      (error) => said.push(error),
    ),
  ).toBe('answer');
  expect(said).toEqual([expect.objectContaining({ message: 'The ledger cannot be closed.' })]);
});

it('tells what went wrong first, not that closing failed, too', async () => {
  await expect(closing(stuck, () => Promise.reject(new RangeError('first')))).rejects.toThrow('first');
});
