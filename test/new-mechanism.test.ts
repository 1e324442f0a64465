import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rational, toNumber } from '../src/base/exact/rational.js';
import { open, type Question } from '../src/index.js';
import { pure } from '../src/privacy/mechanism/budget-share.js';
import { Payment } from '../src/privacy/mechanism/payment.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import { sensitivityOn } from '../src/privacy/mechanism/sensitivity.js';
import { bounded } from './fixtures/new-mechanism.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** The registry with one line more. */
vi.mock('../src/app/api/kinds.js', async (original) => {
  const { kinds } = (await original()) as typeof import('../src/app/api/kinds.js');
  const { atMost } = await import('./fixtures/new-mechanism.js');
  return { kinds: { ...kinds, atMost: async () => atMost } };
});

let shop: Workshop;
beforeEach(() => {
  shop = openWorkshop(policyYaml({ budget: '{ epsilon: 2 }' }), 400);
});
afterEach(() => shop.remove());
const question = (most: number) => ({ atMost: { column: 'party', value: 'dem', most } }) as unknown as Question;

describe('a mechanism that one file adds, with a query kind that one line adds', () => {
  it('the new mechanism is planned, reserved, sampled and recorded like any other', async () => {
    await using fugu = await open(shop.policyFile);
    const plan = await fugu.plan(question(105), { epsilon: 0.5 });
    expect(plan).toMatchObject({
      fits: true,
      mechanism: 'bounded',
      measures: [{ noise: { kind: 'laplace', scale: '2' }, cells: 1 }],
    });
    const { receipt, ...answer } = await fugu.release(question(105), { epsilon: 0.5 });
    const { rows } = (answer as unknown as { result: { rows: number } }).result;
    expect(rows).toBeGreaterThan(40);
    expect(rows).toBeLessThanOrEqual(105);
    expect(receipt).toMatchObject({ epsilon: 0.5, profile: { noise: 'pure', perRecord: { '*': '1/2' } } });
    expect((await fugu.spent()).budget.spent).toBeCloseTo(0.5, 9);
    expect((await fugu.release(question(105), { epsilon: '0.5' })).receipt.ledger.replayed).toBe(true);
    await expect(fugu.release(question(105), { epsilon: 1.6 })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it('the new mechanism cannot cost more than is reserved, nor be sampled without or beyond it', () => {
    const effects = sensitivityOn([everyRecord], { l1: 1n, l2squared: 1n });
    const noise = bounded('rows', 10n, effects, pure(rational(1, 2)));
    expect(toNumber(noise.cost.perRecord.get(everyRecord)!)).toBe(0.5);
    expect(() => noise.ready(new Payment([]))).toThrow(/more noise would be drawn/);
    const paid = new Payment([noise]);
    noise.ready(paid);
    expect(() => noise.ready(paid)).toThrow(/more noise would be drawn/);
  });

  it('the new mechanism keeps its promise at every answer, the ends of the range too', () => {
    const [most, draws, epsilon] = [6, 40_000, 0.5];
    const effects = sensitivityOn([everyRecord], { l1: 1n, l2squared: 1n });
    const counted = [2n, 3n].map((exact) => {
      const counts = new Array<number>(most + 1).fill(0);
      for (let k = 0; k < draws; k++) {
        const noise = bounded('rows', BigInt(most), effects, pure(rational(1, 2)));
        counts[Number(noise.ready(new Payment([noise]))(exact))]!++;
      }
      return counts;
    });
    for (let out = 0; out <= most; out++) {
      const [a, b] = [counted[0]![out]!, counted[1]![out]!];
      expect(a).toBeGreaterThan(100);
      // Five standard deviations of the logarithm of a ratio of counts.
      expect(Math.abs(Math.log(a / b))).toBeLessThan(epsilon + 5 * Math.sqrt(1 / a + 1 / b));
    }
    expect(Math.abs(Math.log(counted[0]![0]! / counted[1]![0]!))).toBeGreaterThan(0.3);
  });
});
