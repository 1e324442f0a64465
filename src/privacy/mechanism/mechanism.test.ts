import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, compare, divide, multiply, type Rational, rational, toNumber, zero } from '../../base/exact/rational.js';
import { additiveMechanism } from './additive.js';
import { type BudgetShare, pure, zcdp } from './budget-share.js';
import type { NoiseDistribution } from './distribution.js';
import { exponentialMechanism } from './exponential-mechanism.js';
import { ladderMechanism } from './ladder-mechanism.js';
import { type Mechanism, totalCostOf } from './mechanism.js';
import { chargedCost, drawCost } from './mechanism-cost.js';
import { Payment } from './payment.js';
import { answersTo, everyRecord, type RecordClass, tuplesIn } from './record-class.js';
import { reserve } from './reserve.js';
import { type RecordSensitivity, type Sensitivity, sensitivityOn } from './sensitivity.js';
import { smoothMechanism } from './smooth-sensitivity.js';

const sensitivity = (l1: number, l2squared: number): RecordSensitivity =>
  sensitivityOn([everyRecord], { l1: BigInt(l1), l2squared: BigInt(l2squared) });
const small = fc.integer({ min: 1, max: 60 });
const fraction = fc.tuple(fc.integer({ min: 1, max: 999 }), fc.integer({ min: 1, max: 999 })).map(([a, b]) => rational(a, b));
const counted = { name: 'rows', cells: 4, sensitivity: sensitivity(2, 2) };

/** log P(out | center) of the integers within `far`, up to a constant. */
const logProbability = (distribution: NoiseDistribution, center: number, far: number): number[] =>
  Array.from({ length: 2 * far + 1 }, (_, i) => {
    const off = i - far - center;
    if (distribution.kind === 'laplace') return -Math.abs(off) / toNumber(distribution.scale);
    if (distribution.kind === 'gaussian') return -(off * off) / (2 * toNumber(distribution.variance));
    throw new RangeError('not additive');
  });
const normalised = (logs: readonly number[]): number[] => {
  const total = logs.reduce((sum, l) => sum + Math.exp(l), 0);
  return logs.map((l) => Math.exp(l) / total);
};

describe('the cost of a distribution', () => {
  it('the cost of Laplace noise is its largest log-ratio over a change of l1, and is reached', () => {
    fc.assert(
      fc.property(small, fraction, (move, scale) => {
        const distribution: NoiseDistribution = { kind: 'laplace', scale };
        const cost = toNumber(drawCost(distribution, 'pure', { l1: BigInt(move), l2squared: BigInt(move) ** 2n })!);
        const far = move + 5;
        const [here, there] = [logProbability(distribution, 0, far), logProbability(distribution, move, far)];
        const worst = Math.max(...here.map((l, i) => Math.abs(l - there[i]!)));
        expect(worst).toBeCloseTo(cost, 6);
      }),
    );
  });

  it('the cost of Gaussian noise is its Renyi divergence divided by the order, at every order', () => {
    for (const [move, variance] of [
      [1, 4],
      [3, 9],
      [5, 2],
    ] as const) {
      const distribution: NoiseDistribution = { kind: 'gaussian', variance: rational(variance) };
      const rho = toNumber(drawCost(distribution, 'zcdp', { l1: BigInt(move), l2squared: BigInt(move * move) })!);
      const [p, q] = [0, move].map((center) => normalised(logProbability(distribution, center, 80)).map(Math.log));
      for (const order of [1.5, 2, 8]) {
        const moment = p!.reduce(
          (sum, l, i) => sum + (l > -700 && q![i]! > -700 ? Math.exp(order * l + (1 - order) * q![i]!) : 0),
          0,
        );
        expect(Math.log(moment) / (order - 1)).toBeLessThanOrEqual(rho * order * (1 + 1e-9));
        expect(Math.log(moment) / (order - 1)).toBeGreaterThan(0.99 * rho * order);
      }
    }
  });

  it('the cost of a selection is its worst log-ratio with all penalties against each other, and an eighth of its square in zCDP', () => {
    const distribution: NoiseDistribution = { kind: 'selection', sharpness: rational(1, 3) };
    const moved = { l1: 4n, l2squared: 16n };
    const chances = (penalties: readonly number[]) => normalised(penalties.map((p) => -p / 3));
    // One good candidate among very many: the normaliser moves by nearly all of e^(s d), too.
    const many = new Array<number>(20000).fill(4);
    const [p, q] = [chances([0, ...many]), chances([4, ...many.map(() => 0)])];
    const epsilon = toNumber(drawCost(distribution, 'pure', moved)!);
    const worst = Math.max(...p.map((x, i) => Math.abs(Math.log(x / q[i]!))));
    expect(worst).toBeLessThanOrEqual(epsilon);
    expect(worst).toBeGreaterThan(0.99 * epsilon);
    expect(toNumber(drawCost(distribution, 'zcdp', moved)!)).toBeCloseTo(epsilon ** 2 / 8, 12);
  });
});

describe('a mechanism', () => {
  const kinds: Record<string, (share: BudgetShare, times: number) => Mechanism> = {
    additive: (share, times) => additiveMechanism({ ...counted, times }, share),
    selection: (share, times) =>
      exponentialMechanism({ name: 'choice', cells: times, sensitivity: sensitivity(6 * times, 36 * times) }, share),
  };
  for (const [name, make] of Object.entries(kinds))
    it(`the mechanism fits its allotment and wastes little of it: ${name}`, () => {
      fc.assert(
        fc.property(fraction, fc.integer({ min: 1, max: 9 }), fc.boolean(), (amount, times, isPure) => {
          const share = isPure ? pure(amount) : zcdp(amount);
          const mechanism = make(share, times);
          expect(compare(mechanism.cost.perRecord.get(everyRecord)!, amount)).toBe(0);
          const moved =
            name === 'additive' ? counted.sensitivity.get(everyRecord)! : sensitivity(6 * times, 36 * times).get(everyRecord)!;
          const one = drawCost(mechanism.distribution, share.noise, moved)!;
          const real = name === 'additive' ? multiply(one, rational(times)) : one;
          expect(compare(real, amount)).toBeLessThanOrEqual(0);
          expect(toNumber(divide(real, amount))).toBeGreaterThan(0.999);
        }),
      );
    });

  it('a mechanism charges every class in proportion to its sensitivity, outside its scope too', () => {
    const two: RecordSensitivity = new Map<RecordClass, Sensitivity>([
      [answersTo('age'), { l1: 2n, l2squared: 2n }],
      [everyRecord, { l1: 5n, l2squared: 9n }],
    ]);
    const { cost } = additiveMechanism(
      { name: 'x', cells: 1, sensitivity: two },
      pure(rational(1, 10)),
      (name) => name === answersTo('age'),
    );
    expect(cost.perRecord.get(answersTo('age'))).toEqual(rational(1, 10));
    expect(cost.perRecord.get(everyRecord)).toEqual(rational(1, 4));
  });

  it('a mechanism without sensitivity needs no noise, and one without noise but with sensitivity is refused', () => {
    const { distribution, cost } = additiveMechanism({ name: 'rows', cells: 2, sensitivity: new Map() }, pure(rational(1)));
    expect([distribution.kind, cost.perRecord.size]).toEqual(['none', 0]);
    expect(() => chargedCost({ kind: 'none' }, sensitivity(1, 1), pure(rational(1)))).toThrow(RangeError);
    expect(() =>
      additiveMechanism({ name: 'x', cells: 1, sensitivity: sensitivity(1, 1) }, pure(rational(1)), () => false),
    ).toThrow(RangeError);
  });

  it.each<[string, NoiseDistribution, BudgetShare]>([
    ['Laplace noise of half the scale', { kind: 'laplace', scale: rational(1) }, pure(rational(1))],
    ['Gaussian noise of half the variance', { kind: 'gaussian', variance: rational(1, 2) }, zcdp(rational(1))],
    ['a selection twice as sharp', { kind: 'selection', sharpness: rational(1, 2) }, pure(rational(1))],
    ['a ladder that decays twice as fast', { kind: 'ladder', decay: rational(1) }, pure(rational(1))],
    [
      'smooth noise of beta epsilon/3',
      { ...smoothMechanism({ name: 'x', classes: [everyRecord] }, pure(rational(1))).distribution, beta: rational(1, 3) },
      pure(rational(1)),
    ],
    ['Gaussian noise as pure', { kind: 'gaussian', variance: rational(100) }, pure(rational(1))],
    ['Laplace noise as zCDP', { kind: 'laplace', scale: rational(100) }, zcdp(rational(1))],
    ['published noise', { kind: 'published' }, pure(rational(1))],
  ])('a mechanism cannot be made of %s', (_, distribution, share) => {
    const moved = distribution.kind === 'ladder' || distribution.kind === 'smooth' ? sensitivity(1, 1) : sensitivity(2, 2);
    expect(() => chargedCost(distribution, moved, share)).toThrow('cost more than is booked');
  });

  it('a mechanism cannot be drawn more often than its budget share pays for', () => {
    for (const [distribution, share] of [
      [{ kind: 'laplace', scale: rational(6) }, pure(rational(1))],
      [{ kind: 'gaussian', variance: rational(3) }, zcdp(rational(1))],
    ] as const) {
      expect(chargedCost(distribution, sensitivity(2, 2), share, { times: 3 }).perRecord.get(everyRecord)).toEqual(rational(1));
      expect(() => chargedCost(distribution, sensitivity(2, 2), share, { times: 4 })).toThrow('cost more than is booked');
    }
  });

  it('the total cost of mechanisms is the sum of their costs of one kind', () => {
    const parts = [pure(rational(1, 3)), pure(rational(1, 6))].map((a) => additiveMechanism(counted, a));
    expect(totalCostOf(parts).perRecord.get(everyRecord)).toEqual(rational(1, 2));
    expect(() => totalCostOf([...parts, additiveMechanism(counted, zcdp(rational(1)))])).toThrow(RangeError);
    const none = additiveMechanism({ name: 'public', cells: 1, sensitivity: new Map() }, zcdp(rational(1)));
    expect(totalCostOf([none]).perRecord.size).toBe(0);
  });
});

describe('a payment', () => {
  const one = additiveMechanism(counted, pure(rational(1, 2)));
  const other = additiveMechanism(counted, pure(rational(1, 2)));

  it('a payment permits as many draws as were charged, and no more', () => {
    const payment = new Payment([one]);
    const exact = [1n, 2n, 3n, 4n];
    expect(one.prepare(payment)(exact)).toHaveLength(4);
    expect(() => one.prepare(payment)).toThrow('more noise would be drawn than was booked');
    expect(() => other.prepare(new Payment([one]))).toThrow(RangeError);
    expect(() => one.prepare(new Payment([]), 1)).toThrow(RangeError);
    // The sensitivity does not shrink with the vector: one of two numbers is one release, and so is a second.
    const short = new Payment([one]);
    expect(one.prepare(short, 2)([1n, 2n])).toHaveLength(2);
    expect(() => one.prepare(short, 2)).toThrow('more noise would be drawn than was booked');
    expect(() => one.prepare(new Payment([one]), 5)).toThrow('more numbers than were foreseen');
  });

  it('a payment gives independent noise for each number', () => {
    expect(() => one.prepare(new Payment([one]))([1n])).toThrow(RangeError);
  });

  it('a payment can be exchanged for a mechanism only if that costs no more, and then is used up', () => {
    const cheap = additiveMechanism(counted, pure(rational(1, 3)));
    const dear = additiveMechanism(counted, pure(rational(2, 3)));
    const gaussian = additiveMechanism(counted, zcdp(rational(1, 100)));
    expect(() => new Payment([one]).exchange(one, dear)).toThrow(RangeError);
    expect(() => new Payment([one]).exchange(one, gaussian)).toThrow(RangeError);
    const payment = new Payment([one]);
    payment.exchange(one, cheap);
    expect(cheap.prepare(payment)([0n, 0n, 0n, 0n])).toHaveLength(4);
    expect(() => one.prepare(payment, 1)).toThrow(RangeError);
  });

  it('a payment permits no larger draw than charged, which would cost more in zCDP for the same epsilon', () => {
    const four = additiveMechanism({ ...counted, times: 4 }, pure(rational(1, 2)));
    expect(() => new Payment([four]).exchange(four, one)).toThrow(RangeError);
    expect(() => new Payment([one]).exchange(one, four)).not.toThrow();
  });

  it('a payment can be exchanged for several mechanisms only if they cost no more in total; a reserve permits nothing else', () => {
    const half = additiveMechanism(counted, pure(rational(1, 4)));
    const same = additiveMechanism(counted, pure(rational(1, 4)));
    const little = additiveMechanism(counted, pure(rational(1, 100)));
    const held = reserve(counted, pure(rational(1, 2)));
    expect(held).not.toHaveProperty('ready');
    expect(held.cost).toEqual(one.cost);
    expect(() => new Payment([held]).exchange(held, half, same, little)).toThrow(RangeError);
    expect(() => new Payment([held]).exchange(half, half)).toThrow(RangeError);
    const payment = new Payment([held]);
    const rest = reserve(counted, pure(rational(1, 4)));
    payment.exchange(held, half, rest);
    expect(half.prepare(payment)([0n, 0n, 0n, 0n])).toHaveLength(4);
    expect(() => payment.exchange(held, same)).toThrow(RangeError);
    payment.exchange(rest, same);
    expect(same.prepare(payment)([0n, 0n, 0n, 0n])).toHaveLength(4);
    expect(() => payment.exchange(rest, little)).toThrow(RangeError);
  });

  it('a payment counts selections and noise that follows the data', () => {
    const choice = exponentialMechanism({ name: 'which', cells: 2, sensitivity: sensitivity(2, 2) }, pure(rational(1)));
    const payment = new Payment([choice]);
    for (let k = 0; k < 2; k++) expect([0, 1]).toContain(choice.choose(payment, [0n, 1n]));
    expect(() => choice.choose(payment, [0n, 1n])).toThrow(RangeError);
    const rungs = { width: () => 1n, widest: 1n };
    for (const mechanism of [
      ladderMechanism({ name: 'x', classes: [tuplesIn('friend')] }, pure(rational(1))),
      smoothMechanism({ name: 'x', classes: [tuplesIn('friend')] }, pure(rational(1))),
    ]) {
      const once = new Payment([mechanism]);
      expect(typeof mechanism.addNoise(once, 5n, rungs)).toBe('bigint');
      expect(() => mechanism.addNoise(once, 5n, rungs)).toThrow(RangeError);
    }
  });

  it('a payment gives noise of the stated distribution', () => {
    const { distribution, variance } = one as { distribution: { kind: 'laplace'; scale: Rational }; variance: number };
    const many = additiveMechanism({ ...counted, cells: 20_000 }, pure(rational(1, 2)));
    const noisy = many
      .prepare(new Payment([many]))(new Array<bigint>(20_000).fill(7n))
      .map((x) => Number(x - 7n));
    const mean = noisy.reduce((a, b) => a + b, 0) / noisy.length;
    const spread = noisy.reduce((sum, x) => sum + x * x, 0) / noisy.length;
    expect(Math.abs(mean)).toBeLessThan(0.3);
    expect(spread / variance).toBeGreaterThan(0.9);
    expect(spread / variance).toBeLessThan(1.1);
    expect(compare(add(distribution.scale, zero), rational(4))).toBe(0);
  });
});
