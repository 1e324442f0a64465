import type { Figure } from '../api/shapes.ts';

/** Numbers for people: three digits that matter, thousands set apart. */
export function figure(x: Figure | null | undefined): string {
  if (typeof x === 'string') return x === 'inf' ? 'unlimited' : 'minus unlimited';
  if (x === null || x === undefined || Number.isNaN(x)) return 'unknown';
  if (x === Number.POSITIVE_INFINITY) return 'unlimited';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1000) return Math.round(x).toLocaleString('en');
  if (size < 1e-4) return size < 1e-7 ? '0' : x.toExponential(1);
  return Number(x.toPrecision(3)).toString();
}

/** Probabilities never round to certainty. */
export function percent(p: number): string {
  const hundredths = 100 * p;
  if (p > 0 && hundredths < 0.1) return '< 0.1 %';
  if (p < 1 && hundredths > 99.9) return '> 99.9 %';
  return `${hundredths >= 10 ? Math.round(hundredths) : Number(hundredths.toPrecision(2))} %`;
}

export const moment = (iso: string): string => iso.slice(0, 16).replace('T', ' ');
