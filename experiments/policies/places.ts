import { fileURLToPath } from 'node:url';
import { nearestCentroids } from '../../src/analysis/learn/kmeans/centroids.js';
import { chooseVariant } from '../../src/analysis/learn/kmeans/kmeans.js';
import { type Points, pointBox } from '../../src/analysis/learn/kmeans/points.js';
import { pairDistancesIn } from '../../src/analysis/learn/kmeans/soft-grid.js';
import { weightedLloyd } from '../../src/analysis/learn/kmeans/weighted-lloyd.js';
import type { Cell } from '../../src/data/engine/engine.js';
import { readStructure } from '../../src/data/engine/structure.js';
import { openEngine } from '../../src/data/terms/open.js';
import { positionOf } from '../../src/policy/grid.js';
import { pure } from '../../src/privacy/mechanism/budget-share.js';
import { Payment } from '../../src/privacy/mechanism/payment.js';
import { publicData } from '../data.js';
import { policyWith, sequence, strangersOf } from './bench.js';

export const gowalla = publicData('gowalla/', 'gowalla_capri_visits.parquet');

export const rowsOf = async (folder: URL, file: string, sql: string): Promise<number[][]> =>
  (await cellsOf(folder, file, sql)).map((row) => row.map(Number));
export const textsOf = async (folder: URL, file: string, sql: string): Promise<(string | null)[][]> =>
  (await cellsOf(folder, file, sql)).map((row) => row.map((cell) => (cell === null ? null : String(cell))));

async function cellsOf(folder: URL, file: string, sql: string): Promise<Cell[][]> {
  const engine = await openEngine({ source: fileURLToPath(new URL(file, folder)) });
  const rows: Cell[][] = [];
  try {
    for await (const row of readStructure(await engine.snapshot(), { sql, values: [] })) rows.push([...row]);
  } finally {
    await engine.close();
  }
  return rows;
}

interface Places {
  readonly name: string;
  readonly within: readonly string[];
  readonly clusters: readonly number[];
  /** The most that epsilon 0.5 within 5 km is worth on a part 15 km wide. */
  readonly part?: string;
  readonly lat: readonly [number, number];
  readonly lon: readonly [number, number];
  readonly rows: readonly (readonly number[])[];
}

/** Most frequent place of each person, one row per person. */
const homes = (count: string, place: string, visits: string) =>
  `SELECT lat, lon FROM (SELECT uid, lat, lon, row_number() OVER (PARTITION BY uid ORDER BY ${count} DESC, ${place}) AS nth FROM ${visits}) WHERE nth = 1 ORDER BY uid`;

async function places(folder: URL): Promise<readonly Places[]> {
  const world = await rowsOf(folder, 'gowalla_capri_visits.parquet', homes('n', 'pid', 'fugu_data'));
  const inside = ([lat, lon]: readonly number[]) => lat! > 24 && lat! < 50 && lon! > -125 && lon! < -66;
  const nyc = 'gowalla_nyc_checkins.parquet';
  const visits =
    '(SELECT uid, vid, any_value(lat) AS lat, any_value(lon) AS lon, count(*) AS n FROM fugu_data GROUP BY uid, vid)';
  return [
    {
      name: 'world, where each person is most',
      within: ['5 km'],
      clusters: [8, 20],
      lat: [-60, 75],
      lon: [-170, 179],
      rows: world,
    },
    {
      name: 'United States, where each person is most',
      within: ['5 km'],
      clusters: [8, 20],
      lat: [24, 50],
      lon: [-125, -66],
      rows: world.filter(inside),
    },
    {
      name: 'New York, where each person is most',
      within: ['5 km', '0.2 km'],
      clusters: [8, 20],
      part: '1.5',
      lat: [40.48, 40.92],
      lon: [-74.26, -73.7],
      rows: await rowsOf(folder, nyc, homes('n', 'vid', visits)),
    },
    {
      name: 'New York, every visit',
      within: ['5 km'],
      clusters: [8],
      lat: [40.48, 40.92],
      lon: [-74.26, -73.7],
      rows: await rowsOf(folder, nyc, 'SELECT lat, lon FROM fugu_data'),
    },
  ];
}

const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;

/**
 * Cost of the centres above the best found without privacy, in percent, with any two places as pairs and with near ones;
 * and with ten times the budget, which pairs of a tenth of New York cannot beat.
 */
export async function kmeansFigures(folder: URL, times: number): Promise<readonly (readonly (string | number)[])[]> {
  const table: (string | number)[][] = [
    ['places', 'rows', 'clusters', 'within', 'plain, percent more', 'variant', 'within, percent more', 'variant', 'ratio', 'plain at epsilon 5', 'at 1.5'],
  ]; // biome-ignore format: one line
  for (const set of await places(folder))
    for (const clusters of set.clusters) {
      const runs = [];
      const budgets = ['0.5', '5', ...(set.part === undefined ? [] : [set.part])].map((epsilon) => [epsilon, ''] as const);
      for (const [epsilon, within] of [...budgets, ...set.within.map((far) => ['0.5', far] as const)])
        runs.push({ within, ...(await centresOf(set, clusters, epsilon, within, times)) });
      const { scaled } = runs[0]!;
      const cloud = { dimensions: 2, points: scaled, weights: new Float64Array(set.rows.length).fill(1) };
      const cost = (centres: readonly (readonly number[])[]) => mean([...nearestCentroids(centres, 2, scaled).gap]);
      // Starts at rows far from earlier ones, and some of the answers refined with the rows themselves.
      const random = sequence(7 + clusters);
      const starts = [
        ...Array.from({ length: 12 }, () => plusPlus(scaled, clusters, random)),
        ...runs.flatMap(({ found }) => found.slice(0, 6)),
      ];
      const best = Math.min(...starts.map((start) => cost(weightedLloyd(cloud, start, 60).centres)));
      const more = runs.map(({ found }) => 100 * (mean(found.map(cost)) / best - 1));
      for (const [k, { within, variant }] of runs.entries()) {
        if (within === '') continue;
        table.push([set.name, set.rows.length, clusters, within, more[0]!, runs[0]!.variant, more[k]!, variant, more[k]! / more[0]!, more[1]!, set.part === undefined ? '' : more[2]!]); // biome-ignore format: one line
        console.log(
          table
            .at(-1)!
            .map((x) => (typeof x === 'number' ? Number(x.toPrecision(3)) : x))
            .join(' | '),
        );
      }
    }
  return table;
}

/** The product's own choice of a variant and its result, in this many draws. */
async function centresOf(set: Places, clusters: number, epsilon: string, within: string, times: number) {
  const columns = `lat: { type: number, bounds: [${set.lat}], step: 0.001 }, lon: { type: number, bounds: [${set.lon}], step: 0.001 }`;
  const pairs = within && `place: { columns: [lat, lon], within: ${within}, missing: apart }`;
  const policy = await policyWith(columns, pairs, epsilon);
  const box = pointBox(policy, ['lat', 'lon']);
  const [route] = strangersOf(policy).routes;
  const near = pairDistancesIn(policy, box, { route: route! });
  const allowance = { pure: pure(policy.budget.epsilon) };
  const variant = chooseVariant({}, { box, clusters, records: set.rows.length, rowsPerRecord: 1, pairs: near }, allowance);
  const points: Points = {
    dimensions: 2,
    count: set.rows.length,
    coordinates: Int32Array.from(
      set.rows.flatMap((row) => row.map((x, c) => 2 * positionOf(box.grids[c]!, x) - box.grids[c]!.last)),
    ),
  };
  return {
    variant: variant.name,
    scaled: Float64Array.from(points.coordinates, (v, at) => v / box.grids[at % 2]!.last),
    found: Array.from({ length: times }, () => variant.prepare(new Payment(variant.mechanisms))(points).centres),
  };
}

function plusPlus(rows: Float64Array, clusters: number, random: () => number): number[][] {
  const n = rows.length / 2;
  const gap = new Float64Array(n).fill(1);
  const chosen: number[][] = [];
  while (chosen.length < clusters) {
    let left = random() * gap.reduce((a, b) => a + b, 0);
    let i = 0;
    while (i < n - 1 && left >= gap[i]!) left -= gap[i++]!;
    const centre = [rows[2 * i]!, rows[2 * i + 1]!];
    for (let j = 0; j < n; j++) {
      const apart = (rows[2 * j]! - centre[0]!) ** 2 + (rows[2 * j + 1]! - centre[1]!) ** 2;
      gap[j] = chosen.length === 0 ? apart : Math.min(gap[j]!, apart);
    }
    chosen.push(centre);
  }
  return chosen;
}
