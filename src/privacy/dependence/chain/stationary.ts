/**
 * Stationary distribution by elimination without subtraction (Grassmann, Taksar and Heyman); undefined if some states never reach
 * each other. States that the others never reach have probability 0.
 */
export function stationaryLaw(transition: readonly ArrayLike<number>[]): Float64Array | undefined {
  const n = transition.length;
  const p = transition.map((row) => Float64Array.from(row));
  for (let k = n - 1; k > 0; k--) {
    let out = 0;
    for (let j = 0; j < k; j++) out += p[k]![j]!;
    if (!(out > 0)) return undefined;
    for (let i = 0; i < k; i++) {
      p[i]![k]! /= out;
      for (let j = 0; j < k; j++) if (j !== i) p[i]![j]! += p[i]![k]! * p[k]![j]!;
    }
  }
  const distribution = new Float64Array(n);
  distribution[0] = 1;
  for (let k = 1; k < n; k++) for (let i = 0; i < k; i++) distribution[k]! += distribution[i]! * p[i]![k]!;
  const total = distribution.reduce((a, b) => a + b, 0);
  return distribution.map((x) => x / total);
}

/** Distribution whose entries have at most the given relative error. */
export interface StationaryDistribution {
  readonly distribution: Float64Array;
  readonly relative: number;
}

/** Accurate in every entry; undefined if some state cannot reach all others (chain.proof.md). */
export function stationaryDistribution(transition: readonly (readonly number[])[]): StationaryDistribution | undefined {
  const distribution = stationaryLaw(transition);
  if (!distribution?.every((x) => x > 0 && Number.isFinite(x))) return undefined;
  const n = transition.length;
  return { distribution, relative: 4 * n * n * (n + 6) * 2 ** -53 };
}

/** P(state before | state now) of the stationary chain. */
export function backwardTransitions(
  transition: readonly ArrayLike<number>[],
  { distribution }: StationaryDistribution,
): readonly Float64Array[] {
  return transition.map((_, now) => {
    const weights = Float64Array.from(transition, (row, before) => distribution[before]! * row[now]!);
    const total = weights.reduce((a, b) => a + b, 0);
    return weights.map((x) => x / total);
  });
}
