import { addUp, divUp, expUp, logDown, logUp, mulUp, subUp } from '../../../base/exact/outward.js';
import { nextUp } from '../../../base/exact/rational.js';
import type { FriendshipModel } from './friendship-model.js';
import { type TieRow, upward } from './tie.js';

/** Public disc in which a person is known to be: within `radius` of a point. The exact place is secret. */
export interface PublicPlace {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

export interface DistanceMetric {
  /** Distance of two points in the unit of the model, with relative error at most 1e-12. */
  readonly distance: (a: PublicPlace, b: PublicPlace) => number;
  /** Flat geometry, in which the quadratic bound holds too. */
  readonly flat: boolean;
  /** Spatial index: cell of a point for cells of this size (in the unit of the model), and cells that may hold points within `reach`. */
  readonly cell: (p: PublicPlace, size: number) => readonly [number, number];
  readonly neighbours: (p: PublicPlace, size: number) => Iterable<readonly [number, number]>;
}

/** Error bound of a computed distance: a relative part, and an absolute amount in the unit of the model. */
const [part, amount] = [1e-12, 1e-9];
/**
 * Log odds ratio of the factor f(u,v) = (|u-v| + b)^-c over two discs: the smaller of the range bound and, on flat ground, the
 * curvature bound (distance.proof.md).
 */
export function distanceLogOdds(
  distance: number,
  [ri, rj]: readonly [number, number],
  { b, c }: FriendshipModel,
  flat: boolean,
): number {
  const radii = addUp(ri, rj);
  const far = addUp(distance * (1 + part) + amount, radii);
  const near = Math.max(0, distance * (1 - part) - amount - nextUp(radii));
  const range = mulUp(2 * c, subUp(logUp(addUp(far, b)), logDown(near + b)));
  if (!flat || near === 0) return range;
  const curved = divUp(mulUp(mulUp(4 * c, ri), rj), near * (near + b) * (1 - part));
  return Math.min(range, nextUp(curved));
}

export interface DistanceTieRule {
  readonly model: FriendshipModel;
  readonly metric: DistanceMetric;
  /** Least odds ratio of a tie; weaker pairs are left out and so declared independent. */
  readonly least: number;
}

/** Ties between all people near enough. A spatial index avoids a scan of all pairs. */
export function distanceTies(places: readonly PublicPlace[], options: DistanceTieRule): TieRow[] {
  const { metric } = options;
  const size = maxTieDistance(places, options);
  const cells = new Map<string, number[]>();
  places.forEach((p, i) => {
    const key = metric.cell(p, size).join();
    const list = cells.get(key);
    if (list) list.push(i);
    else cells.set(key, [i]);
  });
  const ties: TieRow[] = [];
  places.forEach((p, i) => {
    for (const cell of metric.neighbours(p, size))
      for (const j of cells.get(cell.join()) ?? []) {
        const tie = j > i ? tieByDistance(p, places[j]!, options) : undefined;
        if (tie) ties.push(tie);
      }
  });
  return ties;
}

/** Undefined if the tie is weaker than `least`. */
export function tieByDistance(a: PublicPlace, b: PublicPlace, { model, metric, least }: DistanceTieRule): TieRow | undefined {
  const logOdds = distanceLogOdds(metric.distance(a, b), [a.radius, b.radius], model, metric.flat);
  return logOdds < Math.log(least) ? undefined : { a: a.id, b: b.id, oddsRatio: upward(expUp(logOdds), 5) };
}

/** Distance beyond which no two places have a tie; the bound falls with distance, so bisection finds it. */
function maxTieDistance(places: readonly PublicPlace[], { model, metric, least }: DistanceTieRule): number {
  const widest = places.reduce((m, p) => Math.max(m, p.radius), 0);
  const counts = (d: number) => distanceLogOdds(d, [widest, widest], model, metric.flat) >= Math.log(least);
  let high = Math.max(1e-6, widest);
  while (counts(high) && high < 1e9) high *= 2;
  let low = 0;
  for (let k = 0; k < 60; k++) {
    const middle = (low + high) / 2;
    if (counts(middle)) low = middle;
    else high = middle;
  }
  return Math.max(high, 1e-9);
}

/** Plane coordinates; `unit` is one of them in the unit of the model. */
export const planeMetric = (unit: number): DistanceMetric => ({
  flat: true,
  distance: (a, b) => unit * Math.hypot(a.x - b.x, a.y - b.y),
  cell: (p, size) => [Math.floor((unit * p.x) / size), Math.floor((unit * p.y) / size)],
  neighbours: function* (p, size) {
    const [cx, cy] = [Math.floor((unit * p.x) / size), Math.floor((unit * p.y) / size)];
    for (let dx = -1; dx <= 1; dx++) for (let dy = -1; dy <= 1; dy++) yield [cx + dx, cy + dy];
  },
});

const earthMiles = 3958.8;
const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** Latitude (x) and longitude (y) in degrees; great circles in miles. */
export const sphereMetric: DistanceMetric = {
  flat: false,
  distance: (a, b) => {
    const [p, q] = [radians(a.x), radians(b.x)];
    const h = Math.sin((q - p) / 2) ** 2 + Math.cos(p) * Math.cos(q) * Math.sin(radians(b.y - a.y) / 2) ** 2;
    return 2 * earthMiles * Math.asin(Math.min(1, Math.sqrt(h)));
  },
  // Bands of latitude: points within `size` miles lie in the same band or the next.
  cell: (p, size) => [Math.floor((radians(p.x) * earthMiles) / size), 0],
  neighbours: function* (p, size) {
    const band = Math.floor((radians(p.x) * earthMiles) / size);
    for (let k = -1; k <= 1; k++) yield [band + k, 0];
  },
};
