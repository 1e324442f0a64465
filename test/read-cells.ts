import { isoDay } from '../src/policy/date-text.js';

/** A number column as declared, with its steps and bounds: written again without the product's grid. */
export interface DeclaredNumber {
  readonly name: string;
  readonly yaml: string;
  readonly whole: boolean;
  readonly low: number;
  readonly step: number;
  readonly last: number;
  readonly text: (x: number) => string;
}

const point = (x: number): string => `${x}`;
export const comma = (x: number): string => `"${`${x}`.replace('.', ',')}"`;
const numbers = (type: 'number' | 'integer', low: number, step: number, last: number): DeclaredNumber => {
  const high = Number((low + step * last).toPrecision(12));
  const yaml = `{type: ${type}, bounds: [${low}, ${high}], step: ${step}, missing: [-7777]}`;
  return { name: `${type} ${low} ${step}`, yaml, whole: type === 'integer' && step === 1, low, step, last, text: point };
};

/** Every type, steps that doubles hold and steps that they do not, beginnings on and off the multiples of the step. */
export const declaredNumbers: readonly DeclaredNumber[] = [
  numbers('integer', 0, 1, 9),
  numbers('integer', -3, 1, 8),
  numbers('integer', 0, 7, 6),
  numbers('integer', 0, 1000, 6),
  numbers('number', 0, 1, 6),
  numbers('number', 0, 0.5, 8),
  numbers('number', -0.5, 0.5, 6),
  numbers('number', 0.2, 0.1, 7),
  numbers('number', -1, 0.1, 9),
  numbers('number', 3, 7, 5),
  numbers('number', 0, 1000, 6),
];

/** A day is a whole number of days. */
export const days: DeclaredNumber = {
  name: 'date',
  yaml: '{type: date, bounds: [2024-02-26, 2024-03-04]}',
  whole: true,
  low: 19_779,
  step: 1,
  last: 7,
  text: isoDay,
};

const view = new DataView(new ArrayBuffer(8));
/** The double next to x. */
function nextDouble(x: number, up: boolean): number {
  if (x === 0) return up ? Number.MIN_VALUE : -Number.MIN_VALUE;
  view.setFloat64(0, x);
  view.setBigInt64(0, view.getBigInt64(0) + (x > 0 === up ? 1n : -1n));
  return view.getFloat64(0);
}

/** Steps, midpoints, their neighbouring doubles, and values beyond the bounds. */
export function edgeCells({ low, step, last, text }: DeclaredNumber): readonly number[] {
  if (text === isoDay) return Array.from({ length: last + 5 }, (_, k) => low - 2 + k);
  const halves = Array.from({ length: 2 * last + 5 }, (_, k) => Number((low + (step * (k - 2)) / 2).toPrecision(12)));
  const off = Array.from({ length: last }, (_, k) => low + step * (k + 0.3));
  return [...new Set([...halves.flatMap((x) => [nextDouble(x, false), x, nextDouble(x, true)]), ...off, -1e30, 1e30])];
}

/** Value of a cell: the nearest step in doubles, halves to even, clamped to the bounds. */
export function readValue({ low, step, last }: DeclaredNumber, x: number): number {
  if (x === -7777 || !Number.isFinite(x)) return -1;
  const high = Number((low + step * last).toPrecision(12));
  if (x < low) return 0;
  if (x >= high) return last;
  const y = (x - low) * (1 / step);
  return Math.abs(y - Math.trunc(y)) === 0.5 ? 2 * Math.round(y / 2) : Math.round(y);
}

/** Value of a cell of a public integer column: as above, but not clamped to the upper bound. */
export function readPublicValue(of: DeclaredNumber, x: number): number {
  const beyond = 1e6;
  return Math.abs(x) > beyond
    ? x > 0 && Number.isFinite(x)
      ? 2 ** 40
      : readValue(of, x)
    : readValue({ ...of, last: beyond }, x);
}
