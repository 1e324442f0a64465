import { describe, expect, it } from 'vitest';
import { fromNumber, parseRational, type Rational, toNumber } from '../../base/exact/rational.js';
import { type ComponentReach, gaussianSums } from '../../privacy/dependence/gaussian/sums.js';
import { fromPairs, untied } from '../../privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../../privacy/dependence/graph-amplifier.js';
import { failureProbability, largestRhoForOdds } from './belief-delta.js';

const strangers = graphAmplifier({
  name: 'strangers',
  graph: untied(3),
  scope: () => true,
  adversary: 'informed',
  reach: 'any',
  assumptions: [],
  method: '',
}).gaussian[0]!;
/** The loss of Gaussian noise with rho is normal with mean rho and variance 2 rho; it may leave the interval on either side. */
const trueFailure = (rho: number, epsilon: number): number =>
  tail((epsilon - rho) / Math.sqrt(2 * rho)) + tail((epsilon + rho) / Math.sqrt(2 * rho));
/** P(normal > z), by the midpoint rule. */
function tail(z: number): number {
  let sum = 0;
  const step = 1e-3;
  for (let x = z + step / 2; x < z + 12; x += step) sum += Math.exp(-(x * x) / 2) * step;
  return sum / Math.sqrt(2 * Math.PI);
}

describe('beliefs under delta', () => {
  it.each([
    ['1', '1e-6'],
    ['3', '1e-6'],
    ['0.5', '1e-5'],
  ])(
    'at epsilon %s, delta %s the usual conversion fails more often than delta, and the conversion for beliefs does not',
    (e, d) => {
      const [epsilon, delta] = [parseRational(e), parseRational(d)];
      const usual = strangers.largestRho(epsilon, delta);
      const sure = largestRhoForOdds(strangers, epsilon, delta).rho;
      expect(trueFailure(toNumber(usual), toNumber(epsilon))).toBeGreaterThan(1.5 * toNumber(delta));
      expect(trueFailure(toNumber(sure), toNumber(epsilon))).toBeLessThanOrEqual(toNumber(delta));
      const chernoff = (Math.sqrt(-Math.log(toNumber(delta)) + toNumber(epsilon)) - Math.sqrt(-Math.log(toNumber(delta)))) ** 2;
      expect(toNumber(sure) / chernoff).toBeGreaterThan(0.95);
      expect(Math.sqrt(toNumber(usual) / toNumber(sure))).toBeLessThan(1.3);
    },
  );

  it('the failure probability of the usual conversion is never too low and not far too high', () => {
    const epsilon = parseRational('1');
    const rho = strangers.largestRho(epsilon, parseRational('1e-6'));
    const stated = failureProbability(strangers, rho, epsilon);
    expect(stated).toBeGreaterThanOrEqual(trueFailure(toNumber(rho), 1));
    expect(stated).toBeLessThan(1e-4);
    expect(failureProbability(strangers, largestRhoForOdds(strangers, epsilon, parseRational('1e-6')).rho, epsilon)).toBeLessThan(
      1.5e-6,
    );
  });

  it.each([0.3, 1, 3])(
    'the failure probability of noise on sums follows from the one order that also prices pure noise: epsilon %s',
    (e) => {
      const epsilon = fromNumber(e);
      for (const [records, odds, d] of [
        [2, 1, 1e-2],
        [2, 3, 1e-6],
        [3, 2, 1e-4],
      ] as const) {
        // biome-ignore format: one line
        const left = Uint32Array.from({ length: records - 1 }, (_, k) => k);
        const { reaches, ...sums } = gaussianSums(fromPairs(records, left, left.map((k) => k + 1), odds), 'any'); // biome-ignore format: one line
        const rho = sums.largestRho(epsilon, fromNumber(d));
        const [{ amplification, nodes }] = reaches as [ComponentReach];
        const x = 1 / toNumber(sums.counted({ rho: fromNumber(0), pure: fromNumber(1) }, rho, epsilon)) - records;
        const moment = Math.exp(toNumber(rho) * (x * x + x * (2 * records - 1))) + nodes - 1;
        const proven = (1 + Math.exp(-e)) * moment * Math.exp(-(x / amplification) * e);
        const stated = failureProbability(sums, rho, epsilon);
        expect(stated / Math.min(1, proven)).toBeGreaterThanOrEqual(1 - 1e-6);
        expect(stated / proven).toBeLessThan(1.3);
        // Other orders would give a weaker bound for Gaussian noise alone.
        const { deltaBelow: _, ...alone } = sums;
        expect(failureProbability(alone, rho, epsilon)).toBeLessThan(proven);
      }
    },
  );

  it.each([0.1, 0.5, 1, 3])('the failure probability counts odds that move the wrong way, and is tight at epsilon %s', (e) => {
    // With probability p the odds of the truth move up by e^x, with p e^-x down by as much, else not at all; x is just above epsilon.
    const x = e * (1 + 1e-9);
    const most = (less: number) => 1 - Math.exp(less - x);
    const worst = {
      delta: (p: number, less: number) => p * most(less),
      largestRho: (less: Rational, delta: Rational) => fromNumber(toNumber(delta) / most(toNumber(less))),
    };
    const failure = (p: number) => p * (1 + Math.exp(-x));
    const [epsilon, p] = [fromNumber(e), fromNumber(1e-6)];
    const stated = failureProbability(worst, p, epsilon) / failure(1e-6);
    expect(stated).toBeGreaterThanOrEqual(1 - 1e-6);
    expect(stated).toBeLessThan(1 + 1e-6);
    const kept = failure(toNumber(largestRhoForOdds(worst, epsilon, p).rho)) / 1e-6;
    expect(kept).toBeLessThanOrEqual(1 + 1e-6);
    expect(kept).toBeGreaterThan(1 - 1e-6);
  });
});
