import type { Rational } from '../../exact/rational.js';
import type { Profile } from '../../mechanism/profile.js';
import type { PlannedMeasure } from '../../release/plan.js';
import type { Examples } from './examples.js';
import type { FeatureMap } from './features.js';
import type { Loss } from './loss.js';

/** What is known before the data is read; every method makes its noise from this alone. */
export interface Setting {
  readonly map: FeatureMap;
  readonly loss: Loss;
  readonly regularisation: number;
  /** Public number of records, and most rows one of them has. */
  readonly records: number;
  readonly each: number;
  readonly steps?: number;
}

/** Budget for one record: pure epsilon, or rho of zCDP. */
export type Means =
  | { readonly noise: 'laplace'; readonly epsilon: Rational }
  | { readonly noise: 'gaussian'; readonly rho: Rational };

export interface Trainer {
  readonly method: 'output' | 'sgd' | 'objective';
  readonly noise: 'laplace' | 'gaussian' | 'gamma';
  readonly certified: boolean;
  readonly why: string;
  readonly profile: Profile;
  readonly measures: readonly PlannedMeasure[];
  /** Expected length of the noise: of the weights (output), of one gradient among fifteen (descent). */
  readonly blur: number;
  /** Weights for rows of length at most one. */
  readonly train: (examples: Examples) => Float64Array;
}
