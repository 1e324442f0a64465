import { describe, expect, it } from 'vitest';
import { compare, fromNumber, rational, toNumber } from '../../base/exact/rational.js';
import { untied } from './graph/factor-graph.js';
import { graphAmplifier } from './graph-amplifier.js';

const strangers = graphAmplifier({
  name: 'strangers',
  graph: untied(3),
  scope: () => true,
  adversary: 'informed',
  reach: 'any',
  assumptions: [],
  method: '',
}).gaussian[0]!;

describe('pure noise in addition to Gaussian noise', () => {
  it.each([0.01, 0.1, 0.5, 1, 3])(
    'a pure cost of epsilon %s counts as the rho that randomised response loses at every order',
    (epsilon) => {
      const rho = toNumber(strangers.counted({ rho: rational(0), pure: fromNumber(epsilon) }, rational(1), rational(1)));
      const truthful = Math.exp(epsilon) / (1 + Math.exp(epsilon));
      for (const alpha of [1 + 1e-6, 1.5, 2, 4, 16, 64]) {
        // Renyi divergence of randomised response: the true bit with probability e^epsilon / (1 + e^epsilon).
        const sum = truthful ** alpha * (1 - truthful) ** (1 - alpha) + (1 - truthful) ** alpha * truthful ** (1 - alpha);
        expect(Math.log(sum) / (alpha - 1)).toBeLessThanOrEqual(alpha * rho * (1 + 1e-6));
      }
      const nearly = epsilon * Math.tanh(epsilon / 2);
      if (epsilon <= 0.1) expect(nearly / rho).toBeGreaterThan(0.99);
    },
  );

  it('a pure cost adds to earlier ones', () => {
    const [rho, pure] = [rational(1, 7), rational(1, 3)];
    const alone = strangers.counted({ rho: rational(0), pure }, rational(1), rational(1));
    const both = strangers.counted({ rho, pure }, rational(1), rational(1));
    expect(compare(both, { num: rho.num * alone.den + alone.num * rho.den, den: rho.den * alone.den })).toBe(0);
    expect(strangers.epsilon({ rho, pure }, rational(1, 1000))).toBeGreaterThanOrEqual(
      strangers.epsilon({ rho: both, pure: rational(0) }, rational(1, 1000)),
    );
  });
});
