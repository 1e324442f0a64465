/** P(X > x) of a chi-square variable: the upper part of the incomplete gamma function, by its series or its continued fraction. */
export function chiSquareTail(freedom: number, x: number): number {
  if (!(x > 0)) return 1;
  const [a, t] = [freedom / 2, x / 2];
  const scale = Math.exp(a * Math.log(t) - t - logGamma(a));
  if (t < a + 1) {
    let [term, sum] = [1 / a, 1 / a];
    for (let k = 1; k < 1000 && term > sum * 1e-16; k++) {
      term *= t / (a + k);
      sum += term;
    }
    return Math.max(0, 1 - scale * sum);
  }
  let b = t + 1 - a;
  let [c, d] = [1e300, 1 / b];
  let fraction = d;
  for (let k = 1; k < 1000; k++) {
    const next = -k * (k - a);
    b += 2;
    d = 1 / (next * d + b);
    c = b + next / c;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return Math.min(1, scale * fraction);
}

/** P(|Z| > z) of a normal variable. */
export const normalTails = (z: number): number => chiSquareTail(1, z * z);

/** Stirling's series, shifted to where it is exact in doubles. */
function logGamma(x: number): number {
  let [y, less] = [x, 0];
  for (; y < 12; y++) less += Math.log(y);
  const s = 1 / (y * y);
  const series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / y;
  return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + series - less;
}
