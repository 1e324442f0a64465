import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/app/service/token.js';
import { builtOnce } from '../fugu.js';
import { startService } from './process.js';
import { askOver, townFolder } from './served.js';

beforeAll(() => builtOnce());
let folder: string;
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('long calculations', () => {
  it('long calculations run on threads of their own, repeatedly and in parallel, and faults are passed back unchanged', async () => {
    folder = townFolder();
    const root = new TokenStore(join(folder, 'fugu-tokens')).make({ name: 'root', role: 'steward', days: 1 }).text;
    const { child, url, ended } = await startService(folder, ['village.yaml']);
    const ask = (path: string, body?: object) => askOver(url, root, `/v1/policies/village/${path}`, body);
    const { body } = await ask('release', { question: { kind: 'histogram', column: 'party' }, epsilon: '1/2' });
    const { entry } = body.receipt.ledger;
    const strong = (index: number) => ask('what-if', { ties: [{ index, oddsRatio: 20 }] });
    for (let k = 0; k < 3; k++) expect((await strong(0)).body.base).toBeGreaterThan(0);
    const many = await Promise.all([ask('attack', { entry }), ask('leakage'), ask('ties'), ask('attack', { entry }), strong(0)]);
    expect(many.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(many[0]!.body).toEqual(many[3]!.body);
    expect(many[0]!.body).toMatchObject({ private: true, column: 'party' });
    expect(await strong(7)).toMatchObject({ status: 422, body: { code: 'USAGE', title: expect.stringContaining('Tie 7') } });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
