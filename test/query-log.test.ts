import { afterAll, describe, expect, it } from 'vitest';
import { open } from '../src/app/api/fugu.js';
import type { QueryLog } from '../src/release/session/query-log.js';
import { builtOnce, fugu } from './fugu.js';
import { openWorkshop } from './workshop.js';

describe('the query log of a database', () => {
  const shop = openWorkshop();
  afterAll(() => shop.remove());
  const question = { kind: 'histogram', column: 'party' } as const;

  it('the log goes to the holder of an audit log, once per paid release, and is in no receipt', async () => {
    const logs: QueryLog[] = [];
    const town = await open(shop.policyFile, { trail: (trail) => logs.push(trail), analyst: 'ann' });
    const { receipt } = await town.release(question, { epsilon: 0.01 });
    await town.release(question, { epsilon: 0.01 });
    await town.close();
    expect(logs).toEqual([{ entry: receipt.ledger.entry, analyst: 'ann', label: receipt.label, queries: [] }]);
    expect(JSON.stringify(receipt)).not.toContain('queries');
  });

  it('the command line prints the log if FUGU_TRAIL is set, next to the answer', async () => {
    await builtOnce();
    const words = ['release', shop.policyFile, '--query', JSON.stringify(question), '--epsilon', '0.02', '--json'];
    const { out, err } = await fugu({ cwd: shop.folder, env: { FUGU_TRAIL: '1' } }, ...words);
    const line = err.split('\n').find((text) => text.startsWith('{"trail"'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ trail: { entry: JSON.parse(out).receipt.ledger.entry, queries: [] } });
  });
});
