import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type StreamOptions, stream } from '../src/app/api/stream.js';
import { open } from '../src/index.js';
import { Fault } from './inside.js';

/** True if questions are recorded with all their bounds, as before decision 0095. */
const before = vi.hoisted(() => ({ on: false }));
vi.mock(import('../src/query/same/upper-bounds.js'), async (original) => {
  const { withoutUpperBounds } = await original();
  return {
    withoutUpperBounds: (policy, counting) =>
      before.on ? { policy, filter: counting.filter } : withoutUpperBounds(policy, counting),
  };
});

let folder: string;
beforeEach(() => {
  before.on = false;
  folder = mkdtempSync(join(tmpdir(), 'fugu-wider-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const rowSecret = '{ secret: row }';
/** Two persons, a row in every week; weeks are declared from 1 to `end`. */
function ward(end: number, weeks: readonly number[], protect = rowSecret): string {
  const rows = weeks.flatMap((week) => ['p', 'q'].map((person) => `${person},${week},${week % 2 ? 'yes' : 'no'}\n`));
  writeFileSync(join(folder, 'ward.csv'), `person,week,ill\n${rows.join('')}`);
  const policy = join(folder, 'ward.yaml');
  writeFileSync(
    policy,
    `data: { source: ward.csv }
protect: ${protect}
budget: { epsilon: 1 }
population: ward
ledger: ledger.db
dependence: none
columns:
  week: { type: integer, bounds: [1, ${end}]${protect === rowSecret ? ', public: true' : ''} }
  ill: { type: category, values: [yes, no] }
`,
  );
  return policy;
}
const until = (last: number) => Array.from({ length: last }, (_, k) => k + 1);
const count = { kind: 'count', where: [{ column: 'ill', op: '=', value: 'yes' }] } as const;

/** Steps that are answered, those from the record marked; then the code of the fault, if there is one. */
async function steps(policy: string, more: Partial<StreamOptions> = {}): Promise<readonly string[]> {
  const found: string[] = [];
  try {
    for await (const { step, replayed } of await stream(policy, { order: 'week', query: count, epsilon: 1, ...more }))
      found.push(`${step}${replayed ? ' recorded' : ''}`);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    found.push(error.code);
  }
  return found;
}
const recorded = (last: number) => until(last).map((step) => `${step} recorded`);

describe('a stream whose weeks outgrow their upper bound', () => {
  it('the stream goes on once the bound is wider: recorded steps are free, and later steps have their own budget', async () => {
    expect(await steps(ward(3, until(3)))).toEqual(['1', '2']);
    expect(await steps(ward(3, until(4)))).toEqual(['DATA_MALFORMED']);
    expect(await steps(ward(6, until(4)))).toEqual([...recorded(2), '3']);
    expect(await steps(ward(60, until(6)))).toEqual([...recorded(3), '4', '5']);
  });

  it('the fault names the way to widen the bound if rows lie above it', async () => {
    const fault = await (await stream(ward(3, [1, 2, 3, 60]), { order: 'week', query: count, epsilon: 1 }))
      .next()
      .catch((e) => e);
    expect(fault).toMatchObject({
      code: 'DATA_MALFORMED',
      message: expect.stringContaining('above its upper bound'),
      hint: expect.stringContaining('wider upper bound'),
    });
  });

  it('the stream goes on if persons are the secret, too', async () => {
    const protect = '{ secret: person, unit: person, maxRows: 9 }';
    expect(await steps(ward(4, until(4), protect), { through: 2, epsilon: 0.25 })).toEqual(['1', '2']);
    expect(await steps(ward(9, until(6), protect), { through: 4, epsilon: 0.25 })).toEqual([...recorded(2), '3', '4']);
    expect(await steps(ward(12, until(9), protect), { through: 5, epsilon: 0.25 })).toEqual([...recorded(4), 'BUDGET_EXCEEDED']);
  });

  it('a last step has charged all later weeks, because every count reads it as the rest: they have nothing left', async () => {
    expect(await steps(ward(3, until(3)), { through: 3 })).toEqual(['1', '2', '3']);
    expect(await steps(ward(6, until(6)))).toEqual([...recorded(2), 'BUDGET_EXCEEDED']);
    await using fugu = await open(ward(6, until(6)));
    await expect(fugu.release({ ...count, where: [{ column: 'week', op: '=', value: 5 }] }, { epsilon: 0.5 })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' }); // biome-ignore format: one line
  });

  it('a bound below existing rows is refused, at no cost', async () => {
    expect(await steps(ward(6, until(4)))).toEqual(['1', '2', '3']);
    expect(await steps(ward(3, until(4)))).toEqual(['DATA_MALFORMED']);
    expect(await steps(ward(6, until(5)))).toEqual([...recorded(3), '4']);
  });

  it('the stream finds rows that arrive late for a step under the wider bound', async () => {
    expect(await steps(ward(3, until(3)))).toEqual(['1', '2']);
    expect(await steps(ward(6, [...until(4), 2]))).toEqual(['DATA_MALFORMED']);
  });

  it('the stream goes on with totals of a horizon below the bound, and does not draw those of one up to it', async () => {
    const totals = (horizon: number) => ({ totals: true, horizon, epsilon: 0.5 });
    expect(await steps(ward(4, until(3)), totals(3))).toEqual(['1', '2']);
    expect(await steps(ward(9, until(4)), totals(3))).toEqual([...recorded(2), '3']);
    rmSync(folder, { recursive: true, force: true });
    folder = mkdtempSync(join(tmpdir(), 'fugu-wider-'));
    expect(await steps(ward(3, until(3)), totals(3))).toEqual(['1', '2']);
    expect(await steps(ward(9, until(4)), totals(3))).toEqual(['LEDGER_MISMATCH']);
  });

  it('answers recorded with all bounds are returned while the bounds are unchanged', async () => {
    before.on = true;
    expect(await steps(ward(6, until(3)))).toEqual(['1', '2']);
    before.on = false;
    expect(await steps(ward(6, until(4)))).toEqual([...recorded(2), '3']);
  });
});

describe('a recorded answer about a bounded column', () => {
  it('the recorded answer stays valid under a wider bound only if the same rows are counted', async () => {
    const about = (op: string, value: number) => ({ kind: 'count' as const, where: [{ column: 'week', op, value }, { column: 'ill', op: '=', value: 'yes' }] }); // biome-ignore format: one line
    const queries = [about('=', 2), about('>=', 2), about('=', 3), about('<=', 3)] as const;
    const free = async (policy: string) => {
      await using fugu = await open(policy);
      const list: boolean[] = [];
      for (const question of queries)
        list.push((await fugu.release(question as never, { epsilon: 0.1 })).receipt.ledger.replayed);
      return list;
    };
    expect(await free(ward(3, [1, 2, 3, 4, 60]))).toEqual([false, false, false, false]);
    // "= 3" and "<= 3" counted the rows above 3 as well.
    expect(await free(ward(60, [1, 2, 3, 4, 60]))).toEqual([true, true, false, false]);
  });
});
