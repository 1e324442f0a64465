import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../data/terms/read.js';
import { groundOf, onGroundOf } from './ground.js';
import { requestKeys } from './request-key.js';

const rows = (more = '') => `data: { source: people.csv }
protect: { secret: row }
budget: { epsilon: 1 }
dependence: none
columns: { party: { type: category, values: [a, b] } }
${more}`;
const edges = (more = '') => `data: { source: people.csv }
protect: { secret: edge }
budget: { epsilon: 1 }
dependence: none
relations: { friend: { table: ties/friends.csv, columns: [a, b], domain: 100, symmetric: true } }
${more}`;
const at = (folder: string, text: string) => parsePolicy(text, `${folder}/policy.yaml`);
const server = (address: string, table: string) =>
  rows('ledger: ledger.db\n').replace('people.csv', `"${address}"${table === '' ? '' : `, table: ${table}`}`);

/** Keys that version 0.2 made for /srv/town/policy.yaml and this request. */
const of02 = {
  rows: {
    key: 'ffb288695647259c3715f0086c1ee1789cd08c4f037f6b7f2fe0f33ebd9ffb4f',
    ground: '1294356482ca24f12a5d31b85c26ec6bf99ebd42b5b09954b2b0edf05c2a6280',
  },
  edges: {
    key: '8d0416e1ebdac482c7ebd8e7e2bf94a5c972a3c4c9a597fa52cdef6efaabfb52',
    ground: '9c2d034e241936b12d3a627fc6e22a38e807eadac739f18d18d4d75e91f06548',
  },
};

describe('the key of a request', () => {
  it('the key is the same after the folder of data, policy and ledger was moved', async () => {
    for (const [text, name] of [
      [rows, 'data:/srv/town/people.csv'],
      [edges, 'data:/srv/town/ties/friends.csv'],
    ] as const) {
      const [before, after] = [await at('/srv/town', text()), await at('/mnt/restored', text(`population: "${name}"\n`))];
      expect(requestKeys(after)('asked').key).toBe(requestKeys(before)('asked').key);
      expect(groundOf(after)).toBe(groundOf(before));
      expect(onGroundOf(after)(groundOf(before))).toBe(true);
    }
  });

  it('the key differs for other data next to the same ledger', async () => {
    const [a, b] = [await at('/srv/town', rows()), await at('/srv/town', rows().replace('people', 'others'))];
    expect(requestKeys(a)('asked').key).not.toBe(requestKeys(b)('asked').key);
    expect(groundOf(a)).not.toBe(groundOf(b));
    const [here, there] = [await at('/srv/town', edges()), await at('/srv/town', edges().replace('ties/', 'ties/of-'))];
    expect(requestKeys(here)('asked').key).not.toBe(requestKeys(there)('asked').key);
  });

  it('the key of version 0.2 is among the former keys, before and after a move', async () => {
    expect(requestKeys(await at('/srv/town', rows()))('asked').former).toEqual([of02.rows.key]);
    expect(requestKeys(await at('/srv/town', edges()))('asked').former).toEqual([of02.edges.key]);
    expect(onGroundOf(await at('/srv/town', rows()))(of02.rows.ground)).toBe(true);
    const moved = await at('/mnt/town', rows('population: "data:/srv/town/people.csv"\n'));
    expect(requestKeys(moved)('asked').former).toContain(of02.rows.key);
    expect(onGroundOf(moved)(of02.rows.ground)).toBe(true);
    const deeper = await at('/mnt/a/town', edges('population: "data:/srv/town/ties/friends.csv"\n'));
    expect(onGroundOf(deeper)(of02.edges.ground)).toBe(true);
    expect(onGroundOf(await at('/mnt/town', rows()))(of02.rows.ground)).toBe(false);
  });

  it('the key of data on a server does not depend on the working directory', async () => {
    const key = async (address: string, table = 'people') =>
      requestKeys(await at('/srv/town', server(address, table)))('asked').key;
    const here = process.cwd();
    const first = await key('postgres://ann@host/town');
    try {
      process.chdir('/');
      expect(await key('postgres://ann@host/town')).toBe(first);
    } finally {
      process.chdir(here);
    }
    expect(await key('postgres://bob@host:5432/town')).toBe(first);
    expect(await key('postgres://ann@host/other')).not.toBe(first);
    const schemas = await Promise.all(['a', 'b'].map((schema) => key(`trino://host/lake/${schema}`)));
    expect(schemas[0]).not.toBe(schemas[1]);
    const tables = await Promise.all(['t', 'u'].map((table) => key(`trino://host/lake/a/${table}`, '')));
    expect(new Set([...schemas, ...tables]).size).toBe(4);
  });
});
