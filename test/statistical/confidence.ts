/** log Gamma by Stirling's series, after shifting the argument to where five terms give full precision. */
function logGamma(x: number): number {
  let shift = 0;
  let z = x;
  for (; z < 15; z++) shift += Math.log(z);
  const w = 1 / (z * z);
  const series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / z;
  return (z - 0.5) * Math.log(z) - z + Math.log(2 * Math.PI) / 2 + series - shift;
}

/** P(Beta(a,b) <= x), by Lentz's continued fraction. */
export function betaCdf(a: number, b: number, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaCdf(b, a, 1 - x);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const tiny = 1e-300;
  const away = (v: number) => (Math.abs(v) < tiny ? tiny : v);
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let c = 1;
  let h = d;
  for (let m = 1; m < 2000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    h *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return front * h;
}

function betaQuantile(a: number, b: number, level: number): number {
  let low = 0;
  let high = 1;
  for (let k = 0; k < 100; k++) {
    const middle = (low + high) / 2;
    if (betaCdf(a, b, middle) < level) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Clopper and Pearson 1934: with `hits` of `tries`, the true probability is at least this except with probability alpha. */
export const lowerLimit = (hits: number, tries: number, alpha: number): number =>
  hits === 0 ? 0 : betaQuantile(hits, tries - hits + 1, alpha);
/** ... and at most this except with probability alpha. */
export const upperLimit = (hits: number, tries: number, alpha: number): number =>
  hits === tries ? 1 : betaQuantile(hits + 1, tries - hits, 1 - alpha);
