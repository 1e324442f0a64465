import type * as Fs from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { addClaim, claimsIn, type Registry } from './known-data.js';

/** Runs once, after a matching lookup: the action of another process between two lookups. */
const meanwhile = vi.hoisted(() => ({ after: '', act: undefined as (() => void) | undefined }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof Fs>();
  const hooked =
    <A extends unknown[], R>(look: (...args: A) => R) =>
    (...args: A): R => {
      try {
        return look(...args);
      } finally {
        const { act } = meanwhile;
        if (act && String(args[0]).endsWith(meanwhile.after)) {
          meanwhile.act = undefined;
          act();
        }
      }
    };
  return { ...fs, lstatSync: hooked(fs.lstatSync), readdirSync: hooked(fs.readdirSync) };
});

let folder: string;
let registry: Registry;
const account = (ledger: string) => ({ population: 'town', ledger });
const claim = (ledger: string) => addClaim(registry, 'content', account(ledger), () => ({}));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-registry-'));
  registry = { folder: join(folder, 'registry'), mode: 0o600 };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each(['registry', 'key-check', 'key'])(
  'a registry that another process creates after the read of its %s is complete',
  (after) => {
    for (const look of [() => claimsIn(registry, 'content'), () => claim('/a')]) {
      rmSync(registry.folder, { recursive: true, force: true });
      let done = false;
      Object.assign(meanwhile, {
        after: `/${after}`,
        act: () => {
          claim('/b');
          done = true;
        },
      });
      look();
      expect(done).toBe(true);
      expect(claimsIn(registry, 'content').map(({ ledger }) => ledger)).toContain('/b');
    }
  },
);

it('a claim that is withdrawn after the folder was read is not reported as damage', () => {
  const made = claim('/b');
  Object.assign(meanwhile, { after: '-1.json', act: () => 'takeBack' in made && made.takeBack() });
  expect(claimsIn(registry, 'content')).toEqual([]);
  const again = claim('/b');
  let looks = 0;
  const act = () => {
    if (++looks === 2 && 'takeBack' in again) again.takeBack();
    else meanwhile.act = act;
  };
  // The key is looked for in a separate listing.
  Object.assign(meanwhile, { after: '/registry', act });
  expect(claimsIn(registry, 'content')).toEqual([]);
});
