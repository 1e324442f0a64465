import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { snapshotKey } from './snapshot-key.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-key-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the key beside a ledger', () => {
  it('is made once, for its owner only, and leaves nothing else behind', () => {
    const ledger = join(folder, 'one', 'ledger.db');
    const first = snapshotKey(ledger)('text');
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(snapshotKey(ledger)('text')).toBe(first);
    expect(snapshotKey(join(folder, 'two.db'))('text')).not.toBe(first);
    expect(readdirSync(join(folder, 'one'))).toEqual(['ledger.db.key']);
    expect(statSync(`${ledger}.key`).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'one')).mode & 0o077).toBe(0);
  });

  it('is refused when it was cut short, never taken for a weaker one', () => {
    const ledger = join(folder, 'cut.db');
    snapshotKey(ledger);
    truncateSync(`${ledger}.key`, 16);
    expect(() => snapshotKey(ledger)).toThrow('damaged');
  });
});
