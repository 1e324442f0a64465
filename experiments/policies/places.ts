import { fileURLToPath } from 'node:url';
import { readStructure } from '../../src/engine/structure.js';
import { chooseVariant } from '../../src/learn/kmeans/kmeans.js';
import { nearIn } from '../../src/learn/kmeans/near.js';
import { boxOf, type Points } from '../../src/learn/kmeans/points.js';
import { nearest, weightedLloyd } from '../../src/learn/kmeans/weighted.js';
import { pure } from '../../src/mechanism/allotment.js';
import { Paid } from '../../src/mechanism/paid.js';
import { positionOf } from '../../src/policy/grid.js';
import { openEngine } from '../../src/terms/open.js';
import { publicData } from '../data.js';
import { policyWith, sequence, strangersOf } from './bench.js';

export const gowalla = publicData('gowalla/', 'gowalla_capri_visits.parquet');

export async function rowsOf(folder: URL, file: string, sql: string): Promise<number[][]> {
  const engine = await openEngine({ source: fileURLToPath(new URL(file, folder)) });
  const rows: number[][] = [];
  try {
    for await (const row of readStructure(await engine.pin(), { sql, values: [] })) rows.push(row.map(Number));
  } finally {
    await engine.close();
  }
  return rows;
}

interface Places {
  readonly name: string;
  readonly lat: readonly [number, number];
  readonly lon: readonly [number, number];
  readonly rows: readonly (readonly number[])[];
}

/** Where somebody is most often is one row of a person. */
const homes = (count: string, place: string, visits: string) =>
  `SELECT lat, lon FROM (SELECT uid, lat, lon, row_number() OVER (PARTITION BY uid ORDER BY ${count} DESC, ${place}) AS nth FROM ${visits}) WHERE nth = 1 ORDER BY uid`;

async function places(folder: URL): Promise<readonly Places[]> {
  const world = await rowsOf(folder, 'gowalla_capri_visits.parquet', homes('n', 'pid', 'fugu_data'));
  const inside = ([lat, lon]: readonly number[]) => lat! > 24 && lat! < 50 && lon! > -125 && lon! < -66;
  const nyc = 'gowalla_nyc_checkins.parquet';
  const visits =
    '(SELECT uid, vid, any_value(lat) AS lat, any_value(lon) AS lon, count(*) AS n FROM fugu_data GROUP BY uid, vid)';
  return [
    { name: 'world, where each person is most', lat: [-60, 75], lon: [-170, 179], rows: world },
    { name: 'United States, where each person is most', lat: [24, 50], lon: [-125, -66], rows: world.filter(inside) },
    {
      name: 'New York, where each person is most',
      lat: [40.48, 40.92],
      lon: [-74.26, -73.7],
      rows: await rowsOf(folder, nyc, homes('n', 'vid', visits)),
    },
    {
      name: 'New York, every visit',
      lat: [40.48, 40.92],
      lon: [-74.26, -73.7],
      rows: await rowsOf(folder, nyc, 'SELECT lat, lon FROM fugu_data'),
    },
  ];
}

const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;

/** What centres cost beyond the best that is found without privacy, in percent of it, with any two places as pairs and with places within 5 km. */
export async function kmeansFigures(folder: URL, times: number): Promise<readonly (readonly (string | number)[])[]> {
  const table: (string | number)[][] = [
    ['places', 'rows', 'clusters', 'plain, percent more', 'variant', 'within 5 km, percent more', 'variant', 'ratio'],
  ];
  for (const set of await places(folder))
    for (const clusters of [8, 20]) {
      const columns = `lat: { type: number, bounds: [${set.lat}], step: 0.001 }, lon: { type: number, bounds: [${set.lon}], step: 0.001 }`;
      const runs = [];
      const pairs = 'place: { columns: [lat, lon], within: 5 km, missing: apart }';
      for (const declared of ['', pairs]) {
        const policy = await policyWith(columns, declared, '0.5');
        const box = boxOf(policy, ['lat', 'lon']);
        const [route] = strangersOf(policy).routes;
        const near = nearIn(policy, box, { route: route! });
        const variant = chooseVariant(
          { columns: ['lat', 'lon'], clusters },
          box,
          { pure: pure(policy.budget.epsilon) },
          set.rows.length,
          1,
          near,
        );
        const points: Points = {
          dimensions: 2,
          count: set.rows.length,
          coordinates: Int32Array.from(
            set.rows.flatMap((row) => row.map((x, c) => 2 * positionOf(box.grids[c]!, x) - box.grids[c]!.last)),
          ),
        };
        const scaled = Float64Array.from(points.coordinates, (v, at) => v / box.grids[at % 2]!.last);
        const found = Array.from({ length: times }, () => variant.ready(new Paid(variant.mechanisms))(points).centres);
        runs.push({ variant: variant.name, scaled, found });
      }
      const { scaled } = runs[0]!;
      const cloud = { dimensions: 2, points: scaled, weights: new Float64Array(set.rows.length).fill(1) };
      const cost = (centres: readonly (readonly number[])[]) => mean([...nearest(centres, 2, scaled).gap]);
      // Starts at rows far from those before, and some of the answers walked on with the rows themselves.
      const random = sequence(7 + clusters);
      const starts = [
        ...Array.from({ length: 12 }, () => plusPlus(scaled, clusters, random)),
        ...runs.flatMap(({ found }) => found.slice(0, 6)),
      ];
      const best = Math.min(...starts.map((start) => cost(weightedLloyd(cloud, start, 60).centres)));
      const more = runs.map(({ found }) => 100 * (mean(found.map(cost)) / best - 1));
      table.push([
        set.name,
        set.rows.length,
        clusters,
        more[0]!,
        runs[0]!.variant,
        more[1]!,
        runs[1]!.variant,
        more[1]! / more[0]!,
      ]);
      console.log(
        table
          .at(-1)!
          .map((x) => (typeof x === 'number' ? Number(x.toPrecision(3)) : x))
          .join(' | '),
      );
    }
  return table;
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
