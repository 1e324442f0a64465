import { Fault } from '../../../base/errors.js';
import type { FeatureMap } from './features.js';
import type { ClassifierWeight, ClassifyResult } from './predict.js';

type Bounds = ReadonlyMap<string, readonly [number, number]>;
type Stored = Pick<ClassifyResult, 'interceptInterval' | 'weights'>;

/** Bounds of the number columns among the features. */
export const boundsIn = ({ features }: FeatureMap): Bounds =>
  new Map(features.flatMap(({ terms }) => terms.flatMap((t) => (t.kind === 'number' ? [[t.column, [t.low, t.high]]] : []))));

/**
 * A stored classifier in the current form. Version 0.2 overwrote the bounds of number columns with the ends of confidence intervals:
 * they are restored from `bounds`; a classifier whose bounds are lost is refused.
 */
export function currentForm<T extends Stored>(stored: T, bounds: Bounds = new Map()): T {
  const { interceptInterval, weights } = stored;
  if (interceptInterval === undefined || weights.every((w) => w.interval !== undefined)) return stored;
  return { ...stored, weights: weights.map((w) => withInterval(w, interceptInterval, bounds)) };
}

function withInterval(weight: ClassifierWeight, [from, to]: readonly [number, number], bounds: Bounds): ClassifierWeight {
  if (weight.interval !== undefined) return weight;
  // Every weight has the same noise, hence the half width of the intercept.
  const half = (to - from) / 2;
  const interval = [weight.weight - half, weight.weight + half] as const;
  if (weight.kind !== 'number') return { ...weight, interval };
  const own = bounds.get(weight.column);
  if (!own) throw lost(weight.column);
  return { ...weight, low: own[0], high: own[1], interval };
}

const lost = (column: string) =>
  new Fault(
    'MODEL_INVALID',
    `This classifier was stored by version 0.2, which wrote a confidence interval over the bounds of column "${column}".`,
    'Release the same question again under the same policy and ledger: the recorded answer is free and has the bounds.',
  );
