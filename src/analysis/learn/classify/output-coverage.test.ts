import { describe, expect, it, vi } from 'vitest';
import { seeded } from '../../../../experiments/coverage/world.js';
import { madeExamples, numberMap } from '../../../../test/made-examples.js';
import { rational } from '../../../base/exact/rational.js';
import { pure, zcdp } from '../../../privacy/mechanism/budget-share.js';
import { Payment } from '../../../privacy/mechanism/payment.js';
import { logistic } from './loss.js';
import { minimise } from './minimise.js';
import { outputTrainer } from './output.js';

vi.mock('../../../privacy/noise/bits.js', async (original) =>
  (await import('../../../../test/seeded-source.js')).seededNoise(
    await original<typeof import('../../../privacy/noise/bits.js')>(),
    17,
  ),
);

/** More draws, and their figures: FUGU_COVERAGE=2000 npx vitest run src/analysis/learn/classify/output-coverage.test.ts */
const requestedDraws = Number(process.env.FUGU_COVERAGE ?? 0);
if (requestedDraws) vi.setConfig({ testTimeout: 3_600_000 });
const map = numberMap(3);

/**
 * Coverage in percent of the confidence intervals of trained weights for the best weights of the same rows; intervals widened by
 * `wide`.
 */
function held(n: number, noise: 'Laplace' | 'Gaussian', draws: number, wide = 1): number {
  const random = seeded(n);
  const rows = Array.from({ length: n }, () => {
    const x = [random(), random(), random()].map((u) => 2 * u - 1);
    return { x, y: random() < 1 / (1 + Math.exp(0.5 - 2 * x[0]! + x[1]!)) ? (1 as const) : (-1 as const) };
  });
  const examples = madeExamples(map, rows);
  const trainer = outputTrainer(
    { map, loss: logistic, regularisation: 0.01, records: n, rowsPerRecord: 1 },
    noise === 'Laplace' ? pure(rational(1)) : zcdp(rational(1, 20)),
  );
  const best = minimise({ examples, loss: logistic, records: n, radius: map.radius, regularisation: 0.01 }, 1e-9);
  let times = 0;
  for (let k = 0; k < draws; k++)
    trainer
      .prepare(new Payment(trainer.mechanisms))(examples)
      .forEach((w, j) => {
        if (Math.abs(w - best[j]!) <= wide * trainer.halfWidth!) times++;
      });
  return (100 * times) / (draws * best.length);
}

describe('95 % confidence intervals of weights with added noise', () => {
  it.each([
    [300, 'Laplace', 500],
    [300, 'Gaussian', 500],
    [3000, 'Laplace', 100],
    ...(requestedDraws
      ? ([
          [3000, 'Gaussian', requestedDraws],
          [100_000, 'Laplace', requestedDraws / 10],
          [100_000, 'Gaussian', requestedDraws / 10],
        ] as const)
      : []),
  ] as const)(
    'confidence intervals hold the best weights of the rows in 93 to 98 of 100 draws: %d rows, %s',
    (n, noise, draws) => {
      const share = held(n, noise, requestedDraws && n < 10_000 ? requestedDraws : draws);
      if (requestedDraws) console.log(`${n} ${noise} ${share.toFixed(1)}`);
      // Few draws of many rows scatter more.
      const tolerance = requestedDraws && n > 10_000 ? 3 : 0;
      expect(share).toBeGreaterThanOrEqual(93 - tolerance);
      expect(share).toBeLessThanOrEqual(98 + tolerance);
    },
  );

  it('intervals half as wide fail the coverage test', () => {
    expect(held(300, 'Laplace', 100, 0.5)).toBeLessThan(85);
  });
});
