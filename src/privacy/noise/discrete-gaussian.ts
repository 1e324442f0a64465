import { type Rational, rational, toNumber } from '../../base/exact/rational.js';
import { bernoulliExponential } from './bernoulli.js';
import { type Bits, cryptoBits, type Digits } from './bits.js';
import { geometricNumbers, type NumberSampler, wideLaplace } from './discrete-laplace.js';
import { survives } from './unit-exponential.js';

/**
 * Discrete Gaussian by exact rejection from a discrete Laplace (discrete-gaussian.proof.md): `wideGaussian` with the constant of
 * Canonne et al. 2020, `gaussianNumbers` with one that keeps numbers small.
 */

function requirePositive(variance: Rational): void {
  if (variance.num <= 0n) throw new RangeError('the variance of noise must be positive');
}

/** floor(sqrt(n)) by Newton's iteration from above. */
export function integerRoot(n: bigint): bigint {
  if (n < 2n) return n;
  let x = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const y = (x + n / x) >> 1n;
    if (y >= x) return x;
    x = y;
  }
}

/** The BigInt sampler. */
export function wideGaussian(variance: Rational, bits: Bits = cryptoBits): () => bigint {
  requirePositive(variance);
  const { num: n, den: d } = variance;
  const t = integerRoot(n / d) + 1n;
  const candidate = wideLaplace(rational(t), bits);
  return () => {
    for (;;) {
      const y = candidate();
      const distance = (y < 0n ? -y : y) * t * d - n;
      if (bernoulliExponential(rational(distance * distance, 2n * n * d * t * t), bits)) return y;
    }
  };
}

/** Any c > 0 is correct; near sigma it is quickest. An integer, or a power of two below one, so that |y| - c is exact in doubles. */
function centreNear(variance: Rational): Rational {
  const { num: n, den: d } = variance;
  if (n >= d) return rational((integerRoot((4n * n) / d) + 1n) / 2n);
  const halvings = BigInt((d.toString(2).length - n.toString(2).length) >> 1);
  return rational(1n, 1n << halvings);
}

/** Above the relative error of two multiplications of doubles by a rational's double (proof note, lemma 2). */
const above = 1 + 2 ** -48;
const below = 1 - 2 ** -48;
const unit: Rational = { num: 1n, den: 1n };
const exactlyOne = (): Rational => unit;

/** The plain-number sampler. */
export function gaussianNumbers(variance: Rational, source: Digits = cryptoBits): NumberSampler {
  requirePositive(variance);
  const centre = centreNear(variance);
  const magnitude = geometricNumbers(rational(variance.num * centre.den, variance.den * centre.num), source);
  const rate = rational(variance.den, 2n * variance.num);
  const centreNumber = toNumber(centre);
  const rateNumber = toNumber(rate);
  /** Below this, |y| - c is an exact double. */
  const roofOfWhole = centre.num < 1n << 52n ? 2 ** 52 : 0;
  const roof = centre.den === 1n ? roofOfWhole : 2 ** 52 * centreNumber;
  const isTame = rateNumber > 2 ** -900 && rateNumber < 2 ** 900 && centreNumber > 2 ** -40;

  /** (|y| - c)^2 / (2 variance), exactly. */
  const exponentOf = (y: number | bigint): Rational => {
    const distance = BigInt(y) * centre.den - centre.num;
    return rational(distance * distance * rate.num, centre.den * centre.den * rate.den);
  };
  let candidate: number | bigint = 0;
  const exactFraction = (): Rational => {
    const { num, den } = exponentOf(candidate);
    return { num: num % den, den };
  };

  /** Kept with probability e^-x, x the exponent: one survival for each whole unit of x and one for the rest. */
  const isKept = (y: number | bigint): boolean => {
    candidate = y;
    if (isTame && typeof y === 'number' && y < roof) {
      const distance = y - centreNumber;
      const x = distance * distance * rateNumber;
      const whole = Math.floor(x);
      const low = x * below;
      const high = x * above;
      if (low >= whole && high < whole + 1) {
        for (let i = 0; i < whole; i++) if (!survives(1, 1, exactlyOne, source)) return false;
        return survives(low - whole, high - whole, exactFraction, source);
      }
    }
    const { num, den } = exponentOf(y);
    for (let i = num / den; i > 0n; i--) if (!survives(1, 1, exactlyOne, source)) return false;
    return survives(0, 1, exactFraction, source);
  };

  return {
    draw: () => {
      for (;;) {
        const g = magnitude();
        const negative = source.bit() === 1;
        if (negative && (g === 0 || g === 0n)) continue;
        if (isKept(g)) return negative ? -g : g;
      }
    },
  };
}

/** The sampler a release uses. */
export function gaussianSampler(variance: Rational, source: Digits = cryptoBits): () => bigint {
  const { draw } = gaussianNumbers(variance, source);
  return () => BigInt(draw());
}
