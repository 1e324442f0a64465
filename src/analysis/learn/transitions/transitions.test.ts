import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countStepsByHand as byHand } from '../../../../test/count-steps.js';
import { openNow } from '../../../../test/now.js';
import { category, number, samplePolicy } from '../../../../test/sample-policy.js';
import { seededPick } from '../../../../test/ugly-cells.js';
import type { Policy } from '../../../policy/policy.js';
import { everyRecord } from '../../../privacy/mechanism/record-class.js';
import { countTransitions, stepPairSensitivity } from './learn-transitions.js';
import { transitionShares } from './transition-shares.js';

/** Owner, moment, state. */
type Row = readonly [number, number, number];
const states = 2;
const count = (rows: readonly Row[]) =>
  byHand({ owners: rows.map(([who]) => who), times: rows.map(([, t]) => t), states: rows.map(([, , s]) => s) }, states);
const differenceOf = (a: readonly number[], b: readonly number[]) => ({
  l1: a.reduce((sum, x, k) => sum + Math.abs(x - b[k]!), 0),
  l2squared: a.reduce((sum, x, k) => sum + (x - b[k]!) ** 2, 0),
});
const rowOf = fc.tuple(fc.nat(2), fc.integer({ min: -1, max: 4 }), fc.integer({ min: -1, max: states - 1 }));
const sensitivityUnder = (protect: Partial<Policy['protect']>, by: string) =>
  stepPairSensitivity({ protect } as Policy, { by, order: 't', state: 's' }).get(everyRecord)!;

describe('counted transitions', () => {
  it('each transition is counted once, from one state to the next, one step later', () => {
    expect(
      count([
        [0, 3, 1],
        [0, 1, 0],
        [0, 2, 0],
        [0, 5, 1],
        [1, 2, 1],
        [1, 3, 1],
      ]),
    ).toEqual([1, 1, 0, 1]);
    expect(
      count([
        [0, 1, 0],
        [0, 2, -1],
        [0, 3, 1],
        [0, -1, 1],
      ]),
    ).toEqual([0, 0, 0, 0]);
  });
  it('transitions at a moment with two rows are not counted', () => {
    const rows: Row[] = [
      [0, 1, 0],
      [0, 2, 1],
      [0, 3, 0],
    ];
    expect(count(rows)).toEqual([0, 1, 1, 0]);
    expect(count([...rows, [0, 2, 1]])).toEqual([0, 0, 0, 0]);
    expect(count([...rows, [0, 3, 0]])).toEqual([0, 1, 0, 0]);
  });

  it('the database counts transitions as by hand, whatever the adjacent rows are', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fugu-steps-'));
    try {
      const pick = seededPick(5);
      for (let world = 0; world < 12; world++) {
        const rows = Array.from({ length: 12 + 12 * world }, (): Row => [pick(4), pick(9) - 1, pick(3) - 1]);
        const text = rows.map(([who, t, s]) => [who, t < 0 ? '' : t, s < 0 ? 'x' : ' ab'[s + 1]].join());
        // Rows without owner, beyond the bounds and with blanks around a state.
        const more = [',1,a', '0, 2 ,b ', '2,3.5,a'];
        writeFileSync(join(folder, `${world}.csv`), `who,t,s\n${[...text, ...more].join('\n')}\n`);
        const columns = [number('t', '0', '7'), category('s', ['a', 'b'])];
        const policy = { ...samplePolicy(columns), data: { source: join(folder, `${world}.csv`) } };
        const engine = await openNow(policy, { threads: 1 });
        const found = (await countTransitions(engine, policy, { by: 'who', order: 't', state: 's' })).open();
        await engine.close();
        // 3.5 is rounded to the nearest even place.
        expect(found).toEqual(count([...rows, [0, 2, 1], [2, 4, 0]]));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('transition counts move by no more than the reserved cost when one row is replaced, and reach it', () => {
    const { l1, l2squared } = sensitivityUnder({ secret: 'row', maxRows: 1 }, 'who');
    let most = { l1: 0, l2squared: 0 };
    fc.assert(
      fc.property(fc.array(rowOf, { minLength: 1, maxLength: 9 }), rowOf, fc.nat(8), (rows, other, k) => {
        const moved = differenceOf(count(rows), count(rows.map((row, r) => (r === k % rows.length ? other : row))));
        most = { l1: Math.max(most.l1, moved.l1), l2squared: Math.max(most.l2squared, moved.l2squared) };
      }),
      { numRuns: 3000 },
    );
    // One of two rows at a moment is removed and fills somebody else's gap: four pairs more of the same two states.
    const others: Row[] = [...[0, 1, 2].map((t): Row => [0, t, 0]), [1, 0, 0], [1, 2, 0]];
    const moved = differenceOf(count([...others, [0, 1, 0]]), count([...others, [1, 1, 0]]));
    expect({ l1: BigInt(moved.l1), l2squared: BigInt(moved.l2squared) }).toEqual({ l1, l2squared });
    expect(BigInt(most.l2squared)).toBeLessThanOrEqual(l2squared);
    expect(BigInt(most.l1)).toBeLessThanOrEqual(l1);
  });

  it('the check fails when several rows at one moment are counted', () => {
    // All pairs of rows one step from each other: two rows at one moment count twice.
    const twice = (rows: readonly Row[]) => {
      const counts = new Array<number>(4).fill(0);
      for (const [a, t, x] of rows)
        for (const [b, u, y] of rows) if (a === b && u === t + 1 && x >= 0 && y >= 0 && t >= 0) counts[2 * x + y]!++;
      return counts;
    };
    const full: Row[] = [0, 1, 2].flatMap((t) => [0, 0, 0].map((s): Row => [0, t, s]));
    const less = full.map((row, k): Row => (k === 4 ? [0, 1, 1] : row));
    const { l1 } = sensitivityUnder({ secret: 'row', maxRows: 1 }, 'who');
    expect(BigInt(differenceOf(twice(full), twice(less)).l1)).toBeGreaterThan(l1);
    expect(BigInt(differenceOf(count(full), count(less)).l1)).toBeLessThanOrEqual(l1);
  });

  it('transition counts move by no more than the reserved cost when all rows of a person are replaced, and reach it', () => {
    const each = 4;
    const { l1, l2squared } = sensitivityUnder({ secret: 'person', unit: 'who', maxRows: each }, 'who');
    const own = (who: number) => fc.array(rowOf, { maxLength: each }).map((rows) => rows.map(([, t, s]): Row => [who, t, s]));
    fc.assert(
      fc.property(own(0), own(0), own(1), (mine, other, theirs) => {
        const moved = differenceOf(count([...mine, ...theirs]), count([...other, ...theirs]));
        expect(BigInt(moved.l1)).toBeLessThanOrEqual(l1);
        expect(BigInt(moved.l2squared)).toBeLessThanOrEqual(l2squared);
      }),
      { numRuns: 2000 },
    );
    const stay = (s: number) => Array.from({ length: each }, (_, t): Row => [0, t, s]);
    expect(differenceOf(count(stay(0)), count(stay(1)))).toEqual({ l1: Number(l1), l2squared: Number(l2squared) });
  });

  it('transitions require a secret with a bounded number of pairs', () => {
    expect(sensitivityUnder({ secret: 'person', unit: 'who', maxRows: 5 }, 'device').l1).toBe(20n);
    expect(() => sensitivityUnder({ secret: 'person', unit: 'who', maxRows: 1 }, 'who')).toThrow('no step follows another');
    expect(() => sensitivityUnder({ secret: 'answer', maxRows: 1 }, 'who')).toThrow('a row, a step or a person');
  });
});

describe('transition shares', () => {
  it('transition shares sum to one, are all positive, and treat negative counts as zero', () => {
    const rows = transitionShares([90, 9, -3, 0.5], 2);
    for (const row of rows) {
      expect(row.reduce((a, b) => a + b, 0)).toBe(1);
      expect(Math.min(...row)).toBeGreaterThan(0);
    }
    expect(rows[0]![0]).toBeCloseTo(90.5 / 100, 12);
    expect(rows[1]![0]).toBeCloseTo(0.5 / 1.5, 12);
  });
});
