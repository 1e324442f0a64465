import { Fault } from '../../base/errors.js';
import { type Descent, descend } from './descend.js';
import { type Graphical, graphical } from './graphical.js';
import { addTo, cellsOf, placesOf } from './margin.js';
import { type Factor, propagation } from './propagate.js';
import { withSteps } from './steps.js';
import { isWithin, refuseLarge, treeOf } from './tree.js';

/** A noisy marginal: columns in increasing order, cells row-major, each with noise of this standard deviation. */
export interface Measured {
  readonly columns: readonly number[];
  readonly counts: Float64Array;
  readonly sd: number;
  /**
   * Noise variance by set of columns (bit i for the i-th): of what is centred along these and constant along the others. `sd` is then
   * not used. For noise that is not independent per cell.
   */
  readonly variances?: readonly number[];
}

/** Structural zeros: cells of a marginal over these columns that no row can be in. */
export interface Impossible {
  readonly columns: readonly number[];
  readonly cells: readonly number[];
}

export interface FitOptions {
  readonly sizes: readonly number[];
  readonly measured: readonly Measured[];
  /** Number of rows. */
  readonly total: number;
  readonly impossible?: readonly Impossible[];
  /** A model to start from; its factors over columns that are in no common clique now are dropped. */
  readonly from?: Graphical;
  /** Most times that all marginals of the model are computed; 1,000 by default. */
  readonly iterations?: number;
  /**
   * Stops when a step lowers the loss by less than half its square per measured cell; 0.1 by default, a tenth of the noise
   * (fit.proof.md).
   */
  readonly within?: number;
  readonly signal?: AbortSignal;
}

/** A fitted distribution with its distance from the optimum. */
export interface Fitted extends Graphical {
  readonly descent: Descent;
}

/**
 * Distribution of `total` rows without structural zeros with the least sum of squared errors over the measured cells, in units of
 * noise; among those with equal marginals the one of maximum entropy (fit.proof.md).
 */
export function fit(options: FitOptions): Fitted {
  const { sizes, measured, total, impossible = [], from } = options;
  const tree = treeOf(sizes, [...measured.map(({ columns }) => columns), ...impossible.map(({ columns }) => columns)]);
  refuseLarge(tree.cells);
  const columns = outermost(measured.map((m) => m.columns));
  const ruled = impossible.map((own) => ruledOut(sizes, own));
  const walked = withSteps(sizes, tree, [...columns, ...impossible.map((own) => own.columns)]);
  const spread = propagation(sizes, walked, columns, ruled);
  const values = columns.map((own) => new Float64Array(cellsOf(sizes, own)));
  if (from) startFrom(sizes, from.factors, columns, values);
  const descent = descend({ ...options, columns, values, spread });
  if (!descent)
    throw new Fault(
      'MODEL_INVALID',
      'No row is possible: the combinations that are declared impossible leave none.',
      'Declare fewer of them impossible.',
    );
  const factors = columns.map((own, k): Factor => ({ columns: own, values: values[k]! }));
  return { ...graphical(sizes, total, tree, walked, spread.beliefs, factors), descent };
}

/** Sets inside no other set, each once. */
function outermost(sets: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const different = [...new Map(sets.map((own) => [own.join(), own])).values()];
  return different.filter((own) => !different.some((other) => other !== own && isWithin(own, other)));
}

function ruledOut(sizes: readonly number[], { columns, cells }: Impossible): Factor {
  const values = new Float64Array(cellsOf(sizes, columns));
  for (const cell of cells) values[cell] = Number.NEGATIVE_INFINITY;
  return { columns, values };
}

/** Adds factors of another model over columns inside one of these sets to it. */
function startFrom(
  sizes: readonly number[],
  factors: readonly Factor[],
  columns: readonly (readonly number[])[],
  values: readonly Float64Array[],
): void {
  for (const factor of factors) {
    const k = columns.findIndex((own) => isWithin(factor.columns, own));
    if (k >= 0) addTo(placesOf(sizes, columns[k]!, factor.columns), factor.values, values[k]!);
  }
}
