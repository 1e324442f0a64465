/** Fewer than there are in a degree of latitude anywhere, and, times the cosine, in one of longitude: the earth is no ball (110.574 to 111.694 km). */
const perDegree = 110.5;
const radians = Math.PI / 180;
/** What roundings of the functions below could take away, many times over. */
const outward = 1 + 1e-9;

/** By how many degrees places of latitudes up to `farthest` may differ that lie this many kilometres apart; never too few. Infinity: by any. */
export function degreesApart(km: number, farthest: number): { readonly latitude: number; readonly longitude: number } {
  const half = (km / perDegree / 2) * radians;
  // Haversine: sin^2(d/2) >= cos cos sin^2(longitude/2), and neither cosine is below that of the farthest latitude.
  const sine = half < Math.PI / 2 ? (Math.sin(half) / Math.cos(Math.min(90, farthest) * radians)) * outward : 2;
  return {
    latitude: (km / perDegree) * outward,
    longitude: sine < 1 ? ((2 * Math.asin(sine)) / radians) * outward : Number.POSITIVE_INFINITY,
  };
}
