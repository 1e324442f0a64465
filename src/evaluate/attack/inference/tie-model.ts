import { Fault } from '../../../base/errors.js';
import { haversine, kilometresPerMile, type Space } from './space.js';

/**
 * Dependence of a friend's place on one's own: P(friend at v | me at u) is proportional to (frequency of v) x
 * weight(u, v). Leakage depends only on cross ratios of `weight`; `logOdds` bounds their logarithm: D of one tie.
 */
export interface TieModel {
  readonly name: string;
  readonly cells: number;
  /** weight[u x cells + v] > 0. */
  readonly weight: Float64Array;
  readonly logOdds: number;
}

/** Eq. 26 of Liu et al. 2016 with the constants of Backstrom et al. 2010, in miles; scaled so that one friend on the spot weighs `a`/b^c. */
const backstromKernel = (kilometres: number): number => 1000 * 0.0019 * (kilometres / kilometresPerMile + 0.196) ** -1.05;

function tieModel(space: Space, name: string, weightAt: (kilometres: number) => number): TieModel {
  const { cells, lat, lon } = space;
  if (cells > 4000)
    throw new Fault(
      'MODEL_TOO_LARGE',
      'A tie over that many cells is too large to tabulate.',
      'Use fewer cities or a coarser grid.',
    );
  const weight = new Float64Array(cells * cells);
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let u = 0; u < cells; u++)
    for (let v = u; v < cells; v++) {
      const w = weightAt(haversine(lat[u]!, lon[u]!, lat[v]!, lon[v]!));
      weight[u * cells + v] = w;
      weight[v * cells + u] = w;
      if (w < least) least = w;
      if (w > most) most = w;
    }
  // A table whose weights lie within a factor r of each other has cross ratios of at most r^2.
  return { name, cells, weight, logOdds: 2 * Math.log(most / least) };
}

/** The paper's friends: Eq. 26 unchanged. Its odds ratio, of a far friend against one in the same place, is tens of thousands. */
export const distanceTie = (space: Space): TieModel => tieModel(space, 'Eq. 26', backstromKernel);

/** The strongest tie of this shape inside a declared odds ratio: weights from 1 (far away) to sqrt(OR) (same cell). */
export function declaredTie(space: Space, oddsRatio: number): TieModel {
  const near = backstromKernel(0);
  const far = backstromKernel(haversine(space.lat[0]!, space.lon[0]!, space.lat[space.cells - 1]!, space.lon[space.cells - 1]!));
  const closeness = (km: number) => Math.max(0, Math.min(1, (backstromKernel(km) - far) / (near - far)));
  const tie = tieModel(space, `odds ratio ${oddsRatio}`, (km) => oddsRatio ** (closeness(km) / 2));
  return { ...tie, logOdds: Math.log(oddsRatio) };
}

/** Friends are almost always at the same place: the model of an attacker who takes friends for copies. */
export const copyTie = (space: Space): TieModel => tieModel(space, 'copies', (km) => (km < 1e-9 ? 1 : 1e-9));
