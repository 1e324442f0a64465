import { fileURLToPath } from 'node:url';
import { readStructure } from '../../src/data/engine/structure.js';
import { openEngine } from '../../src/data/terms/open.js';
import { locationPatterns, type Population } from '../../src/evaluate/attack/inference/patterns.js';
import { buildSpace, type City } from '../../src/evaluate/attack/inference/space.js';
import { publicData } from '../data.js';

export const dataFolder = publicData('', 'gowalla/');

const newYork: City = { name: 'New York', lat: 40.7128, lon: -74.006 };
const threeCities: readonly City[] = [
  newYork,
  { name: 'San Francisco', lat: 37.7749, lon: -122.4194 },
  { name: 'Los Angeles', lat: 34.0522, lon: -118.2437 },
];
const ranks = 6;

/** Columns of a file as arrays of numbers. */
export async function readColumns(folder: URL, file: string, expressions: readonly string[]): Promise<Float64Array[]> {
  const engine = await openEngine({ source: fileURLToPath(new URL(file, folder)) });
  try {
    const out = expressions.map(() => [] as number[]);
    const statement = { sql: `SELECT ${expressions.join(', ')} FROM fugu_data`, values: [] };
    for await (const row of readStructure(await engine.snapshot(), statement))
      for (let c = 0; c < out.length; c++) out[c]!.push(Number(row[c]));
    return out.map((list) => Float64Array.from(list));
  } finally {
    await engine.close();
  }
}

const pairs = ([a, b]: readonly Float64Array[]): [number, number][] => [...a!].map((v, k) => [v, b![k]!]);

export interface Gowalla {
  readonly name: string;
  readonly population: Population;
  readonly checkins: number;
  readonly places: number;
  readonly edges: number;
  /** Check-ins and places of each person, for Table I. */
  readonly visits: { readonly user: Float64Array; readonly place: Float64Array; readonly count: Float64Array };
}

/** New York is complete: every check-in within 25 km of users with at least ten of them. */
export async function readNewYork(folder: URL): Promise<Gowalla> {
  const [user, time, lat, lon, place] = (await readColumns(folder, 'gowalla/gowalla_nyc_ge10_25km_checkins.parquet', [
    'uid',
    'epoch(CAST(ts AS TIMESTAMP))',
    'lat',
    'lon',
    'vid',
  ])) as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];
  const edges = pairs(await readColumns(folder, 'gowalla/gowalla_nyc_ge10_25km_edges.parquet', ['a', 'b']));
  const population = locationPatterns({ user, place, lat, lon, time }, edges, buildSpace([newYork]), ranks);
  return {
    name: 'New York',
    population,
    checkins: user.length,
    places: new Set(place).size,
    edges: edges.length,
    visits: { user, place, count: new Float64Array(user.length).fill(1) },
  };
}

/** San Francisco and Los Angeles exist only in a filtered subset (no times, ids renumbered). */
export async function readThreeCities(folder: URL): Promise<Gowalla> {
  const [user, place, count, lat, lon] = (await readColumns(folder, 'gowalla/gowalla_capri_3city_ge10_visits.parquet', [
    'uid',
    'pid',
    'n',
    'lat',
    'lon',
  ])) as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];
  const edges = pairs(await readColumns(folder, 'gowalla/gowalla_capri_3city_ge10_edges.parquet', ['a', 'b']));
  const population = locationPatterns({ user, place, count, lat, lon }, edges, buildSpace(threeCities), ranks);
  return {
    name: 'three cities (subset)',
    population,
    checkins: count.reduce((s, n) => s + n, 0),
    places: new Set(place).size,
    edges: edges.length,
    visits: { user, place, count },
  };
}
