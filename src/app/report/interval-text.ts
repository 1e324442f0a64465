interface Ends {
  readonly low: number | null;
  readonly high: number | null;
}

/** Interval as text: with both bounds, with one, or without any. */
export function intervalText(
  { low, high }: Ends,
  show: (x: number) => string,
  { to, none }: { readonly to: string; readonly none: string },
): string {
  if (low === null) return high === null ? none : `up to ${show(high)}`;
  return high === null ? `from ${show(low)}` : `${show(low)}${to}${show(high)}`;
}
