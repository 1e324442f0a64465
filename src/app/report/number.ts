import type { AnswerRow } from '../../query/bound.js';

/** One formatter per number of digits: making one takes a hundred times as long as using it. */
const formats = new Map<number, Intl.NumberFormat>();

/** Numbers as people read them. */
function grouped(x: number, digits: number): string {
  const format =
    formats.get(digits) ?? new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  formats.set(digits, format);
  return format.format(x);
}

/** Digits after the point that an error of this size leaves meaningful. */
export function digitsFor(error: number): number {
  if (!(error > 0) || !Number.isFinite(error)) return 0;
  return Math.min(8, Math.max(0, 1 - Math.floor(Math.log10(error))));
}

/** A value to the precision its error allows: 1,204 ± 35; 0.3412 ± 0.0071. */
export function estimateText(value: number | null, halfWidth: number | null): { value: string; error: string } {
  if (value === null) return { value: 'no answer', error: '' };
  if (halfWidth === null || !Number.isFinite(halfWidth)) return { value: briefNumber(value), error: '' };
  const digits = halfWidth >= 2 ? 0 : digitsFor(halfWidth);
  return { value: grouped(value, digits), error: `± ${grouped(halfWidth, digits)}` };
}

/** Interval; a bound that is not known is null. */
export interface Ends<End = number | null> {
  readonly low: End;
  readonly high: End;
}
export const halfWidth = ({ low, high }: Ends): number | null => (low === null || high === null ? null : (high - low) / 2);

/** Interval as text: with both bounds, with one, or without any. */
export function intervalText(
  { low, high }: Ends,
  show: (x: number) => string,
  { to, none }: { readonly to: string; readonly none: string },
): string {
  if (low === null) return high === null ? none : `up to ${show(high)}`;
  return high === null ? `from ${show(low)}` : `${show(low)}${to}${show(high)}`;
}

/** Rank error of a quantile as text: where rows lie evenly, and whatever the data. */
export const rankText = (
  { rankError = 0, evenRankError = rankError }: Partial<AnswerRow>,
  show: (x: number) => string,
): string =>
  evenRankError < rankError
    ? `within ${show(evenRankError)} ranks (any data: ${show(rankError)})`
    : `within ${show(rankError)} ranks`;

/** Bounds of an interval as shown: they were moved outwards by parts in 2^50, which turns 0 into -6e-14. */
export function shownEnds<End extends number | null>(low: End, high: End): Ends<End> {
  const least = 1e-12 * Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0));
  const shown = (end: End): End => (end !== null && Math.abs(end) < least ? (0 as End) : end);
  return { low: shown(low), high: shown(high) };
}

/** About four significant digits. */
export function briefNumber(x: number): string {
  if (Number.isNaN(x)) return '–';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
  if (Number.isInteger(x)) return grouped(x, 0);
  const size = Math.abs(x);
  if (size < 1e-4 || size >= 1e15) return x.toExponential(2);
  if (size >= 1000) return grouped(x, 0);
  return Number(x.toPrecision(4)).toLocaleString('en-US', { maximumFractionDigits: 8 });
}

/** For axes: 12k, 3.5M. */
export function tickText(x: number): string {
  const size = Math.abs(x);
  if (size >= 1e6) return `${Number((x / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((x / 1e3).toPrecision(3))}k`;
  if (size > 0 && size < 1e-3) return Number(x.toPrecision(3)).toExponential();
  return Number(x.toPrecision(6)).toLocaleString('en-US', { maximumFractionDigits: 6 });
}

export { percentText } from '../../release/accountant/belief-words.js';
