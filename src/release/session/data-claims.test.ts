import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { readPolicy } from '../../data/terms/read.js';
import type * as KnownData from '../ledger/known-data.js';
import type { Ledger } from '../ledger/ledger.js';
import { DataClaims } from './data-claims.js';

/** A lookup that finds nothing, as if another process wrote its claim between the lookup and the claim. */
vi.mock('../ledger/known-data.js', async (original) => ({ ...(await original<typeof KnownData>()), claimsIn: () => [] }));

let home: string;
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

async function openingIn(folder: string) {
  mkdirSync(join(folder, '.fugu'), { recursive: true });
  writeFileSync(join(folder, 'people.csv'), 'party\na\nb\n');
  const policy = join(folder, 'policy.yaml');
  writeFileSync(
    policy,
    'data: { source: people.csv }\nprotect: { secret: row }\nbudget: { epsilon: 1 }\ndependence: none\ncolumns: { party: { type: category, values: [a, b] } }\n',
  );
  const ledger = { account: async () => undefined } as unknown as Ledger;
  return (await new DataClaims(await readPolicy(policy), ledger).prepared())!;
}

it('data that another process claims between the lookup and the claim is refused, and no claim is left behind', async () => {
  home = mkdtempSync(join(tmpdir(), 'fugu-claims-'));
  vi.stubEnv('FUGU_REGISTRY', join(home, 'registry'));
  const [first, second] = [await openingIn(join(home, 'a')), await openingIn(join(home, 'b'))];
  first.lookUp();
  second.lookUp();
  first.claim();
  expect(() => second.claim()).toThrow('This data has a budget already');
  expect(readdirSync(join(home, 'registry')).filter((name) => name.endsWith('.json'))).toHaveLength(1);
  // The same account claims again: a ledger may run its transaction twice.
  first.claim();
});

it('tables on a server are claimed by name, also under another ledger, user or spelling', async () => {
  home = mkdtempSync(join(tmpdir(), 'fugu-claims-'));
  vi.stubEnv('FUGU_REGISTRY', join(home, 'registry'));
  const openingOf = async (name: string, source: string, table: string) => {
    const folder = join(home, name);
    mkdirSync(folder);
    const policy = join(folder, 'policy.yaml');
    writeFileSync(
      policy,
      `data: { source: "${source}", table: ${table} }\nledger: ledger.db\nprotect: { secret: row }\nbudget: { epsilon: 1 }\ndependence: none\ncolumns: { party: { type: category, values: [a, b] } }\n`,
    );
    const ledger = { account: async () => undefined } as unknown as Ledger;
    return (await new DataClaims(await readPolicy(policy), ledger).prepared())!;
  };
  (await openingOf('first', 'postgres://reader@db.example:5432/town', 'people')).claim();
  (await openingOf('others', 'postgres://reader@db.example:5432/town', 'animals')).claim();
  (await openingOf('elsewhere', 'postgres://reader@db.example:5432/village', 'people')).claim();
  for (const [name, source, table] of [
    ['same', 'postgres://reader@db.example:5432/town', 'people'],
    ['other-user', 'postgresql://writer@DB.example/town?sslmode=require', 'public.people'],
  ] as const) {
    const again = await openingOf(name, source, table);
    expect(() => again.claim()).toThrow('This data has a budget already');
  }
});
