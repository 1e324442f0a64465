import { multiply, one, rational, subtract } from '../../../base/exact/rational.js';
import { type Additive, additive } from '../../../privacy/mechanism/additive.js';
import { type Allotment, partOf } from '../../../privacy/mechanism/allotment.js';
import type { Paid } from '../../../privacy/mechanism/paid.js';
import { rowsMoved, rowsWithin } from '../effects.js';
import { boxCloud, growBoxes, halvingOrder, type Level } from './halving.js';
import { fine, type Norm, tallyOffsets } from './offsets.js';
import type { Points } from './points.js';
import { type Refined, refine, spreads, startOf } from './refine.js';
import { type Shape, shapeFor } from './shape.js';
import type { Clustered, Setting, Variant } from './variant.js';

/** Recursive halving of dense boxes finds the clusters, iterations with clipped offsets refine them (kmeans.proof.md). */
export function halvingVariant(setting: Setting, within: readonly Allotment[], shape?: Shape): Variant {
  const made = within
    .map((allotment) => noiseOf(setting, allotment, shape ?? shapeFor(setting, allotment)))
    .reduce((a, b) => (b.blur < a.blur ? b : a));
  const { levels, offsets, distances, rounds } = made;
  return {
    name: 'halving',
    why: `Noisy counts of boxes, halved ${levels.length === 1 ? 'once' : `in ${levels.length} levels where people are`}, find the clusters${
      rounds > 0 ? `; ${rounds} round${rounds > 1 ? 's' : ''} of noisy offsets, clipped around every centre, sharpen them` : ''
    }.`,
    mechanisms: [...levels.map(({ noise }) => noise), ...(offsets ? [offsets] : []), ...(distances ? [distances] : [])],
    ready: (paid) => (points) => cluster(setting, made, paid, points),
  };
}

interface Noise {
  readonly norm: Norm;
  readonly levels: readonly { readonly noise: Additive; readonly cells: number; readonly grain: number }[];
  readonly rounds: number;
  readonly reach: number;
  readonly offsets?: Additive;
  /** Noise of the rows' distances to their centroid, between iterations. */
  readonly distances?: Additive;
  /** Approximate deviation of a centroid from noise, for choosing between distributions. */
  readonly blur: number;
}

const mostBoxes = 2 ** 15;
const distanceShare = rational(1, 10);

function noiseOf({ box, clusters, rows, each }: Setting, allotment: Allotment, shape: Shape): Noise {
  const d = box.names.length;
  const all = each * rows;
  const level = (l: number, cells: number): Additive =>
    additive(
      { name: `rows per box, level ${l + 1}`, cells, effects: rowsMoved(each) },
      partOf(allotment, multiply(shape.boxes, rational(1, shape.levels))),
    );
  const levels = Array.from({ length: shape.levels }, (_, l) => {
    const grain = Math.max((l < shape.levels - 1 ? shape.early : shape.late) * Math.sqrt(level(l, 1).variance), all / mostBoxes);
    const cells = Math.floor((all / grain) * 1.000001) + 1;
    return { noise: level(l, cells), cells, grain };
  });
  const norm = allotment.noise === 'pure' ? 'l1' : 'l2';
  const { rounds, reach } = shape;
  if (rounds === 0) return { norm, levels, rounds, reach, blur: levels[0]!.noise.variance };
  const left = partOf(allotment, subtract(one, shape.boxes));
  const forDistances = rounds > 1 ? distanceShare : rational(0);
  const offsets = additive(
    {
      name: 'offsets per cluster and round',
      cells: clusters * d,
      effects: rowsWithin(each, { l1: norm === 'l1' ? fine : Math.ceil(Math.sqrt(d)) * fine, l2: fine }),
      unit: 1 / fine,
      times: rounds,
    },
    partOf(left, subtract(one, forDistances)),
  );
  const distances =
    rounds > 1
      ? additive(
          {
            name: 'distances per cluster and round',
            cells: clusters,
            effects: rowsMoved(each, fine),
            unit: 1 / fine,
            times: rounds - 1,
          },
          partOf(left, forDistances),
        )
      : undefined;
  // For a cluster equally wide in all coordinates: absolute offsets sum to 0.8 d of its standard deviation, squares to the root of d.
  const wide = norm === 'l1' ? 0.8 * d : Math.sqrt(d);
  return {
    norm,
    levels,
    rounds,
    reach,
    offsets,
    ...(distances && { distances }),
    blur: offsets.variance * wide ** 2,
  };
}

function cluster({ box, clusters, rows, each }: Setting, made: Noise, paid: Paid, points: Points): Clustered {
  const last = box.grids.map((g) => g.last);
  const levels: Level[] = made.levels.map(({ noise, cells, grain }) => ({
    cells,
    grain,
    spread: Math.sqrt(noise.variance),
    noise: (count) => noise.ready(paid, count),
  }));
  const cloud = boxCloud(growBoxes(points, halvingOrder(last), levels, each * rows), last);
  let at: Refined = startOf(cloud, clusters, made.norm, made.reach);
  for (let round = 0; round < made.rounds; round++) {
    const tally = tallyOffsets(points, last, at.centres, at.radii, made.norm);
    const moved = made
      .offsets!.ready(paid)(tally.offsets)
      .map((x) => Number(x) / fine);
    const far =
      made.distances && round < made.rounds - 1
        ? made.distances
            .ready(paid)(tally.distances)
            .map((x) => Number(x) / fine)
        : undefined;
    at = refine(
      at,
      cloud,
      moved,
      made.offsets!.variance / fine ** 2,
      far && spreads(at, far, made.reach, made.distances!.variance / fine ** 2),
    );
  }
  return { centres: at.centres, counts: at.masses.map(Math.round) };
}
