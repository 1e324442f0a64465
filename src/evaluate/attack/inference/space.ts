import { Fault } from '../../../base/errors.js';

/**
 * Possible places of people: public square boxes around public city centres,
 * each divided into side x side cells. None of it comes from the data.
 */
export interface City {
  readonly name: string;
  readonly lat: number;
  readonly lon: number;
}
export interface Space {
  readonly cities: readonly City[];
  /** Kilometres from a box's middle to its side. */
  readonly reach: number;
  readonly side: number;
  /** Cells are numbered city x side^2 + row x side + column. */
  readonly cells: number;
  readonly lat: Float64Array;
  readonly lon: Float64Array;
  /** Cell centres as points of the unit square that holds all boxes. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** The box around all boxes: south, west, height and width in degrees. */
  readonly frame: { readonly south: number; readonly west: number; readonly height: number; readonly width: number };
}

const earthRadius = 6371;
export const kilometresPerMile = 1.609344;
const radians = Math.PI / 180;
const kilometresPerDegree = earthRadius * radians;

/** Great-circle distance in km. */
export function haversine(latA: number, lonA: number, latB: number, lonB: number): number {
  const u = Math.sin(((latB - latA) * radians) / 2);
  const v = Math.sin(((lonB - lonA) * radians) / 2);
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(u * u + Math.cos(latA * radians) * Math.cos(latB * radians) * v * v)));
}

const heightOf = (reach: number) => (2 * reach) / kilometresPerDegree;
const widthOf = (city: City, reach: number) => (2 * reach) / (kilometresPerDegree * Math.cos(city.lat * radians));

export function buildSpace(cities: readonly City[], reach = 25, side = 20): Space {
  if (cities.length === 0 || !(reach > 0) || !(Number.isInteger(side) && side >= 2))
    throw new Fault(
      'QUERY_INVALID',
      'The box of the attack is empty.',
      'Give at least one city, a positive reach and two cells a side.',
    );
  const cells = cities.length * side * side;
  const [lat, lon, x, y] = [0, 0, 0, 0].map(() => new Float64Array(cells)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const height = heightOf(reach);
  const south = Math.min(...cities.map((c) => c.lat)) - height / 2;
  const north = Math.max(...cities.map((c) => c.lat)) + height / 2;
  const west = Math.min(...cities.map((c) => c.lon - widthOf(c, reach) / 2));
  const east = Math.max(...cities.map((c) => c.lon + widthOf(c, reach) / 2));
  const frame = { south, west, height: north - south, width: east - west };
  for (let cell = 0; cell < cells; cell++) {
    const city = cities[Math.floor(cell / (side * side))]!;
    const row = Math.floor((cell % (side * side)) / side);
    lat[cell] = city.lat + height * ((row + 0.5) / side - 0.5);
    lon[cell] = city.lon + widthOf(city, reach) * (((cell % side) + 0.5) / side - 0.5);
    x[cell] = (lat[cell]! - south) / frame.height;
    y[cell] = (lon[cell]! - west) / frame.width;
  }
  return { cities, reach, side, cells, lat, lon, x, y, frame };
}

/** The cell a place lies in: of the city whose box it is nearest to, clamped into that box. */
export function cellAt(space: Space, lat: number, lon: number): number {
  const { cities, reach, side } = space;
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  cities.forEach((city, c) => {
    const gap = Math.max(Math.abs(lat - city.lat) / heightOf(reach), Math.abs(lon - city.lon) / widthOf(city, reach));
    if (gap < least) {
      least = gap;
      best = c;
    }
  });
  const city = cities[best]!;
  const place = (v: number) => Math.min(side - 1, Math.max(0, Math.floor((v + 0.5) * side)));
  return best * side * side + place((lat - city.lat) / heightOf(reach)) * side + place((lon - city.lon) / widthOf(city, reach));
}

const unit = (v: number) => Math.min(1, Math.max(0, v));
export const unitX = ({ frame }: Space, lat: number): number => unit((lat - frame.south) / frame.height);
export const unitY = ({ frame }: Space, lon: number): number => unit((lon - frame.west) / frame.width);
