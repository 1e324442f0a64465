import { Fault } from '../../base/errors.js';
import { beliefPropagation, type LogFactor } from './belief-propagation.js';
import { type GraphicalModel, graphicalModel } from './graphical-model.js';
import { withIntermediateTables } from './intermediate-tables.js';
import { isWithin, junctionTree, refuseLargeModel } from './junction-tree.js';
import { addTo, marginalIndex, marginalSize } from './marginal.js';
import { type Descent, proximalDescent } from './proximal-descent.js';

/** A noisy marginal: columns in increasing order, cells row-major, each with noise of this standard deviation. */
export interface NoisyMarginal {
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
export interface StructuralZeros {
  readonly columns: readonly number[];
  readonly cells: readonly number[];
}

export interface FitOptions {
  readonly sizes: readonly number[];
  readonly measured: readonly NoisyMarginal[];
  /** Number of rows. */
  readonly total: number;
  readonly impossible?: readonly StructuralZeros[];
  /** A model to start from; its factors over columns that are in no common clique now are dropped. */
  readonly from?: GraphicalModel;
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
export interface FittedModel extends GraphicalModel {
  readonly descent: Descent;
}

/**
 * Distribution of `total` rows without structural zeros with the least sum of squared errors over the measured cells, in units of
 * noise; among those with equal marginals the one of maximum entropy (fit.proof.md).
 */
export function fitModel(options: FitOptions): FittedModel {
  const { sizes, measured, total, impossible = [], from } = options;
  const tree = junctionTree(sizes, [...measured.map(({ columns }) => columns), ...impossible.map(({ columns }) => columns)]);
  refuseLargeModel(tree.cells);
  const columns = outermostSets(measured.map((m) => m.columns));
  const ruled = impossible.map((own) => zeroFactor(sizes, own));
  const walked = withIntermediateTables(sizes, tree, [...columns, ...impossible.map((own) => own.columns)]);
  const spread = beliefPropagation(sizes, walked, columns, ruled);
  const values = columns.map((own) => new Float64Array(marginalSize(sizes, own)));
  if (from) startFrom(sizes, from.factors, columns, values);
  const descent = proximalDescent({ ...options, columns, values, spread });
  if (!descent)
    throw new Fault(
      'MODEL_INVALID',
      'No row is possible: the combinations that are declared impossible leave none.',
      'Declare fewer of them impossible.',
    );
  const factors = columns.map((own, k): LogFactor => ({ columns: own, values: values[k]! }));
  return { ...graphicalModel(spread, { total, cliques: tree.cliques, factors }), descent };
}

/** Sets inside no other set, each once. */
function outermostSets(sets: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const different = [...new Map(sets.map((own) => [own.join(), own])).values()];
  return different.filter((own) => !different.some((other) => other !== own && isWithin(own, other)));
}

function zeroFactor(sizes: readonly number[], { columns, cells }: StructuralZeros): LogFactor {
  const values = new Float64Array(marginalSize(sizes, columns));
  for (const cell of cells) values[cell] = Number.NEGATIVE_INFINITY;
  return { columns, values };
}

/** Adds factors of another model over columns inside one of these sets to it. */
function startFrom(
  sizes: readonly number[],
  factors: readonly LogFactor[],
  columns: readonly (readonly number[])[],
  values: readonly Float64Array[],
): void {
  for (const factor of factors) {
    const k = columns.findIndex((own) => isWithin(factor.columns, own));
    if (k >= 0) addTo(marginalIndex(sizes, columns[k]!, factor.columns), factor.values, values[k]!);
  }
}
