/** Rows of whoever goes through steps: who, when (a whole number; below zero where it is missing) and in which state (below zero where it is missing). */
export interface OwnerSteps {
  readonly owners: ArrayLike<number>;
  readonly times: ArrayLike<number>;
  readonly states: ArrayLike<number>;
}

/**
 * By hand: how often state b follows state a one step later, a row per a. A time at which somebody has several rows is counted nowhere, so that a row is in two pairs at
 * most, whatever the others are (src/analysis/learn/transitions/learn-transitions.proof.md).
 */
export function countStepsByHand({ owners, times, states }: OwnerSteps, count: number): number[] {
  const counts = new Array<number>(count * count).fill(0);
  const order = Uint32Array.from({ length: owners.length }, (_, r) => r)
    .filter((r) => times[r]! >= 0)
    .sort((a, b) => owners[a]! - owners[b]! || times[a]! - times[b]!);
  const together = (a: number | undefined, b: number | undefined, later: number) =>
    a !== undefined && b !== undefined && owners[a] === owners[b] && times[a]! + later === times[b];
  const alone = (k: number) => !together(order[k - 1], order[k], 0) && !together(order[k], order[k + 1], 0);
  for (let k = 1; k < order.length; k++) {
    const [before, now] = [order[k - 1]!, order[k]!];
    if (!together(before, now, 1) || !alone(k - 1) || !alone(k)) continue;
    if (states[before]! >= 0 && states[now]! >= 0) counts[states[before]! * count + states[now]!]!++;
  }
  return counts;
}
