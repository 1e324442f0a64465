import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Fault } from '../src/base/errors.js';
import { checkPolicy } from '../src/index.js';
import { documentedPolicies } from './documented-policies.js';

const { policies, remove } = documentedPolicies();
afterAll(remove);
const documented = new Map(policies.map(({ name, file }) => [name, file]));

/** Policies of the documentation by what they name, with contents that cannot be used. */
const unusable: readonly (readonly [what: string, policy: string, file: string, text: string])[] = [
  ['a transition that is no matrix', 'time-0', 'daily.json', '{"rows": 3}'],
  ['a transition over other states', 'time-0', 'daily.json', '[[0.9, 0.1], [0.2, 0.8]]'],
  ['a transition whose rows are no probabilities', 'time-0', 'daily.json', '[[1, 1, 1], [0, 1, 0], [0, 0, 1]]'],
  ['a transition that is no JSON', 'steps-without-bounds', 'daily.json', 'day,place'],
  ['a transition of a window', 'steps-in-a-window', 'daily.json', '[]'],
  ['a network', 'network', 'network.json', '{"format": "fugu-network/1", "columns": []}'],
  ['a network over other values', 'network', 'network.json', '{"format": "fugu-network/1", "columns": [{"name": "sex", "values": ["x", "y"], "parents": [], "table": [0.5, 0.5]}]}'], // biome-ignore format: one line
  ['a precision matrix', 'gaussian', 'q.json', '{"records": ["p0", "p1"], "precision": [[2, -1], [0, 2]], "bounds": [0, 100]}'],
  ['a precision matrix about nobody', 'gaussian', 'q.json', '{"records": ["x"], "precision": [[2]], "bounds": [0, 100]}'],
  ['factors', 'factors', 'model.json', '{"records": []}'],
  ['factors about nobody', 'factors', 'model.json', '{"records": [{"id": "x", "values": [0, 1]}, {"id": "p1", "values": [0, 1]}], "factors": [{"records": ["x", "p1"], "oddsRatio": 4}]}'], // biome-ignore format: one line
  ['known totals', 'policy-2', 'census.csv', 'region,sex,rows\nnorth,f,many\n'],
  ['a relation without its columns', 'relationships-0', 'visits.csv', 'x,y\np1,p2\n'],
  ['a relation that ties', 'ties-0', 'friends.csv', 'x,y\np1,p2\n'],
  ['a relation about nobody', 'ties-0', 'friends.csv', 'a,b\nnobody,p2\n'],
  ['a codebook', 'policy-0', 'codebook.csv', 'code\nx\n'],
  ['a graph of codes', 'policy-1', 'wards.csv', 'w1,w9\n'],
  ['merged answers', 'policy-6', 'skip.csv', 'sector,nothing\n1,2\n'],
  ['a table beside the data', 'tables-0', 'clinics.csv', 'clinic\nc1\n'],
];

describe('the files that check loads', () => {
  it.each(unusable)('check refuses %s', async (_what, policy, name, text) => {
    const file = documented.get(policy)!;
    expect((await checkPolicy(file)).ready).toBe(true);
    const path = join(dirname(file), name);
    const before = readFileSync(path);
    writeFileSync(path, text);
    const refused = await checkPolicy(file).catch((error: unknown) => error);
    writeFileSync(path, before);
    expect(refused).toBeInstanceOf(Fault);
    expect((refused as Fault).code).not.toBe('INTERNAL');
    expect((refused as Fault).hint.length).toBeGreaterThan(10);
  });
});
