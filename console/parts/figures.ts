import type { Figure } from '../api/shapes.ts';

/** Numbers for people: three significant digits, thousands separated. */
export function formatNumber(x: Figure | null | undefined): string {
  if (typeof x === 'string') return x === 'inf' ? 'unlimited' : 'minus unlimited';
  if (x === null || x === undefined || Number.isNaN(x)) return 'unknown';
  if (x === Number.POSITIVE_INFINITY) return 'unlimited';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1000) return Math.round(x).toLocaleString('en');
  if (size < 1e-4) return size < 1e-7 ? '0' : x.toExponential(1);
  return Number(x.toPrecision(3)).toString();
}

/** Date of a number in a date column. */
export const formatDay = (x: number): string => new Date(86_400_000 * Math.floor(x)).toISOString().slice(0, 10);

/** Probabilities never round to certainty. */
export function formatPercent(p: number, digits = 0): string {
  const hundredths = 100 * p;
  if (p > 0 && hundredths < 0.1) return '< 0.1 %';
  if (p < 1 && hundredths > 99.9) return '> 99.9 %';
  return `${hundredths >= 10 ? Number(hundredths.toFixed(digits)) : Number(hundredths.toPrecision(2 + digits))} %`;
}

/** A limit is never rounded down. */
export const percentAtMost = (p: number): string => formatPercent(Math.min(1, Math.ceil(1000 * p - 1e-9) / 1000), 1);

export const formatMoment = (iso: string): string => iso.slice(0, 16).replace('T', ' ');
