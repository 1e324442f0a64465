/** Largest rho whose zCDP guarantee implies (epsilon, delta); Canonne, Kamath, Steinke's conversion. For reports: plain doubles. */
export function largestRho(epsilon: number, delta: number): number {
  const reached = (rho: number): number => {
    let least = Number.POSITIVE_INFINITY;
    for (let step = 1; step <= 4000; step++) {
      const alpha = 1 + 1e-3 * 1.004 ** step;
      least = Math.min(least, rho * alpha + Math.log1p(-1 / alpha) - Math.log(delta * alpha) / (alpha - 1));
    }
    return least;
  };
  let low = 0;
  let high = epsilon * 10;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (reached(middle) <= epsilon) low = middle;
    else high = middle;
  }
  return low;
}
