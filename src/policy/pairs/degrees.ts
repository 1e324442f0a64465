/**
 * Lower bound on kilometres per degree of latitude and, times the cosine, of longitude, since the earth is not a sphere (110.574
 * to 111.694 km).
 */
const perDegree = 110.5;
const radians = Math.PI / 180;
/** Factor that exceeds all rounding errors of the functions below many times over. */
const outward = 1 + 1e-9;

/**
 * Upper bound in degrees on the difference of two places within `km` kilometres, at latitudes up to `farthest`. Infinity: any
 * difference.
 */
export function degreesWithin(km: number, farthest: number): { readonly latitude: number; readonly longitude: number } {
  const half = (km / perDegree / 2) * radians;
  // Haversine: sin^2(d/2) >= cos cos sin^2(longitude/2), and neither cosine is below that of the farthest latitude.
  const sine = half < Math.PI / 2 ? (Math.sin(half) / Math.cos(Math.min(90, farthest) * radians)) * outward : 2;
  return {
    latitude: (km / perDegree) * outward,
    longitude: sine < 1 ? ((2 * Math.asin(sine)) / radians) * outward : Number.POSITIVE_INFINITY,
  };
}
