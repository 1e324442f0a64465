import { rmSync } from 'node:fs';
import { beforeAll, describe, it } from 'vitest';
import { builtOnce } from '../fugu.js';
import { askThroughTwo } from './two-processes.js';

beforeAll(() => builtOnce());

describe('two processes on one ledger', () => {
  it('two processes on one ledger keep the quotas of two analysts together', async () => {
    rmSync(await askThroughTwo(), { recursive: true, force: true });
  });
});
