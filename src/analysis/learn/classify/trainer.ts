import type { Mechanism } from '../../../privacy/mechanism/mechanism.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import type { Examples } from './examples.js';
import type { FeatureMap } from './features.js';
import type { Loss } from './loss.js';

/** Public facts known before the data is read; every method derives its noise from these alone. */
export interface ClassifySetting {
  readonly map: FeatureMap;
  readonly loss: Loss;
  readonly regularisation: number;
  /** Public number of records, and most rows one of them has. */
  readonly records: number;
  readonly rowsPerRecord: number;
  readonly steps?: number | undefined;
}

export interface Trainer {
  readonly method: 'output' | 'sgd' | 'tilt' | 'objective';
  /** Name of the noise of the last step. */
  readonly noise: string;
  readonly certified: boolean;
  readonly why: string;
  readonly mechanisms: readonly Mechanism[];
  /** Expected length of the noise: of the weights (output, tilt), of one gradient of fifteen (descent). */
  readonly expectedNoise: number;
  /** Half-width of the 95 % confidence interval of each weight, where the noise of each weight is known separately. */
  readonly halfWidth?: number;
  /** Meaning of the intervals, as published. */
  readonly intervals: string;
  /** The returned function sees the data, and trains weights for rows of length at most one. */
  readonly prepare: (payment: Payment) => (examples: Examples) => Float64Array;
}
