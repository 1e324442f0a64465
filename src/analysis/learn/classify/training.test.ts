import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeExamples, numberMap } from '../../../../test/made-examples.js';
import { RecordingPayment, usedParts } from '../../../../test/transcript.js';
import { add, compare, divide, multiply, type Rational, rational, toNumber } from '../../../base/exact/rational.js';
import { pure, zcdp } from '../../../privacy/mechanism/budget-share.js';
import type { NoiseDistribution } from '../../../privacy/mechanism/distribution.js';
import { Payment } from '../../../privacy/mechanism/payment.js';
import { descentTrainer, fineness, gradientSum, stepCount } from './descent.js';
import type { Examples } from './examples.js';
import { unit } from './features.js';
import { gradient, gradientAtMost, length, margin } from './gradient.js';
import { huberHinge, type Loss, linearisedLogistic, logistic } from './loss.js';
import { minimise } from './minimise.js';
import { objectiveTrainer } from './objective.js';
import { outputSensitivity, outputTrainer } from './output.js';
import type { ClassifySetting, Trainer } from './trainer.js';

const cell = fc.double({ min: -1, max: 1, noNaN: true });
const row = (features: number) =>
  fc.record({ x: fc.array(cell, { minLength: features, maxLength: features }), y: fc.constantFrom(1 as const, -1 as const) });
const losses: readonly Loss[] = [logistic, linearisedLogistic(9 / 16), huberHinge(0.5), huberHinge(0.1)];
const setting = (features: number, records: number, more: Partial<ClassifySetting> = {}): ClassifySetting => ({
  map: numberMap(features),
  loss: logistic,
  regularisation: 0.01,
  records,
  rowsPerRecord: 1,
  ...more,
});

const train = (trainer: Trainer, examples: Examples) => trainer.prepare(new Payment(trainer.mechanisms))(examples);
/** Laplace scale or Gaussian variance. */
const level = ({ distribution }: { readonly distribution: NoiseDistribution }): Rational =>
  distribution.kind === 'laplace' ? distribution.scale : distribution.kind === 'gaussian' ? distribution.variance : rational(0);

describe('the losses', () => {
  it('every loss has slopes between -1 and 0 that change no faster than its stated curvature', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...losses),
        fc.double({ min: -30, max: 30, noNaN: true }),
        fc.double({ min: 0, max: 2, noNaN: true }),
        (loss, z, gap) => {
          const [here, there] = [loss.slope(z), loss.slope(z + gap)];
          expect(here).toBeGreaterThanOrEqual(-loss.steepest);
          expect(here).toBeLessThanOrEqual(0);
          expect(there - here).toBeLessThanOrEqual(loss.curvature * gap + 1e-12);
        },
      ),
    );
  });

  it('every loss has the derivative of its value as slope', () => {
    for (const loss of losses)
      for (let z = -4; z < 4; z += 0.37)
        expect((loss.value(z + 1e-6) - loss.value(z - 1e-6)) / 2e-6).toBeCloseTo(loss.slope(z), 5);
  });
});

describe('the minimiser', () => {
  it('the minimiser reaches the tolerance for every data set, narrow or wide, with one row or one class', () => {
    fc.assert(
      fc.property(
        fc.array(row(3), { minLength: 1, maxLength: 40 }),
        fc.constantFrom(...losses),
        fc.constantFrom(1e-4, 0.01, 1),
        (rows, loss, regularisation) => {
          const map = numberMap(3);
          const objective = { examples: madeExamples(map, rows), loss, records: rows.length, radius: map.radius, regularisation };
          const w = minimise(objective, 1e-7);
          expect(gradientAtMost(objective, w)).toBeLessThanOrEqual(1e-7);
          expect(length(gradient(objective, w))).toBeLessThanOrEqual(1e-7);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('the minimiser takes gradient steps alone when the second derivative is too large a matrix', () => {
    const map = numberMap(450);
    const rows = Array.from({ length: 60 }, (_, i) => ({
      x: Array.from({ length: 450 }, (_, j) => Math.sin(i * 7 + j * 3)),
      y: i % 3 === 0 ? (1 as const) : (-1 as const),
    }));
    const objective = {
      examples: madeExamples(map, rows),
      loss: logistic,
      records: 60,
      radius: map.radius,
      regularisation: 0.01,
    };
    expect(gradientAtMost(objective, minimise(objective, 1e-8))).toBeLessThanOrEqual(1e-8);
  });

  it('the minimiser moves by no more than the paid sensitivity when one row is replaced', () => {
    fc.assert(
      fc.property(
        fc.array(row(2), { minLength: 1, maxLength: 12 }),
        row(2),
        fc.constantFrom(...losses),
        fc.constantFrom(0.003, 0.1, 2),
        (rows, other, loss, regularisation) => {
          const s = setting(2, rows.length, { loss, regularisation });
          const { tolerance, l2 } = outputSensitivity(s);
          const solve = (list: typeof rows) =>
            minimise(
              { examples: madeExamples(s.map, list), loss, records: rows.length, radius: s.map.radius, regularisation },
              tolerance,
            );
          const [a, b] = [solve(rows), solve([other, ...rows.slice(1)])];
          expect(length(a.map((x, j) => x - b[j]!))).toBeLessThanOrEqual(toNumber(l2));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('the minimiser reaches that sensitivity when a single row changes its label under a strong penalty', () => {
    const s = setting(1, 1, { loss: huberHinge(0.5), regularisation: 10 });
    const { tolerance, l2 } = outputSensitivity(s);
    const solve = (y: 1 | -1) =>
      minimise(
        { examples: madeExamples(s.map, [{ x: [1], y }]), loss: s.loss, records: 1, radius: s.map.radius, regularisation: 10 },
        tolerance,
      );
    const [a, b] = [solve(1), solve(-1)];
    expect(length(a.map((x, j) => x - b[j]!)) / toNumber(l2)).toBeGreaterThan(0.99);
  });
});

describe('output perturbation', () => {
  it('the noise is scaled to the sensitivity bound 2 each / (n regularisation), tolerance and grid included', () => {
    const s = setting(3, 1000, { rowsPerRecord: 2 });
    const reach = outputSensitivity(s);
    expect(toNumber(reach.l2)).toBeGreaterThan((2 * 2) / (1000 * 0.01));
    expect(toNumber(reach.l2)).toBeLessThan(1.002 * ((2 * 2) / (1000 * 0.01)));
    expect(Number.isInteger(Math.log2(reach.grid))).toBe(true);
    const { l1, l2squared } = reach.sensitivity;
    expect(Math.sqrt(Number(l2squared)) * reach.grid).toBeGreaterThan(toNumber(reach.l2) + 2 * reach.grid - 1e-12);
    expect(Number(l1)).toBeGreaterThanOrEqual((2 * toNumber(reach.l2)) / reach.grid + 4);
  });

  it('the reserved cost is at least what the noise costs', () => {
    const s = setting(3, 1000);
    const { l1, l2squared } = outputSensitivity(s).sensitivity;
    const [laplace] = outputTrainer(s, pure(rational(1, 2))).mechanisms;
    const epsilon = divide(rational(l1), level(laplace!));
    expect(compare(epsilon, rational(1, 2))).toBeLessThanOrEqual(0);
    expect(toNumber(epsilon)).toBeGreaterThan(0.4999);
    const [gaussian] = outputTrainer(s, zcdp(rational(1, 50))).mechanisms;
    const rho = divide(rational(l2squared), multiply(rational(2), level(gaussian!)));
    expect(toNumber(rho)).toBeLessThanOrEqual(0.02);
    expect(toNumber(rho)).toBeGreaterThan(0.0199);
  });

  it('the released weights are near the minimiser when the budget is large', () => {
    const rows = Array.from({ length: 400 }, (_, i) => ({
      x: [Math.cos(i), Math.sin(3 * i)],
      y: Math.cos(i) > 0 ? (1 as const) : (-1 as const),
    }));
    const s = setting(2, 400);
    const w = train(outputTrainer(s, pure(rational(10_000))), madeExamples(s.map, rows));
    const right = rows.filter((_, i) => margin(madeExamples(s.map, rows), s.map.radius, w, i) > 0).length;
    expect(right).toBeGreaterThan(380);
  });
});

describe('noisy gradient descent', () => {
  it('no row adds more to a gradient than it pays for, even at absurd weights', () => {
    const weight = fc.oneof(fc.double({ min: -1e3, max: 1e3 }), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1e308));
    fc.assert(
      fc.property(row(3), fc.array(weight, { minLength: 4, maxLength: 4 }), fc.constantFrom(...losses), (one, w, loss) => {
        const map = numberMap(3);
        const g = gradientSum(madeExamples(map, [one]), loss, map.radius, Float64Array.from(w));
        expect(g.every(Number.isInteger)).toBe(true);
        expect(g.reduce((s, x) => s + Math.abs(x), 0)).toBeLessThanOrEqual(fineness * map.slots * unit);
        expect(g.reduce((s, x) => s + x * x, 0)).toBeLessThanOrEqual(fineness ** 2 * map.slots * unit ** 2);
      }),
    );
  });

  it('the mean row and every step are paid from one budget', () => {
    const s = setting(2, 500);
    for (const steps of [1, 7, 30]) {
      const narrow = descentTrainer({ ...s, steps }, pure(rational(1))).mechanisms.map(level);
      const l1 = (size: number) => rational(2 * 3 * size);
      const epsilon = add(divide(l1(unit), narrow[0]!), multiply(rational(steps), divide(l1(fineness * unit), narrow[1]!)));
      expect(compare(epsilon, rational(1))).toBeLessThanOrEqual(0);
      expect(toNumber(epsilon)).toBeGreaterThan(0.9999);
      const wide = descentTrainer({ ...s, steps }, zcdp(rational(1, 50))).mechanisms.map(level);
      const cost = (size: number, variance: Rational) => divide(rational(4 * 3 * size * size), multiply(rational(2), variance));
      const rho = add(cost(unit, wide[0]!), multiply(rational(steps), cost(fineness * unit, wide[1]!)));
      expect(compare(rho, rational(1, 50))).toBeLessThanOrEqual(0);
      expect(toNumber(rho)).toBeGreaterThan(0.0199);
    }
  });

  it('the reserved cost covers all rows of a record: three that change their label move every step by as much', () => {
    // At weights of zero the hinge loss has its steepest slope on either side.
    const s = setting(3, 500, { rowsPerRecord: 3, loss: huberHinge(0.5), steps: 4 });
    const others = Array.from({ length: 20 }, (_, i) => ({ x: [1, -1, i / 20], y: i % 2 ? (1 as const) : (-1 as const) }));
    const run = (trainer: Trainer, mine: typeof others): RecordingPayment => {
      const transcript = new RecordingPayment(trainer.mechanisms);
      trainer.prepare(transcript)(madeExamples(s.map, [...mine, ...others]));
      return transcript;
    };
    const three = (x: number, y: 1 | -1) => Array.from({ length: 3 }, () => ({ x: [x, x, x], y }));
    for (const within of [pure(rational(1)), zcdp(rational(1, 50))]) {
      const trainer = descentTrainer(s, within);
      const [still, relabelled] = usedParts(run(trainer, three(1, 1)), run(trainer, three(1, -1)));
      expect(still).toBe(0);
      expect(relabelled).toBeCloseTo(1, 5);
      // The intercept of a row is always one, so three of four entries can change sign.
      const [turned, gradients] = usedParts(run(trainer, three(1, 1)), run(trainer, three(-1, 1)));
      expect(turned).toBeCloseTo(3 / 4, 5);
      expect(gradients).toBeLessThanOrEqual(1);
      const [gone, without] = usedParts(run(trainer, three(1, 1)), run(trainer, []));
      expect(Math.max(gone!, without!)).toBeLessThanOrEqual(1);
      const fewer = descentTrainer({ ...s, rowsPerRecord: 2 }, within);
      expect(usedParts(run(fewer, three(1, 1)), run(fewer, three(1, -1)))[1]).toBeGreaterThan(1.4);
    }
  });

  it('the reserved cost of output perturbation covers three rows of a record that change their label', () => {
    const s = setting(1, 3, { rowsPerRecord: 3, loss: huberHinge(0.5), regularisation: 100 });
    const run = (trainer: Trainer, y: 1 | -1): RecordingPayment => {
      const transcript = new RecordingPayment(trainer.mechanisms);
      trainer.prepare(transcript)(
        madeExamples(
          s.map,
          Array.from({ length: 3 }, () => ({ x: [1], y })),
        ),
      );
      return transcript;
    };
    for (const within of [pure(rational(1)), zcdp(rational(1, 50))]) {
      const trainer = outputTrainer(s, within);
      const [used] = usedParts(run(trainer, 1), run(trainer, -1));
      expect(used).toBeLessThanOrEqual(1);
      expect(used).toBeGreaterThan(0.98);
    }
  });

  it('descent takes more steps when the noise allows them', () => {
    expect(stepCount('pure', 0.003)).toBe(12);
    expect(stepCount('pure', 1)).toBe(3);
    expect(stepCount('zcdp', 0.003)).toBe(30);
    expect(stepCount('zcdp', 1e-9)).toBe(100);
  });

  it('descent converges when all features are copies of one another, though its step is too long for that', () => {
    const rows = Array.from({ length: 2000 }, (_, i) => ({
      x: new Array<number>(12).fill(Math.cos(i)),
      y: Math.cos(i) > 0.2 ? (1 as const) : (-1 as const),
    }));
    const s = setting(12, 2000, { regularisation: 1e-4 });
    const examples = madeExamples(s.map, rows);
    for (const loss of losses) {
      const w = train(descentTrainer({ ...s, loss }, zcdp(rational(1))), examples);
      expect(rows.filter((_, i) => margin(examples, s.map.radius, w, i) > 0).length).toBeGreaterThan(1850);
    }
  });
});

describe('objective perturbation as published', () => {
  it('objective perturbation is never called certified, and refuses records of several rows', () => {
    expect(objectiveTrainer(setting(2, 500), rational(1)).certified).toBe(false);
    expect(() => objectiveTrainer(setting(2, 500, { rowsPerRecord: 2 }), rational(1))).toThrow('one row per record');
    const rows = Array.from({ length: 500 }, (_, i) => ({
      x: [Math.cos(i), Math.sin(3 * i)],
      y: Math.cos(i) > 0 ? (1 as const) : (-1 as const),
    }));
    const s = setting(2, 500);
    const w = train(objectiveTrainer(s, rational(100)), madeExamples(s.map, rows));
    expect(rows.filter((_, i) => margin(madeExamples(s.map, rows), s.map.radius, w, i) > 0).length).toBeGreaterThan(450);
  });
});
