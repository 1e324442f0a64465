import type { FriendshipModel } from '../../../analysis/learn/odds/friendship-model.js';
import { Fault } from '../../../base/errors.js';
import { asPublished, type Calibration, maximumOf } from '../compare/mechanism.js';
import { fixedPointOf } from './dpm.js';

/** A square grid of cells; `step` is the distance between neighbours in the unit in which the decay was fitted. */
export interface CellGrid {
  readonly side: number;
  readonly step: number;
}

/**
 * Eq. 18 on Eq. 26 for many friendships. With L1 distances a place matters only by the number of cells per distance and
 * per distance to their farthest corner, and symmetry leaves an eighth of the places; inner sums are shared per scale.
 */
export class FriendCoefficients {
  readonly #grid: CellGrid;
  readonly #places: number;
  readonly #distances: number;
  /** cells[place, distance, far]: how many cells at that distance from the place are that far from their farthest corner. */
  readonly #cells: Int32Array;
  readonly #counts: Float64Array;

  constructor(grid: CellGrid) {
    if (!(Number.isInteger(grid.side) && grid.side >= 2 && grid.step > 0))
      throw new Fault(
        'MODEL_INVALID',
        'The grid needs at least two cells a side and a positive step.',
        'Write for example { side: 20, step: 0.5 }.',
      );
    this.#grid = grid;
    const { side } = grid;
    this.#distances = 2 * side - 1;
    const places = eighth(side);
    this.#places = places.length;
    this.#cells = new Int32Array(this.#places * this.#distances ** 2);
    this.#counts = new Float64Array(this.#places * this.#distances);
    const corner = (x: number) => Math.max(x, side - 1 - x);
    places.forEach(([x, y], place) => {
      for (let u = 0; u < side; u++)
        for (let v = 0; v < side; v++) {
          const at = place * this.#distances + Math.abs(x - u) + Math.abs(y - v);
          this.#cells[at * this.#distances + corner(u) + corner(v)]!++;
          this.#counts[at]!++;
        }
    });
  }

  /** rho of every tie decay at one scale. */
  at(scale: number, tieDecays: readonly FriendshipModel[]): Float64Array {
    const { step, side } = this.#grid;
    const diameter = 2 * (side - 1) * step;
    const width = this.#distances;
    // Shifted by the diameter so that nothing overflows at small scales; added back in the logarithm.
    const growth = Float64Array.from({ length: width }, (_, far) => Math.exp((far * step - diameter) / scale));
    const inner = new Float64Array(this.#places * width);
    for (let at = 0; at < inner.length; at++)
      for (let far = 0; far < width; far++) inner[at]! += this.#cells[at * width + far]! * growth[far]!;
    const known = new Map<string, number>();
    return Float64Array.from(tieDecays, (tieDecay) => {
      const key = `${tieDecay.b},${tieDecay.c}`;
      const seen = known.get(key);
      if (seen !== undefined) return seen;
      const rho = ((diameter / scale + Math.log(this.#worstMean(tieDecay, inner))) * scale) / diameter;
      known.set(key, rho);
      return rho;
    });
  }

  #worstMean({ b, c }: FriendshipModel, inner: Float64Array): number {
    const width = this.#distances;
    const decay = new Float64Array(width);
    for (let d = 0; d < width; d++) decay[d] = (d * this.#grid.step + b) ** -c;
    let worst = 0;
    for (let start = 0; start < inner.length; start += width) {
      let mass = 0;
      let mean = 0;
      for (let d = 0; d < width; d++) {
        mass += this.#counts[start + d]! * decay[d]!;
        mean += inner[start + d]! * decay[d]!;
      }
      if (mean / mass > worst) worst = mean / mass;
    }
    return worst;
  }
}

/** One place of each symmetry class of the square. */
function eighth(side: number): [number, number][] {
  const half = Math.ceil(side / 2);
  const places: [number, number][] = [];
  for (let x = 0; x < half; x++) for (let y = 0; y <= x; y++) places.push([x, y]);
  return places;
}

/**
 * Odds ratio of the tie with this decay: f(a,u) f(b,v) / (f(a,v) f(b,u)) is largest for a=u,
 * b=v in opposite corners, where both factors above are b^-c and both below (diameter + b)^-c.
 */
export const friendOddsRatio = ({ side, step }: CellGrid, { b, c }: FriendshipModel): number =>
  ((2 * (side - 1) * step + b) / b) ** (2 * c);

export interface Friendship extends FriendshipModel {
  readonly from: number;
  readonly to: number;
}

/** DPM over a friendship graph: scale x epsilon = max_i (1 + sum over friends of rho) x sensitivity, by the fixed point of dpm.ts. */
export function friendDpm(
  { grid, friendships, people }: { grid: CellGrid; friendships: readonly Friendship[]; people: number },
  recordSensitivity: number,
  epsilon: number,
): Calibration {
  const coefficients = new FriendCoefficients(grid);
  const withRho = (rho: Float64Array) => {
    const degrees = new Float64Array(people).fill(1);
    friendships.forEach(({ from, to }, k) => {
      degrees[from]! += rho[k]!;
      degrees[to]! += rho[k]!;
    });
    return maximumOf(degrees) * recordSensitivity;
  };
  const sensitivity = (scale: number) => withRho(coefficients.at(scale, friendships));
  const most = withRho(new Float64Array(friendships.length).fill(1));
  return {
    name: 'dpm-eq18-friends',
    scale: fixedPointOf(sensitivity, most, epsilon),
    ...asPublished,
    composes: true,
    assumption: 'Only direct friends depend on each other, by the distance law alone.',
  };
}
