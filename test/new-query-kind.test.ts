import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { open, type Question } from '../src/index.js';
import type { answered } from './fixtures/new-query-kind.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** The registry with one line more. */
vi.mock('../src/query/kinds.js', async (original) => {
  const { queryKinds } = (await original()) as typeof import('../src/query/kinds.js');
  const fixture = await import('./fixtures/new-query-kind.js');
  return { queryKinds: { ...queryKinds, answered: fixture.answered satisfies typeof answered } };
});

let shop: Workshop;
beforeEach(() => {
  shop = openWorkshop(policyYaml({ budget: '{ epsilon: 100 }' }), 1200);
});
afterEach(() => shop.remove());
const ask = (more: object) => ({ kind: 'answered', ...more }) as unknown as Question;

describe('a query kind that one file and one line add', () => {
  it('the new kind is planned, released, recorded and grouped like the others', async () => {
    await using fugu = await open(shop.policyFile, { acceptNoProtection: true });
    const question = { queries: [ask({ column: 'party' }), { kind: 'count' }] } as Question;
    const plan = await fugu.plan(question, { epsilon: 50 });
    expect(plan).toMatchObject({
      fits: true,
      errors: [{ name: 'answers to party', cells: 1, error: 'exact' }, { name: 'count' }],
    });
    const answer = await fugu.release(question, { epsilon: 50 });
    if (!('tables' in answer)) throw new Error('no tables');
    // Three of four rows have a party: the noise at this epsilon is far below one row in a hundred.
    expect(Math.abs(answer.tables[0]!.rows[0]!.value! - 900)).toBeLessThan(9);
    expect(answer.tables[0]!.columns).toEqual(['answers to party']);
    expect((await fugu.release(question, { epsilon: 50 })).receipt.ledger.replayed).toBe(true);
    expect((await fugu.plan(ask({ column: 'age', by: ['party'] }))).errors[0]).toMatchObject({
      name: 'answers to age by party',
      cells: 4,
    });
  });

  it('the new kind is checked by its own form, and listed among the kinds', async () => {
    await using fugu = await open(shop.policyFile, { acceptNoProtection: true });
    await expect(fugu.plan(ask({ columns: 'party' }))).rejects.toThrow('queries[0]: there is no "columns" here.');
    await expect(fugu.plan(ask({ column: 'shoe' }))).rejects.toMatchObject({ code: 'COLUMN_UNKNOWN' });
    await expect(fugu.plan({ kind: 'other' } as unknown as Question)).rejects.toMatchObject({
      hint: expect.stringMatching(/estimate, answered\.$/),
    });
  });
});
