import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeExamples, numberMap } from '../../../../test/made-examples.js';
import { auditOutputs } from '../../../../test/statistical/statistical.js';
import { add, compare, divide, rational, toNumber } from '../../../base/exact/rational.js';
import { pure } from '../../../privacy/mechanism/budget-share.js';
import { drawCost } from '../../../privacy/mechanism/mechanism-cost.js';
import type { ObjectivePerturbation } from '../../../privacy/mechanism/objective-perturbation.js';
import { Payment } from '../../../privacy/mechanism/payment.js';
import { fineness, gradientSum } from './descent.js';
import type { Examples } from './examples.js';
import { unit } from './features.js';
import { gradient, gradientAtMost, margin } from './gradient.js';
import { huberHinge, type Loss, linearisedLogistic, logistic } from './loss.js';
import { minimise } from './minimise.js';
import { solverSlack, tiltTrainer } from './tilt.js';
import type { ClassifySetting } from './trainer.js';

const losses: readonly Loss[] = [logistic, linearisedLogistic(9 / 16), huberHinge(0.5)];
const setting = (features: number, records: number, more: Partial<ClassifySetting> = {}): ClassifySetting => ({
  map: numberMap(features),
  loss: logistic,
  regularisation: 0.05,
  records,
  rowsPerRecord: 1,
  ...more,
});
const cell = fc.double({ min: -1, max: 1, noNaN: true });
const row = fc.record({ x: fc.array(cell, { minLength: 2, maxLength: 2 }), y: fc.constantFrom(1 as const, -1 as const) });

/** The determinant of the second derivative of the objective, times the records. */
function determinant(examples: Examples, loss: Loss, radius: number, penalty: number, w: Float64Array): number {
  const d = examples.width;
  const h = Array.from({ length: d }, (_, j) => Array.from({ length: d }, (_, k) => (j === k ? penalty : 0)));
  for (let i = 0; i < examples.count; i++) {
    const bend = loss.secondDerivative(margin(examples, radius, w, i));
    const x = Array.from({ length: d }, (_, j) => examples.value[i * d + j]! / radius);
    for (let j = 0; j < d; j++) for (let k = 0; k < d; k++) h[j]![k]! += bend * x[j]! * x[k]!;
  }
  const [a, b, c] = h as [number[], number[], number[]];
  return (
    a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) - a[1]! * (b[0]! * c[2]! - b[2]! * c[0]!) + a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!)
  );
}

describe('the random linear term', () => {
  it('the linear term pays for the effect of one record on gradient and curvature, at any weights', () => {
    const weight = fc.double({ min: -20, max: 20, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 12 }),
        row,
        fc.array(weight, { minLength: 3, maxLength: 3 }),
        fc.constantFrom(...losses),
        (rows, other, list, loss) => {
          const s = setting(2, rows.length, { loss, regularisation: 4 });
          const [weights] = tiltTrainer(s, pure(rational(1))).mechanisms as [ObjectivePerturbation];
          const w = Float64Array.from(list);
          const worlds = [rows, [other, ...rows.slice(1)]].map((r) => madeExamples(s.map, r));
          const [here, there] = worlds.map((e) => gradientSum(e, loss, s.map.radius, w));
          const distance = here!.reduce((sum, x, j) => sum + Math.abs(x - there![j]!) + 1, 0);
          expect(distance).toBeLessThanOrEqual(2 * s.map.slots * (loss.steepest * fineness * unit + 1));
          const [a, b] = worlds.map((e) => determinant(e, loss, s.map.radius, rows.length * 4, w));
          expect(Math.abs(Math.log(a! / b!))).toBeLessThanOrEqual(toNumber(weights.distribution.bend));
        },
      ),
    );
  });

  it('the reserved cost covers gradient, curvature and slack', () => {
    for (const [each, loss] of [
      [1, logistic],
      [3, logistic],
      [1, linearisedLogistic(9 / 16)],
    ] as const) {
      const s = setting(3, 1000, { rowsPerRecord: each, loss });
      const [{ distribution, cost }] = tiltTrainer(s, pure(rational(1))).mechanisms as [ObjectivePerturbation];
      const l1 = rational(2 * each * s.map.slots * (loss.steepest * fineness * unit + 1));
      const total = add(add(divide(l1, distribution.scale), distribution.bend), divide(distribution.slack, distribution.fuzz));
      expect(drawCost(distribution, 'pure', { l1: l1.num, l2squared: 0n })).toEqual(total);
      expect(compare(total, rational(1))).toBeLessThanOrEqual(0);
      expect(toNumber(total)).toBeGreaterThan(0.9999);
      expect([...cost.perRecord.values()]).toEqual([rational(1)]);
      expect(toNumber(distribution.bend)).toBeCloseTo((each * 0.25) / (1000 * 0.05), 9);
    }
  });

  it('a penalty under which the curvature would cost more than half of the budget is raised', () => {
    const [{ distribution }] = tiltTrainer(setting(2, 100, { regularisation: 1e-6 }), pure(rational(1, 10))).mechanisms as [
      ObjectivePerturbation,
    ];
    expect(toNumber(distribution.bend)).toBeLessThan(0.05);
    expect(toNumber(distribution.bend)).toBeGreaterThan(0.049);
  });

  it('neighbouring data sets with the same minimiser differ in output by no more than the slack that is paid for', () => {
    // The real linear term may be anywhere within half a unit of the rounded one: both ends are tried, with an early-stopping solver.
    const s = setting(2, 50, { regularisation: 0.1 });
    const { tolerance, grid, slack } = solverSlack(s, 1);
    const rows = Array.from({ length: 50 }, (_, i) => ({
      x: [Math.cos(i), Math.sin(3 * i)],
      y: i % 3 ? (1 as const) : (-1 as const),
    }));
    const examples = madeExamples(s.map, rows);
    const at = (half: number, tolerance: number) =>
      minimise(
        {
          examples,
          loss: logistic,
          records: 50,
          radius: s.map.radius,
          regularisation: 0.1,
          linear: new Float64Array(3).fill((1000 + half) / (fineness * s.map.radius)),
        },
        tolerance,
      );
    const onGridPoints = (w: Float64Array) => [...w].map((x) => Math.round(x / grid));
    const [a, b] = [onGridPoints(at(-0.5, tolerance)), onGridPoints(at(0.5, 1e-12))];
    const distance = a.reduce((sum, x, j) => sum + Math.abs(x - b[j]!), 0);
    expect(distance).toBeLessThanOrEqual(Number(slack));
    expect(distance).toBeGreaterThan(Number(slack) / 1000);
  });

  it('the gradient error that is certified includes the linear term', () => {
    const s = setting(2, 50, { regularisation: 0.1 });
    const objective = {
      examples: madeExamples(s.map, [{ x: [1, -1], y: 1 }]),
      loss: logistic,
      records: 50,
      radius: s.map.radius,
      regularisation: 0.1,
    };
    const w = Float64Array.from([1, 2, 3]);
    const error = (linear: number) => {
      const tilted = { ...objective, linear: new Float64Array(3).fill(linear) };
      const g = gradient(tilted, w);
      return gradientAtMost(tilted, w, g) - 1.01 * Math.hypot(...g);
    };
    expect(error(1e12)).toBeGreaterThan((1e12 * 2 ** -53) / 50);
    expect(error(1)).toBeLessThan(1e-12);
  });

  it('the trainer stays below epsilon in an audit that detects much of it, and noise for three times the budget fails the audit', () => {
    const map = numberMap(1);
    const s: ClassifySetting = { map, loss: huberHinge(0.5), regularisation: 20, records: 1, rowsPerRecord: 1 };
    const world = (y: 1 | -1) => madeExamples(map, [{ x: [1], y }]);
    const run = (of: ClassifySetting, budget: number) => (y: 1 | -1) => {
      const trainer = tiltTrainer(of, pure(rational(budget)));
      return Array.from({ length: 12_000 }, () => [...trainer.prepare(new Payment(trainer.mechanisms))(world(y))]);
    };
    const features = [{ name: 'sum', of: (o: readonly number[]) => o.reduce((a, b) => a + b, 0) }];
    const found = (release: (y: 1 | -1) => number[][]) => auditOutputs(release(1), release(-1), { features }).epsilon;
    const honest = found(run(s, 1));
    expect(honest).toBeLessThanOrEqual(1);
    expect(honest).toBeGreaterThan(0.3);
    expect(found(run(s, 3))).toBeGreaterThan(1);
  });
});
