export const percent = (x: number): string => `${Number((100 * x).toPrecision(3))} %`;
export const figure = (x: number): string => (x >= 1e6 ? x.toExponential(1) : Number(x.toPrecision(3)).toString());
