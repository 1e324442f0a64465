import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, compare, divide, multiply, type Rational, rational, toNumber, zero } from '../../base/exact/rational.js';
import { additive } from './additive.js';
import { type Allotment, pure, zcdp } from './allotment.js';
import { booked, costOf } from './cost.js';
import { type Effect, type Effects, effectOn } from './effect.js';
import { ladder } from './ladder.js';
import type { Law } from './law.js';
import { costTogether, type Mechanism } from './mechanism.js';
import { Paid } from './paid.js';
import { answersTo, everyRecord, type RecordClass, tuplesOf } from './record-class.js';
import { reserve } from './reserve.js';
import { selection } from './select.js';
import { smooth } from './smooth.js';

const effects = (l1: number, l2squared: number): Effects =>
  effectOn([everyRecord], { l1: BigInt(l1), l2squared: BigInt(l2squared) });
const small = fc.integer({ min: 1, max: 60 });
const fraction = fc.tuple(fc.integer({ min: 1, max: 999 }), fc.integer({ min: 1, max: 999 })).map(([a, b]) => rational(a, b));
const counted = { name: 'rows', cells: 4, effects: effects(2, 2) };

/** log P(out | center) of the integers within `far`, up to a constant. */
const logLaw = (law: Law, center: number, far: number): number[] =>
  Array.from({ length: 2 * far + 1 }, (_, i) => {
    const off = i - far - center;
    if (law.kind === 'laplace') return -Math.abs(off) / toNumber(law.scale);
    if (law.kind === 'gaussian') return -(off * off) / (2 * toNumber(law.variance));
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
        const law: Law = { kind: 'laplace', scale };
        const cost = toNumber(costOf(law, 'pure', { l1: BigInt(move), l2squared: BigInt(move) ** 2n })!);
        const far = move + 5;
        const [here, there] = [logLaw(law, 0, far), logLaw(law, move, far)];
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
      const law: Law = { kind: 'gaussian', variance: rational(variance) };
      const rho = toNumber(costOf(law, 'zcdp', { l1: BigInt(move), l2squared: BigInt(move * move) })!);
      const [p, q] = [0, move].map((center) => normalised(logLaw(law, center, 80)).map(Math.log));
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
    const law: Law = { kind: 'selection', sharpness: rational(1, 3) };
    const effect = { l1: 4n, l2squared: 16n };
    const chances = (penalties: readonly number[]) => normalised(penalties.map((p) => -p / 3));
    // One good candidate among very many: the normaliser moves by nearly all of e^(s d), too.
    const many = new Array<number>(20000).fill(4);
    const [p, q] = [chances([0, ...many]), chances([4, ...many.map(() => 0)])];
    const epsilon = toNumber(costOf(law, 'pure', effect)!);
    const worst = Math.max(...p.map((x, i) => Math.abs(Math.log(x / q[i]!))));
    expect(worst).toBeLessThanOrEqual(epsilon);
    expect(worst).toBeGreaterThan(0.99 * epsilon);
    expect(toNumber(costOf(law, 'zcdp', effect)!)).toBeCloseTo(epsilon ** 2 / 8, 12);
  });
});

describe('a mechanism', () => {
  const kinds: Record<string, (allotment: Allotment, times: number) => Mechanism> = {
    additive: (allotment, times) => additive({ ...counted, times }, allotment),
    selection: (allotment, times) =>
      selection({ name: 'choice', cells: times, effects: effects(6 * times, 36 * times) }, allotment),
  };
  for (const [name, make] of Object.entries(kinds))
    it(`fits its allotment and wastes little of it: ${name}`, () => {
      fc.assert(
        fc.property(fraction, fc.integer({ min: 1, max: 9 }), fc.boolean(), (amount, times, isPure) => {
          const allotment = isPure ? pure(amount) : zcdp(amount);
          const mechanism = make(allotment, times);
          expect(compare(mechanism.cost.perRecord.get(everyRecord)!, amount)).toBe(0);
          const effect =
            name === 'additive' ? counted.effects.get(everyRecord)! : effects(6 * times, 36 * times).get(everyRecord)!;
          const one = costOf(mechanism.law, allotment.noise, effect)!;
          const real = name === 'additive' ? multiply(one, rational(times)) : one;
          expect(compare(real, amount)).toBeLessThanOrEqual(0);
          expect(toNumber(divide(real, amount))).toBeGreaterThan(0.999);
        }),
      );
    });

  it('a mechanism charges every class in proportion to its sensitivity, outside its scope too', () => {
    const two: Effects = new Map<RecordClass, Effect>([
      [answersTo('age'), { l1: 2n, l2squared: 2n }],
      [everyRecord, { l1: 5n, l2squared: 9n }],
    ]);
    const { cost } = additive({ name: 'x', cells: 1, effects: two }, pure(rational(1, 10)), (name) => name === answersTo('age'));
    expect(cost.perRecord.get(answersTo('age'))).toEqual(rational(1, 10));
    expect(cost.perRecord.get(everyRecord)).toEqual(rational(1, 4));
  });

  it('a mechanism without sensitivity needs no noise, and one without noise but with sensitivity is refused', () => {
    const { law, cost } = additive({ name: 'rows', cells: 2, effects: new Map() }, pure(rational(1)));
    expect([law.kind, cost.perRecord.size]).toEqual(['none', 0]);
    expect(() => booked({ kind: 'none' }, effects(1, 1), pure(rational(1)))).toThrow(RangeError);
    expect(() => additive({ name: 'x', cells: 1, effects: effects(1, 1) }, pure(rational(1)), () => false)).toThrow(RangeError);
  });

  it.each<[string, Law, Allotment]>([
    ['Laplace noise of half the scale', { kind: 'laplace', scale: rational(1) }, pure(rational(1))],
    ['Gaussian noise of half the variance', { kind: 'gaussian', variance: rational(1, 2) }, zcdp(rational(1))],
    ['a selection twice as sharp', { kind: 'selection', sharpness: rational(1, 2) }, pure(rational(1))],
    ['a ladder that decays twice as fast', { kind: 'ladder', decay: rational(1) }, pure(rational(1))],
    [
      'smooth noise of beta epsilon/3',
      { ...smooth({ name: 'x', classes: [everyRecord] }, pure(rational(1))).law, beta: rational(1, 3) },
      pure(rational(1)),
    ],
    ['Gaussian noise as pure', { kind: 'gaussian', variance: rational(100) }, pure(rational(1))],
    ['Laplace noise as zCDP', { kind: 'laplace', scale: rational(100) }, zcdp(rational(1))],
    ['published noise', { kind: 'published' }, pure(rational(1))],
  ])('a mechanism cannot be made of %s', (_, law, allotment) => {
    const effect = law.kind === 'ladder' || law.kind === 'smooth' ? effects(1, 1) : effects(2, 2);
    expect(() => booked(law, effect, allotment)).toThrow('cost more than is booked');
  });

  it('a mechanism cannot be drawn more often than its budget share pays for', () => {
    for (const [law, allotment] of [
      [{ kind: 'laplace', scale: rational(6) }, pure(rational(1))],
      [{ kind: 'gaussian', variance: rational(3) }, zcdp(rational(1))],
    ] as const) {
      expect(booked(law, effects(2, 2), allotment, { times: 3 }).perRecord.get(everyRecord)).toEqual(rational(1));
      expect(() => booked(law, effects(2, 2), allotment, { times: 4 })).toThrow('cost more than is booked');
    }
  });

  it('the total cost of mechanisms is the sum of their costs of one kind', () => {
    const parts = [pure(rational(1, 3)), pure(rational(1, 6))].map((a) => additive(counted, a));
    expect(costTogether(parts).perRecord.get(everyRecord)).toEqual(rational(1, 2));
    expect(() => costTogether([...parts, additive(counted, zcdp(rational(1)))])).toThrow(RangeError);
    const none = additive({ name: 'public', cells: 1, effects: new Map() }, zcdp(rational(1)));
    expect(costTogether([none]).perRecord.size).toBe(0);
  });
});

describe('a payment', () => {
  const one = additive(counted, pure(rational(1, 2)));
  const other = additive(counted, pure(rational(1, 2)));

  it('a payment permits as many draws as were charged, and no more', () => {
    const paid = new Paid([one]);
    const exact = [1n, 2n, 3n, 4n];
    expect(one.ready(paid)(exact)).toHaveLength(4);
    expect(() => one.ready(paid)).toThrow('more noise would be drawn than was booked');
    expect(() => other.ready(new Paid([one]))).toThrow(RangeError);
    expect(() => one.ready(new Paid([]), 1)).toThrow(RangeError);
    // The sensitivity does not shrink with the vector: one of two numbers is one release, and so is a second.
    const short = new Paid([one]);
    expect(one.ready(short, 2)([1n, 2n])).toHaveLength(2);
    expect(() => one.ready(short, 2)).toThrow('more noise would be drawn than was booked');
    expect(() => one.ready(new Paid([one]), 5)).toThrow('more numbers than were foreseen');
  });

  it('a payment gives independent noise for each number', () => {
    expect(() => one.ready(new Paid([one]))([1n])).toThrow(RangeError);
  });

  it('a payment can be exchanged for a mechanism only if that costs no more, and then is used up', () => {
    const cheap = additive(counted, pure(rational(1, 3)));
    const dear = additive(counted, pure(rational(2, 3)));
    const gaussian = additive(counted, zcdp(rational(1, 100)));
    expect(() => new Paid([one]).exchange(one, dear)).toThrow(RangeError);
    expect(() => new Paid([one]).exchange(one, gaussian)).toThrow(RangeError);
    const paid = new Paid([one]);
    paid.exchange(one, cheap);
    expect(cheap.ready(paid)([0n, 0n, 0n, 0n])).toHaveLength(4);
    expect(() => one.ready(paid, 1)).toThrow(RangeError);
  });

  it('a payment permits no larger draw than charged, which would cost more in zCDP for the same epsilon', () => {
    const four = additive({ ...counted, times: 4 }, pure(rational(1, 2)));
    expect(() => new Paid([four]).exchange(four, one)).toThrow(RangeError);
    expect(() => new Paid([one]).exchange(one, four)).not.toThrow();
  });

  it('a payment can be exchanged for several mechanisms only if they cost no more in total; a reserve permits nothing else', () => {
    const half = additive(counted, pure(rational(1, 4)));
    const same = additive(counted, pure(rational(1, 4)));
    const little = additive(counted, pure(rational(1, 100)));
    const held = reserve(counted, pure(rational(1, 2)));
    expect(held).not.toHaveProperty('ready');
    expect(held.cost).toEqual(one.cost);
    expect(() => new Paid([held]).exchange(held, half, same, little)).toThrow(RangeError);
    expect(() => new Paid([held]).exchange(half, half)).toThrow(RangeError);
    const paid = new Paid([held]);
    const rest = reserve(counted, pure(rational(1, 4)));
    paid.exchange(held, half, rest);
    expect(half.ready(paid)([0n, 0n, 0n, 0n])).toHaveLength(4);
    expect(() => paid.exchange(held, same)).toThrow(RangeError);
    paid.exchange(rest, same);
    expect(same.ready(paid)([0n, 0n, 0n, 0n])).toHaveLength(4);
    expect(() => paid.exchange(rest, little)).toThrow(RangeError);
  });

  it('a payment counts selections and noise that follows the data', () => {
    const choice = selection({ name: 'which', cells: 2, effects: effects(2, 2) }, pure(rational(1)));
    const paid = new Paid([choice]);
    for (let k = 0; k < 2; k++) expect([0, 1]).toContain(choice.choose(paid, [0n, 1n]));
    expect(() => choice.choose(paid, [0n, 1n])).toThrow(RangeError);
    const rungs = { width: () => 1n, widest: 1n };
    for (const mechanism of [
      ladder({ name: 'x', classes: [tuplesOf('friend')] }, pure(rational(1))),
      smooth({ name: 'x', classes: [tuplesOf('friend')] }, pure(rational(1))),
    ]) {
      const once = new Paid([mechanism]);
      expect(typeof mechanism.climb(once, 5n, rungs)).toBe('bigint');
      expect(() => mechanism.climb(once, 5n, rungs)).toThrow(RangeError);
    }
  });

  it('a payment gives noise of the stated distribution', () => {
    const { law, variance } = one as { law: { kind: 'laplace'; scale: Rational }; variance: number };
    const many = additive({ ...counted, cells: 20_000 }, pure(rational(1, 2)));
    const noisy = many
      .ready(new Paid([many]))(new Array<bigint>(20_000).fill(7n))
      .map((x) => Number(x - 7n));
    const mean = noisy.reduce((a, b) => a + b, 0) / noisy.length;
    const spread = noisy.reduce((sum, x) => sum + x * x, 0) / noisy.length;
    expect(Math.abs(mean)).toBeLessThan(0.3);
    expect(spread / variance).toBeGreaterThan(0.9);
    expect(spread / variance).toBeLessThan(1.1);
    expect(compare(add(law.scale, zero), rational(4))).toBe(0);
  });
});
