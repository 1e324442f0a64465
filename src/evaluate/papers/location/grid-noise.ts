import { divide, multiply, type Rational, rational, subtract, toNumber } from '../../../base/exact/rational.js';
import { bernoulliExponential } from '../../../privacy/noise/bernoulli.js';
import { type Bits, cryptoBits } from '../../../privacy/noise/bits.js';
import { integerRoot } from '../../../privacy/noise/discrete-gaussian.js';
import { wideLaplace } from '../../../privacy/noise/discrete-laplace.js';
import { normIn, type Point } from './hull.js';

/**
 * Noise on the cells of an infinite grid, P(z) ~ e^(-epsilon size(z)), exactly;
 * `sizeOf` is undefined where the probability is zero (location.proof.md).
 */
export interface GridNoise {
  readonly epsilon: Rational;
  sizeOf(z: Point): Rational | undefined;
  draw(bits?: Bits): Point;
  /** Mean square of its length, to a part in a million. */
  readonly meanSquare: number;
}

/** Distribution of the planar isotropic mechanism on the grid: the norm whose unit ball is the sensitivity hull. */
export function hullNoise(hull: readonly Point[], epsilon: Rational): GridNoise {
  const sizeOf = (z: Point) => normIn(hull, z);
  if (hull.length < 2) return { epsilon, sizeOf, draw: () => [0, 0], meanSquare: 0 };
  if (hull.length === 2) {
    const [, [vx, vy]] = hull as readonly [Point, Point];
    const times = gcd(Math.abs(vx), Math.abs(vy));
    const [gx, gy] = [vx / times, vy / times];
    const scale = divide(rational(times), epsilon);
    const width = toNumber(scale);
    return {
      epsilon,
      sizeOf,
      draw: (bits = cryptoBits) => {
        const k = Number(wideLaplace(scale, bits)());
        return [k * gx, k * gy];
      },
      meanSquare: (gx ** 2 + gy ** 2) / (2 * Math.sinh(1 / (2 * width)) ** 2),
    };
  }
  // Every z in K has |x| + |y| <= reach.
  const reach = Math.max(...hull.map(([x, y]) => Math.abs(x) + Math.abs(y)));
  return inPlane(epsilon, (z) => sizeOf(z)!, rational(1, reach));
}

const finer = 1n << 20n;

/**
 * Geo-indistinguishability for the Euclidean distance, rounded up to 2^-20 of a cell. Rounding adds less than 2^-20
 * to differences of distances, and different cells are at least 1 from each other: epsilon is lowered by that factor.
 */
export function distanceNoise(epsilon: Rational): GridNoise {
  const lowered = divide(epsilon, rational(finer + 1n, finer));
  const sizeOf = ([x, y]: Point): Rational => {
    const square = BigInt(x * x + y * y) * finer * finer;
    const root = integerRoot(square);
    return rational(root * root === square ? root : root + 1n, finer);
  };
  // |z| >= 0.707 (|x| + |y|), as 0.707 is below the root of a half.
  return inPlane(lowered, sizeOf, rational(707, 1000));
}

/** From two discrete Laplace variables, kept with the probability that is missing: `size(z) >= slope (|x| + |y|)`. */
function inPlane(epsilon: Rational, sizeOf: (z: Point) => Rational, slope: Rational): GridNoise {
  const scale = divide(rational(1), multiply(epsilon, slope));
  return {
    epsilon,
    sizeOf,
    draw: (bits = cryptoBits) => {
      const draw = wideLaplace(scale, bits);
      for (;;) {
        const z: Point = [Number(draw()), Number(draw())];
        const envelope = multiply(slope, rational(Math.abs(z[0]) + Math.abs(z[1])));
        if (bernoulliExponential(multiply(epsilon, subtract(sizeOf(z), envelope)), bits)) return z;
      }
    },
    get meanSquare() {
      return meanSquareOf(toNumber(epsilon), sizeOf, toNumber(scale));
    },
  };
}

/** Over the cells that hold all but e^-25 of the envelope; with strides if the distribution is wide and smooth. */
function meanSquareOf(epsilon: number, sizeOf: (z: Point) => Rational, scale: number): number {
  const far = Math.ceil(25 * scale);
  const stride = Math.max(1, Math.floor(scale / 12));
  let [mass, sum] = [0, 0];
  for (let x = 0; x <= far; x += stride)
    for (let y = -far; y <= far; y += stride) {
      if (Math.abs(x) + Math.abs(y) > far) continue;
      // The distribution is symmetric: each cell also stands for its opposite.
      const weight = (x === 0 ? 1 : 2) * Math.exp(-epsilon * toNumber(sizeOf([x, y])));
      mass += weight;
      sum += weight * (x * x + y * y);
    }
  return sum / mass;
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
