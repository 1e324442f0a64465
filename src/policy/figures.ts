export const percent = (x: number): string => `${Number((100 * x).toPrecision(3))} %`;
export const figure = (x: number): string => (x >= 1e6 ? x.toExponential(1) : Number(x.toPrecision(3)).toString());
/** A whole number with its thousands apart. The locale's own formatter only where it must be: loading it takes longer than a plan. */
export const thousands = (x: number): string =>
  Number.isSafeInteger(x) ? `${x}`.replace(/\B(?=(?:\d{3})+$)/g, ',') : x.toLocaleString('en-US');
