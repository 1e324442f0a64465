/** An accuracy without privacy (or with a budget that hardly adds noise), checked: below the share of the largest class the experiment itself is wrong. */
export function aboveMajority(accuracy: number, truth: readonly boolean[], what: string): number {
  const positive = truth.filter(Boolean).length / truth.length;
  const majority = Math.max(positive, 1 - positive);
  if (accuracy > majority) return accuracy;
  const percent = (x: number) => `${(100 * x).toFixed(1)} %`;
  throw new Error(`${what}: ${percent(accuracy)} without privacy, ${percent(majority)} by always guessing the majority class.`);
}
