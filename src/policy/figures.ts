type Rounding = (x: number) => number;

/** Number with three digits; a limit is rounded away from what it limits (Math.ceil, Math.floor). */
function threeDigits(x: number, round: Rounding): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const unit = 10 ** (2 - Math.floor(Math.log10(Math.abs(x))));
  const whole = Math.round(x * unit);
  return Number(((Math.abs(x * unit - whole) < 1e-6 ? whole : round(x * unit)) / unit).toPrecision(3));
}
export const percentFigure = (x: number, round: Rounding = Math.round): string => `${threeDigits(100 * x, round)} %`;
export const figureText = (x: number): string => (x >= 1e6 ? x.toExponential(1) : `${threeDigits(x, Math.round)}`);
/** A number that something is at most. */
export const upperFigure = (x: number): string => (x >= 1e6 ? x.toExponential(1) : `${threeDigits(x, Math.ceil)}`);
/**
 * Whole number with thousands separators. Loads the locale's formatter only for unsafe integers, because that takes longer than a
 * plan.
 */
export const thousands = (x: number): string =>
  Number.isSafeInteger(x) ? `${x}`.replace(/\B(?=(?:\d{3})+$)/g, ',') : x.toLocaleString('en-US');
