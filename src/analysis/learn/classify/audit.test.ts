import { describe, expect, it } from 'vitest';
import { madeExamples, numberMap } from '../../../../test/made-examples.js';
import { auditOutputs } from '../../../../test/statistical/statistical.js';
import { rational } from '../../../base/exact/rational.js';
import { type BudgetShare, pure as pureOf } from '../../../privacy/mechanism/budget-share.js';
import { Payment } from '../../../privacy/mechanism/payment.js';
import { descentTrainer } from './descent.js';
import type { Examples } from './examples.js';
import { huberHinge } from './loss.js';
import { outputTrainer } from './output.js';
import type { ClassifySetting, Trainer } from './trainer.js';

/** The worst neighbouring data sets: a single row of maximal length that changes its label. */
const map = numberMap(1);
const world = (y: 1 | -1, stretch = 1): Examples => {
  const examples = madeExamples(map, [{ x: [1], y }]);
  return { ...examples, value: examples.value.map((v) => v * stretch) };
};
const setting: ClassifySetting = { map, loss: huberHinge(0.5), regularisation: 10, records: 1, rowsPerRecord: 1, steps: 1 };
const pure: BudgetShare = pureOf(rational(1));
const train = (trainer: Trainer, examples: Examples) => trainer.prepare(new Payment(trainer.mechanisms))(examples);
const audit = (trainer: Trainer, samples: number, stretch = 1, make = train) =>
  auditOutputs(
    ...([1, -1].map((y) => {
      const examples = world(y as 1 | -1, stretch);
      return Array.from({ length: samples }, () => [...make(trainer, examples)]);
    }) as [number[][], number[][]]),
    { features: [{ name: 'sign of the sum', of: (o) => o.reduce((s, x) => s + x, 0) }] },
  ).epsilon;

describe('the statistical audit of the classifiers', () => {
  it('output perturbation stays below epsilon, and the audit detects most of it', () => {
    const found = audit(outputTrainer(setting, pure), 20_000);
    expect(found).toBeLessThanOrEqual(1);
    expect(found).toBeGreaterThan(0.6);
  });

  it('noisy descent stays below epsilon, in one step and in three', () => {
    const one = audit(descentTrainer(setting, pure), 20_000);
    expect(one).toBeLessThanOrEqual(1);
    expect(one).toBeGreaterThan(0.25);
    expect(audit(descentTrainer({ ...setting, steps: 3 }, pure), 20_000)).toBeLessThanOrEqual(1);
  });

  it('the audit detects rows that were not scaled to length one', () => {
    expect(audit(descentTrainer(setting, pure), 20_000, 4)).toBeGreaterThan(1);
    expect(audit(outputTrainer(setting, pure), 20_000, 4)).toBeGreaterThan(1);
  });

  it('the audit detects a tolerance or a number of records that was not paid for', () => {
    // Noise for two records where there is one: half of what is needed.
    expect(audit(outputTrainer({ ...setting, records: 2 }, pure), 20_000, 1, shifted)).toBeGreaterThan(1);
  });
});

/** The minimiser for one record with the noise of another trainer. */
function shifted(quiet: Trainer, examples: Examples): Float64Array {
  const noise = train(quiet, { ...examples, count: 0 });
  return train(outputTrainer(setting, pureOf(rational(10n ** 9n))), examples).map((x, j) => x + noise[j]!);
}
