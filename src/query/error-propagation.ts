import { toNumber } from '../base/exact/rational.js';
import { noiseSpread, type ScaledNoise, sumOfNumbers } from '../privacy/mechanism/noise-sum.js';
import { farthest } from '../privacy/mechanism/quotient.js';
import { additiveNoise, distributionsOf, type LinearTerm } from './answer.js';
import type { NoisyMeasure } from './bound.js';

/** Partial derivative of a number with respect to each noisy integer, by measure and cell. */
type Slopes = ReadonlyMap<string, number>;

/** Number calculated from noisy ones, with its derivatives (error-propagation.proof.md). */
export interface CalculatedNumber {
  readonly value: number;
  readonly slopes: Slopes;
  /** The slopes are the same whatever the noise is. */
  readonly linear: boolean;
  /** A quotient of two that are linear. */
  readonly over?: { readonly top: CalculatedNumber; readonly bottom: CalculatedNumber };
}

const constantNumber = (value: number): CalculatedNumber => ({ value, slopes: new Map(), linear: true });
const asCalculated = (x: CalculatedNumber | number): CalculatedNumber => (typeof x === 'number' ? constantNumber(x) : x);

export function sumOfTerms(terms: readonly LinearTerm[], noisy: readonly NoisyMeasure[], i: number): CalculatedNumber {
  let value = 0;
  const slopes = new Map<string, number>();
  for (const { measure, factor, cells } of terms) {
    const found = noisy[measure];
    if (!found || !('values' in found)) throw new RangeError(`measure ${measure} has no counts`);
    const by = toNumber(factor);
    for (const cell of cells(i)) {
      value += by * Number(found.values[cell]!);
      const key = `${measure} ${cell}`;
      slopes.set(key, (slopes.get(key) ?? 0) + by);
    }
  }
  return { value, slopes, linear: true };
}

function combineSlopes(a: Slopes, x: number, b: Slopes, y: number): Slopes {
  const out = new Map<string, number>();
  for (const [key, slope] of a) out.set(key, x * slope);
  for (const [key, slope] of b) out.set(key, (out.get(key) ?? 0) + y * slope);
  return out;
}
const isConstant = ({ slopes }: CalculatedNumber): boolean => slopes.size === 0;

export function calculate(
  op: '+' | '-' | '*' | '/' | 'root',
  left: CalculatedNumber | number,
  right: CalculatedNumber | number = 0,
): CalculatedNumber {
  const [a, b] = [asCalculated(left), asCalculated(right)];
  if (op === 'root') {
    const value = Math.sqrt(Math.max(0, a.value));
    return { value, slopes: combineSlopes(a.slopes, 1 / (2 * value), new Map(), 0), linear: false };
  }
  if (op === '+' || op === '-') {
    const sign = op === '+' ? 1 : -1;
    const sum = {
      value: a.value + sign * b.value,
      slopes: combineSlopes(a.slopes, 1, b.slopes, sign),
      linear: a.linear && b.linear,
    };
    if (a.over && isConstant(b)) return { ...sum, over: plusConstant(a.over, sign * b.value) };
    if (b.over && isConstant(a)) return { ...sum, over: plusConstant(times(b.over, sign), a.value) };
    return sum;
  }
  if (op === '*') {
    const made = { value: a.value * b.value, slopes: combineSlopes(a.slopes, b.value, b.slopes, a.value), linear: false };
    if (isConstant(b)) return { ...made, linear: a.linear, ...(a.over && { over: times(a.over, b.value) }) };
    if (isConstant(a)) return { ...made, linear: b.linear, ...(b.over && { over: times(b.over, a.value) }) };
    return made;
  }
  if (isConstant(b)) return calculate('*', a, 1 / b.value);
  const value = a.value / b.value;
  const made = { value, slopes: combineSlopes(a.slopes, 1 / b.value, b.slopes, -value / b.value), linear: false };
  if (a.linear && b.linear) return { ...made, over: { top: a, bottom: b } };
  // A quotient of quotients with the same denominator, as a percentage of a share.
  if (a.over && b.over && sameSlopes(a.over.bottom, b.over.bottom))
    return { ...made, over: { top: a.over.top, bottom: b.over.top } };
  return made;
}

type Over = NonNullable<CalculatedNumber['over']>;
const times = ({ top, bottom }: Over, by: number): Over => ({ top: calculate('*', top, by), bottom });
const plusConstant = ({ top, bottom }: Over, by: number): Over => ({
  top: calculate('+', top, calculate('*', bottom, by)),
  bottom,
});
const sameSlopes = (a: CalculatedNumber, b: CalculatedNumber): boolean =>
  a.value === b.value && a.slopes.size === b.slopes.size && [...a.slopes].every(([key, slope]) => b.slopes.get(key) === slope);

export interface IntervalEstimate {
  readonly value: number | null;
  readonly standardError: number | null;
  readonly half?: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** Error and interval: of a sum from the noise distribution, of a quotient all values the noise leaves possible, else by the delta method. */
export function intervalEstimate(calculated: CalculatedNumber, noisy: readonly NoisyMeasure[], alpha: number): IntervalEstimate {
  const { value, slopes, over } = calculated;
  if (!Number.isFinite(value) || [...slopes.values()].some((slope) => !Number.isFinite(slope)))
    return { value: null, standardError: null, low: null, high: null };
  const distributions = distributionsOf(noisy);
  const partAt = (key: string, slope: number): ScaledNoise => ({ factor: Math.abs(slope), noise: noiseAt(distributions, key) });
  const { deviation: standardError, half: halfOf } = noiseSpread([...slopes].map(([key, slope]) => partAt(key, slope)));
  if (!over) {
    const half = halfOf(alpha);
    return { value, standardError, half, low: value - half, high: value + half };
  }
  const { top, bottom } = over;
  const sign = bottom.value < 0 ? -1 : 1;
  const { noises, factors } = groupByFactors(top.slopes, bottom.slopes, distributions);
  const sum = sumOfNumbers(noises, alpha);
  const beyond = (r: number): number =>
    sum.beyond(
      factors.map(([t, b]) => t - r * b),
      Math.abs(value - r) * sign * bottom.value,
    );
  const end = (towards: number): number | null => {
    let step = Math.max(standardError, Math.abs(value) * 1e-12, Number.MIN_VALUE);
    for (let k = 0; k < 200; k++, step *= 2) {
      const limit = value + towards * step;
      if (!Number.isFinite(limit)) return null;
      if (beyond(limit) > 0) return farthest(value, limit, beyond);
    }
    return null;
  };
  return { value, standardError, low: end(-1), high: end(1) };
}

const noiseAt = (distributions: ReturnType<typeof distributionsOf>, key: string) =>
  additiveNoise(distributions, Number(key.split(' ')[0]));

/** Noisy integers of one measure with the same factors are merged into one number. */
function groupByFactors(
  top: Slopes,
  bottom: Slopes,
  distributions: ReturnType<typeof distributionsOf>,
): { readonly noises: readonly (readonly ScaledNoise[])[]; readonly factors: readonly (readonly [number, number])[] } {
  const groups = new Map<string, { readonly parts: ScaledNoise[]; readonly factor: readonly [number, number] }>();
  for (const key of new Set([...top.keys(), ...bottom.keys()])) {
    const [measure] = key.split(' ');
    const factor = [top.get(key) ?? 0, bottom.get(key) ?? 0] as const;
    const text = `${measure} ${factor.join(' ')}`;
    const group = groups.get(text) ?? { parts: [], factor };
    group.parts.push({ factor: 1, noise: noiseAt(distributions, key) });
    groups.set(text, group);
  }
  return { noises: [...groups.values()].map(({ parts }) => parts), factors: [...groups.values()].map(({ factor }) => factor) };
}
