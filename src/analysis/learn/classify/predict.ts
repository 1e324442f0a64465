import type { WeightTerm } from './features.js';

/** One weight with its part of a column. `interval` is the weight's confidence interval. */
export type ClassifierWeight = WeightTerm & { readonly weight: number; readonly interval?: readonly [number, number] };

/** A linear classifier in the columns' own units. Plain data. */
export interface ClassifyResult {
  readonly model: 'logistic' | 'svm';
  readonly method: 'output' | 'objective' | 'sgd' | 'tilt';
  readonly label: string;
  readonly positive: readonly string[];
  readonly features: readonly string[];
  readonly intercept: number;
  /** Confidence interval of the intercept, if weights have intervals. */
  readonly interceptInterval?: readonly [number, number];
  readonly weights: readonly ClassifierWeight[];
  /** Meaning of the confidence intervals: 95 % intervals of the noise, or the reason why there are none (output.proof.md). */
  readonly intervals: string;
}

export interface Prediction {
  /** Above zero: positive. */
  readonly score: number;
  readonly positive: boolean;
  /** Logistic models only. */
  readonly probability?: number;
}

type Row = Readonly<Record<string, string | number | bigint | boolean | null | undefined>>;

/** Applies a released classifier to a row given as column: value. A missing value contributes zero. */
export function predictRow(result: Pick<ClassifyResult, 'model' | 'intercept' | 'weights'>, row: Row): Prediction {
  const score = result.weights.reduce((s, w) => s + w.weight * featureValue(w, row[w.column]), result.intercept);
  return {
    score,
    positive: score > 0,
    ...(result.model === 'logistic' && { probability: 1 / (1 + Math.exp(-score)) }),
  };
}

function featureValue(term: WeightTerm, cell: Row[string]): number {
  if (cell === null || cell === undefined) return 0;
  const text = `${cell}`.trim();
  if (term.kind === 'level') return text === term.level ? 1 : 0;
  if (term.kind === 'sign' && text === term.plus) return 1;
  if (term.kind === 'sign') return text === term.minus ? -1 : 0;
  const x = text === '' ? Number.NaN : Number(text);
  if (Number.isNaN(x)) return 0;
  if (term.kind === 'bin') return (term.from === null || x >= term.from) && (term.to === null || x < term.to) ? 1 : 0;
  const inside = Math.min(term.high, Math.max(term.low, x));
  return (2 * (inside - term.low)) / (term.high - term.low) - 1;
}
