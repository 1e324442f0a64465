import { expect, it } from 'vitest';
import { Fault } from '../../base/errors.js';
import { withClosing } from './open-handles.js';

const stuck = { close: () => Promise.reject(new Fault('DISK_FAILED', 'The ledger cannot be closed.', 'Look at the disk.')) };

it('an answer is kept when closing fails, and a warning is given', async () => {
  const warnings: unknown[] = [];
  expect(
    await withClosing(
      stuck,
      async () => 'answer',
      (error) => warnings.push(error),
    ),
  ).toBe('answer');
  expect(warnings).toEqual([expect.objectContaining({ message: 'The ledger cannot be closed.' })]);
});

it('the first error is reported even if closing fails as well', async () => {
  await expect(withClosing(stuck, () => Promise.reject(new RangeError('first')))).rejects.toThrow('first');
});
