import { describe, expect, it } from 'vitest';
import {
  type Check,
  failuresOf,
  gaussianDistribution,
  type IntegerDistribution,
  laplaceDistribution,
  momentOf,
  twoSamples,
} from '../../../test/goodness-of-fit.js';
import { fromNumber, parseRational, rational, toNumber } from '../../base/exact/rational.js';
import { additiveMechanism } from '../mechanism/additive.js';
import { pure } from '../mechanism/budget-share.js';
import { Payment } from '../mechanism/payment.js';
import { everyRecord } from '../mechanism/record-class.js';
import { sensitivityOn } from '../mechanism/sensitivity.js';
import { cryptoBits, type Digits } from './bits.js';
import { gaussianNumbers, gaussianSampler, integerRoot, wideGaussian } from './discrete-gaussian.js';
import { laplaceNumbers, laplaceSampler, wideLaplace } from './discrete-laplace.js';

const many = 200_000;
const some = 40_000;
const sampleOf = (n: number, draw: () => number | bigint): number[] => Array.from({ length: n }, () => Number(draw()));

/**
 * Digits of an odd size. With four values, ties and doubtful certificates, which 32-bit digits meet once in a billion draws,
 * happen in most; with 2^51, the whole part outgrows plain numbers after two.
 */
const digitsOf = (base: number): Digits => ({ base, word: () => cryptoBits.below(base), bit: () => cryptoBits.bit() });

describe('the reference distributions', () => {
  const rows: [string, IntegerDistribution, number[]][] = [
    ['DLap(1)', laplaceDistribution(1), [0.46211716, 0.1700034, 0.06254076, 0.02300746]],
    ['DLap(2)', laplaceDistribution(2), [0.24491866, 0.14855068, 0.09010054, 0.05464874]],
    ['DGauss(1)', gaussianDistribution(1), [0.39894228, 0.24197072, 0.05399097, 0.00443185]],
    ['DGauss(4)', gaussianDistribution(4), [0.19947114, 0.17603266, 0.12098536, 0.0647588]],
  ];
  it.each(rows)('the distribution %s has the published probabilities', (_, distribution, want) => {
    for (const [k, p] of want.entries()) expect(distribution.pmf(k)).toBeCloseTo(p, 8);
  });
  it('the reference distributions have the published variances', () => {
    expect(momentOf(laplaceDistribution(1), 2)).toBeCloseTo(1.841347, 6);
    expect(momentOf(gaussianDistribution(1), 2)).toBeCloseTo(0.99999979, 8);
  });
});

describe('discrete Laplace', () => {
  it.each(['1', '2', '10/3', '10', '1/4', '1/50', '1000', '873814/262144'])(
    'the Laplace sampler of scale %s passes every check in doubles',
    (text) => {
      const scale = parseRational(text);
      expect(failuresOf(sampleOf(many, laplaceNumbers(scale).draw), laplaceDistribution(toNumber(scale)))).toEqual([]);
    },
  );
  it('the Laplace sampler passes with any double as the scale', () => {
    expect(failuresOf(sampleOf(many, laplaceNumbers(fromNumber(Math.PI)).draw), laplaceDistribution(Math.PI))).toEqual([]);
  });
  it.each(['1', '10/3', '50'])('the Laplace sampler of scale %s passes every check in big integers', (text) => {
    const scale = parseRational(text);
    expect(failuresOf(sampleOf(some, wideLaplace(scale)), laplaceDistribution(toNumber(scale)))).toEqual([]);
  });
  it.each(['1/3', '1', '10/3', '20'])('the two Laplace samplers of scale %s have the same distribution', (text) => {
    const scale = parseRational(text);
    const distribution = laplaceDistribution(toNumber(scale));
    expect(twoSamples(sampleOf(many, laplaceNumbers(scale).draw), sampleOf(some, wideLaplace(scale)), distribution)).toBe(true);
  });
  it.each([2, 4, 8, 2 ** 51])(
    'the Laplace sampler stays exact with digits of %i values, where the rare paths are common',
    (base) => {
      for (const text of ['1', '10/3', '1/4', '37']) {
        const scale = parseRational(text);
        const sample = sampleOf(some, laplaceNumbers(scale, digitsOf(base)).draw);
        expect([text, failuresOf(sample, laplaceDistribution(toNumber(scale)))]).toEqual([text, []]);
      }
    },
  );
  it('the Laplace sampler draws at scales far beyond 2^53 and far below one', () => {
    const huge = rational(10n ** 30n);
    const sample = sampleOf(20_000, laplaceSampler(huge)).map((x) => Math.round(x / 1e28));
    expect(failuresOf(sample, laplaceDistribution(100)).filter((c) => c !== 'chi-square' && c !== 'log-ratio')).toEqual([]);
    const tiny = laplaceSampler(rational(1n, 10n ** 400n));
    expect(sampleOf(1000, tiny).every((x) => x === 0)).toBe(true);
  });
  it('the Laplace sampler refuses a scale that is not positive', () => {
    expect(() => laplaceSampler(rational(0))).toThrow(RangeError);
    expect(() => wideLaplace(rational(-1))).toThrow(RangeError);
  });
});

describe('discrete Gaussian', () => {
  it.each(['1', '4', '16', '1/4', '1/50', '2/3', '100000/7', '1000000'])(
    'the Gaussian sampler of variance %s passes every check in doubles',
    (text) => {
      const variance = parseRational(text);
      expect(failuresOf(sampleOf(many, gaussianNumbers(variance).draw), gaussianDistribution(toNumber(variance)))).toEqual([]);
    },
  );
  it('the Gaussian sampler passes with any double as the variance', () => {
    expect(failuresOf(sampleOf(many, gaussianNumbers(fromNumber(Math.E)).draw), gaussianDistribution(Math.E))).toEqual([]);
  });
  it.each(['1', '1/4', '50'])('the Gaussian sampler of variance %s passes every check in big integers', (text) => {
    const variance = parseRational(text);
    expect(failuresOf(sampleOf(some, wideGaussian(variance)), gaussianDistribution(toNumber(variance)))).toEqual([]);
  });
  it.each(['1/3', '1', '7', '300'])('the two Gaussian samplers of variance %s have the same distribution', (text) => {
    const variance = parseRational(text);
    const distribution = gaussianDistribution(toNumber(variance));
    expect(twoSamples(sampleOf(many, gaussianNumbers(variance).draw), sampleOf(some, wideGaussian(variance)), distribution)).toBe(
      true,
    );
  });
  it.each([2, 4, 8, 2 ** 51])(
    'the Gaussian sampler stays exact with digits of %i values, where the rare paths are common',
    (base) => {
      for (const text of ['1', '10/3', '1/4', '90']) {
        const variance = parseRational(text);
        const sample = sampleOf(some / 2, gaussianNumbers(variance, digitsOf(base)).draw);
        expect([text, failuresOf(sample, gaussianDistribution(toNumber(variance)))]).toEqual([text, []]);
      }
    },
  );
  it('the Gaussian sampler draws at variances far beyond 2^53 and far below one', () => {
    const sample = sampleOf(20_000, gaussianSampler(rational(10n ** 60n))).map((x) => Math.round(x / 1e28));
    expect(failuresOf(sample, gaussianDistribution(10_000)).filter((c) => c !== 'chi-square' && c !== 'log-ratio')).toEqual([]);
    expect(sampleOf(1000, gaussianSampler(rational(1n, 10n ** 400n))).every((x) => x === 0)).toBe(true);
  });
  it('the integer root is exact', () => {
    for (const n of [0n, 1n, 3n, 4n, 8n, 9n, 10n ** 40n - 1n, 10n ** 40n]) {
      const r = integerRoot(n);
      expect(r * r <= n && (r + 1n) * (r + 1n) > n).toBe(true);
    }
  });
});

describe('faulty samplers that the checks detect', () => {
  const good = laplaceNumbers(rational(3)).draw as () => number;
  const distribution = laplaceDistribution(3);
  const coin = (p: number): boolean => cryptoBits.below(1_000_000) < p * 1_000_000;
  const twins: { name: string; fails: Check; draw: () => number }[] = [
    { name: 'zero with both signs', fails: 'chi-square', draw: () => (coin(0.14) && coin(0.5) ? 0 : good()) },
    { name: 'a coin that lands on minus 52 times in 100', fails: 'symmetry', draw: () => good1(0.52) },
    { name: 'a centre off by a seventh', fails: 'mean', draw: () => good() + (coin(0.15) ? 1 : 0) },
    { name: 'a scale too small by a fifteenth', fails: 'variance', draw: () => small() },
    { name: 'odd values nudged to even ones', fails: 'log-ratio', draw: () => nudge(good()) },
    { name: 'a tail cut off', fails: 'tail', draw: () => cut() },
  ];
  const small = laplaceNumbers(rational(14, 5)).draw as () => number;
  const good1 = (minus: number): number => {
    const magnitude = Math.abs(good());
    return coin(minus) ? -magnitude : magnitude;
  };
  const nudge = (x: number): number => (x % 2 !== 0 && coin(0.1) ? x + 1 : x);
  const cut = (): number => {
    for (;;) {
      const x = good();
      if (Math.abs(x) < 18) return x;
    }
  };
  it.each(twins)('the checks detect $name', ({ draw, fails }) =>
    expect(failuresOf(sampleOf(many, draw), distribution)).toContain(fails),
  );

  it('the two-sample check distinguishes samplers of different scales', () => {
    expect(twoSamples(sampleOf(many, good), sampleOf(many, small), distribution)).toBe(false);
  });

  it('the checks detect a Gaussian sampler that proposes with the wrong scale', () => {
    // The mistake seen in the wild: the Laplace step ignores its scale.
    const propose = laplaceNumbers(rational(1)).draw as () => number;
    const draw = (): number => {
      for (;;) {
        const y = propose();
        if (cryptoBits.below(2 ** 50) / 2 ** 50 < Math.exp(-((Math.abs(y) - 16 / 5) ** 2) / 32)) return y;
      }
    };
    expect(failuresOf(sampleOf(some, draw), gaussianDistribution(16))).toContain('chi-square');
  });

  it('the checks detect an exponential sampler that settles ties by chance', () => {
    // With four-valued digits the certificate must not be trusted without drawing more.
    const scale = 3;
    const lazy = (): number => {
      for (let whole = 0; ; whole++) {
        const first = cryptoBits.below(4);
        let last = first;
        let length = 1;
        for (let next = cryptoBits.below(4); next < last; next = cryptoBits.below(4), length++) last = next;
        if (length % 2 === 1) return (cryptoBits.bit() ? 1 : -1) * Math.floor(((whole * 4 + first) * scale) / 4);
      }
    };
    expect(failuresOf(sampleOf(some, lazy), distribution)).toContain('chi-square');
  });
});

describe('the precision attack', () => {
  /** True if some double of noise turns `count` into the output. */
  const couldComeFrom = (count: number, output: number): boolean => count + (output - count) === output;
  const proofsOfZero = (release: (count: number) => number): number => {
    let proofs = 0;
    for (let i = 0; i < many; i++) {
      const output = release(0);
      if (couldComeFrom(0, output) && !couldComeFrom(1, output)) proofs++;
    }
    return proofs;
  };

  it('the attack reads the count from floating-point noise in more than one output of seven', () => {
    const uniform = (): number => cryptoBits.below(2 ** 53) / 2 ** 53;
    const floating = (count: number): number => {
      const u = uniform() - 0.5;
      return count - Math.sign(u) * Math.log(1 - 2 * Math.abs(u));
    };
    // 0.39 with this test of reachability; a weaker one in the literature of this project found 0.145.
    expect(proofsOfZero(floating) / many).toBeGreaterThan(0.145);
  });

  it('the attack reads nothing from our noise: 0 of 200,000', () => {
    const count = additiveMechanism(
      { name: 'count', cells: many, sensitivity: sensitivityOn([everyRecord], { l1: 1n, l2squared: 1n }) },
      pure(rational(1)),
    );
    const outputs = count.prepare(new Payment([count]))(new Array<bigint>(many).fill(0n));
    expect(proofsOfZero(() => Number(outputs.pop()))).toBe(0);
  });

  it('every output of one count is also an output of the other', () => {
    const draw = laplaceNumbers(rational(1)).draw as () => number;
    const near = (count: number): Set<number> => new Set(sampleOf(many, () => count + draw()).filter((x) => Math.abs(x) < 5));
    expect([...near(0)].sort()).toEqual([...near(1)].sort());
  });
});
