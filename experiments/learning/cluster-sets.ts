import { fileURLToPath } from 'node:url';
import { readStructure } from '../../src/data/engine/structure.js';
import { openEngine } from '../../src/data/terms/open.js';
import { publicData } from '../data.js';
import { acsFolder } from './acs.js';
import { adultFolder, readAdult } from './adult.js';

/** Rows in the box -1 .. 1, on a grid of 1 / `last`, and the number of clusters. */
export interface ClusterSet {
  readonly name: string;
  readonly dimensions: number;
  readonly clusters: number;
  readonly rows: Float64Array;
}
export const last = 1000;

/** A repeatable sequence of numbers in 0 .. 1. */
function sequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Round clusters of unequal size around centres that are well separated. */
export function separated(dimensions: number, clusters: number, rows: number, width = 0.08, seed = 1): ClusterSet {
  const uniform = sequence(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const centres: number[][] = [];
  for (let apart = 6 * width * Math.sqrt(dimensions); centres.length < clusters; apart *= 0.999) {
    const centre = Array.from({ length: dimensions }, () => 1.5 * uniform() - 0.75);
    if (centres.every((other) => Math.hypot(...other.map((x, c) => x - centre[c]!)) > apart)) centres.push(centre);
  }
  const sizes = centres.map((_, k) => 1 + (k % 3) / 2);
  const whole = sizes.reduce((a, b) => a + b, 0);
  const upTo = sizes.map((_, k) => sizes.slice(0, k + 1).reduce((a, b) => a + b, 0) / whole);
  const owner = (u: number) => upTo.findIndex((share) => u < share);
  const points = new Float64Array(rows * dimensions);
  for (let i = 0; i < rows; i++) {
    const centre = centres[owner(uniform())]!;
    for (let c = 0; c < dimensions; c++) points[i * dimensions + c] = centre[c]! + width * normal();
  }
  return inBox({
    name: `${clusters} separated clusters, ${dimensions}-d, ${rows.toLocaleString('en')} rows`,
    dimensions,
    clusters,
    rows: points,
  });
}

/** Clamped and put on the grid, as a policy would. */
const inBox = (set: ClusterSet): ClusterSet => ({
  ...set,
  rows: set.rows.map((x) => (2 * Math.round(((Math.min(1, Math.max(-1, x)) + 1) / 2) * last)) / last - 1),
});

const scaled = (
  name: string,
  clusters: number,
  bounds: readonly (readonly [number, number])[],
  cells: readonly number[],
): ClusterSet => {
  const d = bounds.length;
  return inBox({
    name,
    dimensions: d,
    clusters,
    rows: Float64Array.from(cells, (x, at) => (2 * (x - bounds[at % d]![0])) / (bounds[at % d]![1] - bounds[at % d]![0]) - 1),
  });
};

/** Bounds are those of the form, not of the rows. */
const adultBounds = {
  age: [17, 90],
  fnlwgt: [0, 1_500_000],
  education_num: [1, 16],
  capital_loss: [0, 4356],
  hours_per_week: [1, 99],
} as const;
export function adultNumbers(clusters: number): ClusterSet | undefined {
  if (!adultFolder) return undefined;
  const names = Object.keys(adultBounds);
  const rows = readAdult(adultFolder, 'adult.data.gz');
  return scaled(
    `Adult, 5 numbers, ${clusters} clusters`,
    clusters,
    Object.values(adultBounds),
    rows.flatMap((row) => names.map((name) => Number(row[name]))),
  );
}

const acsBounds = {
  agep: [0, 99],
  schl: [0, 24],
  wkhp: [0, 99],
  jwmnp: [0, 200],
  pincp: [0, 200_000],
  povpip: [0, 501],
} as const;
export async function acsNumbers(clusters: number): Promise<ClusterSet | undefined> {
  if (!acsFolder) return undefined;
  const file = fileURLToPath(new URL('acs2018_1yr_persons_14states.parquet', acsFolder));
  const names = Object.keys(acsBounds);
  return scaled(
    `ACS, 6 numbers, ${clusters} clusters`,
    clusters,
    Object.values(acsBounds),
    await numbersOf(
      file,
      `SELECT ${names.join(', ')} FROM fugu_data WHERE ${names.map((name) => `${name} IS NOT NULL`).join(' AND ')}`,
    ),
  );
}

const gowalla = publicData('gowalla/', 'gowalla_nyc_checkins.parquet');
export async function gowallaPlaces(clusters: number): Promise<ClusterSet | undefined> {
  if (!gowalla) return undefined;
  const file = fileURLToPath(new URL('gowalla_nyc_checkins.parquet', gowalla));
  return scaled(
    `Gowalla, places in New York, ${clusters} clusters`,
    clusters,
    [
      [40.48, 40.92],
      [-74.26, -73.7],
    ],
    await numbersOf(file, 'SELECT lat, lon FROM fugu_data'),
  );
}

async function numbersOf(source: string, sql: string): Promise<number[]> {
  const engine = await openEngine({ source });
  const cells: number[] = [];
  try {
    for await (const row of readStructure(await engine.snapshot(), { sql, values: [] }))
      for (const cell of row) cells.push(Number(cell));
  } finally {
    await engine.close();
  }
  return cells;
}
