/** Most by which one row moves the distance of a table from a model, in units: it leaves a cell and enters another (synth.proof.md). */
const unitsPerRow = 32;
/** The largest weight of a table. */
const largestWeight = 32;

/** More rows than any data has, or than any noise suggests: below it all sums are exact whole numbers in doubles. */
export const rowLimit = 2 ** 40;

/** Sensitivity of any penalty to one record of `each` rows: replaced, its rows leave cells and enter others; removed, they leave. */
export const penaltySensitivity = (each: number, change: 'replaced' | 'removed' = 'replaced'): bigint =>
  (change === 'replaced' ? 2n : 1n) * BigInt(each) * BigInt(unitsPerRow) * BigInt(largestWeight);

/** Weights as whole numbers from 1 to the largest. */
export function wholeWeights(weights: readonly number[]): readonly number[] {
  const most = Math.max(...weights);
  return weights.map((w) => Math.max(1, Math.round((largestWeight * w) / most)));
}

/**
 * Penalty of a table: -weight x (L1 distance from the model - expected noise), in whole units, low if the table differs by more than
 * noise. Only the counts are secret.
 */
export function distancePenalty(counts: Float64Array, model: Float64Array, weight: number, noise: number): bigint {
  let distance = 0;
  for (let cell = 0; cell < counts.length; cell++)
    distance += Math.abs(unitsPerRow * counts[cell]! - Math.round(unitsPerRow * model[cell]!));
  return BigInt(-weight * (distance - Math.min(rowLimit, Math.round(unitsPerRow * noise))));
}
