import { toNumber } from '../base/exact/rational.js';
import { type Part, spreadOf, sumOfNumbers } from '../privacy/mechanism/law-sum.js';
import { farthest } from '../privacy/mechanism/ratio.js';
import { additive, lawsOf, type Term } from './answer.js';
import type { NoisyMeasure } from './bound.js';

/** Partial derivative of a number with respect to each noisy integer, by measure and cell. */
type Slopes = ReadonlyMap<string, number>;

/** Number calculated from noisy ones, with its derivatives (error-propagation.proof.md). */
export interface Calculated {
  readonly value: number;
  readonly slopes: Slopes;
  /** The slopes are the same whatever the noise is. */
  readonly linear: boolean;
  /** A quotient of two that are linear. */
  readonly over?: { readonly top: Calculated; readonly bottom: Calculated };
}

const fixed = (value: number): Calculated => ({ value, slopes: new Map(), linear: true });
const asCalculated = (x: Calculated | number): Calculated => (typeof x === 'number' ? fixed(x) : x);

export function numberFrom(terms: readonly Term[], noisy: readonly NoisyMeasure[], i: number): Calculated {
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

function mixed(a: Slopes, x: number, b: Slopes, y: number): Slopes {
  const out = new Map<string, number>();
  for (const [key, slope] of a) out.set(key, x * slope);
  for (const [key, slope] of b) out.set(key, (out.get(key) ?? 0) + y * slope);
  return out;
}
const isFixed = ({ slopes }: Calculated): boolean => slopes.size === 0;

export function calculate(
  op: '+' | '-' | '*' | '/' | 'root',
  left: Calculated | number,
  right: Calculated | number = 0,
): Calculated {
  const [a, b] = [asCalculated(left), asCalculated(right)];
  if (op === 'root') {
    const value = Math.sqrt(Math.max(0, a.value));
    return { value, slopes: mixed(a.slopes, 1 / (2 * value), new Map(), 0), linear: false };
  }
  if (op === '+' || op === '-') {
    const sign = op === '+' ? 1 : -1;
    const sum = { value: a.value + sign * b.value, slopes: mixed(a.slopes, 1, b.slopes, sign), linear: a.linear && b.linear };
    if (a.over && isFixed(b)) return { ...sum, over: raised(a.over, sign * b.value) };
    if (b.over && isFixed(a)) return { ...sum, over: raised(times(b.over, sign), a.value) };
    return sum;
  }
  if (op === '*') {
    const made = { value: a.value * b.value, slopes: mixed(a.slopes, b.value, b.slopes, a.value), linear: false };
    if (isFixed(b)) return { ...made, linear: a.linear, ...(a.over && { over: times(a.over, b.value) }) };
    if (isFixed(a)) return { ...made, linear: b.linear, ...(b.over && { over: times(b.over, a.value) }) };
    return made;
  }
  if (isFixed(b)) return calculate('*', a, 1 / b.value);
  const value = a.value / b.value;
  const made = { value, slopes: mixed(a.slopes, 1 / b.value, b.slopes, -value / b.value), linear: false };
  if (a.linear && b.linear) return { ...made, over: { top: a, bottom: b } };
  // A quotient of quotients with the same denominator, as a percentage of a share.
  if (a.over && b.over && sameSlopes(a.over.bottom, b.over.bottom))
    return { ...made, over: { top: a.over.top, bottom: b.over.top } };
  return made;
}

type Over = NonNullable<Calculated['over']>;
const times = ({ top, bottom }: Over, by: number): Over => ({ top: calculate('*', top, by), bottom });
const raised = ({ top, bottom }: Over, by: number): Over => ({ top: calculate('+', top, calculate('*', bottom, by)), bottom });
const sameSlopes = (a: Calculated, b: Calculated): boolean =>
  a.value === b.value && a.slopes.size === b.slopes.size && [...a.slopes].every(([key, slope]) => b.slopes.get(key) === slope);

export interface Told {
  readonly value: number | null;
  readonly standardError: number | null;
  readonly half?: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** Error and interval: of a sum from the noise distribution, of a quotient all values the noise leaves possible, else by the delta method. */
export function errorOf(calculated: Calculated, noisy: readonly NoisyMeasure[], alpha: number): Told {
  const { value, slopes, over } = calculated;
  if (!Number.isFinite(value) || [...slopes.values()].some((slope) => !Number.isFinite(slope)))
    return { value: null, standardError: null, low: null, high: null };
  const laws = lawsOf(noisy);
  const partAt = (key: string, slope: number): Part => ({ factor: Math.abs(slope), noise: noiseAt(laws, key) });
  const { deviation: standardError, half: halfOf } = spreadOf([...slopes].map(([key, slope]) => partAt(key, slope)));
  if (!over) {
    const half = halfOf(alpha);
    return { value, standardError, half, low: value - half, high: value + half };
  }
  const { top, bottom } = over;
  const sign = bottom.value < 0 ? -1 : 1;
  const { noises, factors } = alike(top.slopes, bottom.slopes, laws);
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

const noiseAt = (laws: ReturnType<typeof lawsOf>, key: string) => additive(laws, Number(key.split(' ')[0]));

/** Noisy integers of one measure with the same factors are merged into one number. */
function alike(
  top: Slopes,
  bottom: Slopes,
  laws: ReturnType<typeof lawsOf>,
): { readonly noises: readonly (readonly Part[])[]; readonly factors: readonly (readonly [number, number])[] } {
  const groups = new Map<string, { readonly parts: Part[]; readonly factor: readonly [number, number] }>();
  for (const key of new Set([...top.keys(), ...bottom.keys()])) {
    const [measure] = key.split(' ');
    const factor = [top.get(key) ?? 0, bottom.get(key) ?? 0] as const;
    const text = `${measure} ${factor.join(' ')}`;
    const group = groups.get(text) ?? { parts: [], factor };
    group.parts.push({ factor: 1, noise: noiseAt(laws, key) });
    groups.set(text, group);
  }
  return { noises: [...groups.values()].map(({ parts }) => parts), factors: [...groups.values()].map(({ factor }) => factor) };
}
