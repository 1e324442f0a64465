/**
 * Log density of Laplace noise (scale b) plus a Gaussian (variance v), for an attacker who knows the rest
 * by mean and variance only. It changes by at most |step|/b: it is a mixture of shifted Laplace densities.
 */
export function logSmoothedLaplace(z: number, scale: number, variance: number): number {
  const distance = Math.abs(z);
  if (!(variance > 0)) return -distance / scale - Math.log(2 * scale);
  const sigma = Math.sqrt(variance);
  const a = (sigma / scale - distance / sigma) * Math.SQRT1_2;
  const c = (sigma / scale + distance / sigma) * Math.SQRT1_2;
  const head = -Math.log(4 * scale);
  const gauss = -(distance * distance) / (2 * variance);
  if (a >= 0) return head + gauss + Math.log(scaledErfc(a) + scaledErfc(c));
  // erfc(a) is between 1 and 2 here, and the second term is at most the first.
  const first = variance / (2 * scale * scale) - distance / scale + Math.log(2 - Math.exp(-a * a) * scaledErfc(-a));
  return head + first + Math.log1p(Math.exp(gauss - first) * scaledErfc(c));
}

/** e^(x^2) erfc(x) for x >= 0, by the rational approximations of Cody 1969, good to about 1e-15 (coefficients as doubles). */
export function scaledErfc(x: number): number {
  if (x <= 0.46875) {
    const y = x * x;
    let top = 0.18577770618460315 * y;
    let bottom = y;
    for (let k = 0; k < 3; k++) {
      top = (top + nearTop[k]!) * y;
      bottom = (bottom + nearBottom[k]!) * y;
    }
    return Math.exp(y) * (1 - (x * (top + nearTop[3]!)) / (bottom + nearBottom[3]!));
  }
  if (x <= 4) {
    let top = 2.1531153547440383e-8 * x;
    let bottom = x;
    for (let k = 0; k < 7; k++) {
      top = (top + middleTop[k]!) * x;
      bottom = (bottom + middleBottom[k]!) * x;
    }
    return (top + middleTop[7]!) / (bottom + middleBottom[7]!);
  }
  const y = 1 / (x * x);
  let top = 0.016315387137302097 * y;
  let bottom = y;
  for (let k = 0; k < 4; k++) {
    top = (top + farTop[k]!) * y;
    bottom = (bottom + farBottom[k]!) * y;
  }
  return (0.5641895835477563 - (y * (top + farTop[4]!)) / (bottom + farBottom[4]!)) / x;
}

const nearTop = [3.1611237438705655, 113.86415415105016, 377.485237685302, 3209.3775891384694];
const nearBottom = [23.601290952344122, 244.02463793444417, 1282.6165260773723, 2844.236833439171];
const middleTop = [
  0.5641884969886701, 8.883149794388377, 66.11919063714163, 298.6351381974001, 881.952221241769, 1712.0476126340707,
  2051.0783778260716, 1230.3393547979972,
];
const middleBottom = [
  15.744926110709835, 117.6939508913125, 537.1811018620099, 1621.3895745666903, 3290.7992357334597, 4362.619090143247,
  3439.3676741437216, 1230.3393548037495,
];
const farTop = [0.30532663496123236, 0.36034489994980445, 0.12578172611122926, 0.016083785148742275, 0.0006587491615298378];
const farBottom = [2.568520192289822, 1.8729528499234673, 0.5279051029514285, 0.06051834131244132, 0.0023352049762686918];
