/** Transition shares with half a case added per transition (Krichevsky-Trofimov): unseen ones stay possible. */
export function transitionShares(counts: readonly number[], states: number): number[][] {
  return Array.from({ length: states }, (_, from) => {
    const cells = counts.slice(from * states, (from + 1) * states).map((n) => Math.max(0, n) + 0.5);
    const sum = cells.reduce((a, b) => a + b, 0);
    const row = cells.map((n) => n / sum);
    const most = row.indexOf(Math.max(...row));
    row[most]! += 1 - row.reduce((a, b) => a + b, 0);
    return row;
  });
}
