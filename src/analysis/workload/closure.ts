/** Sets of at most so many of a list, in its order: small ones first. */
export function subsetsUpTo<T>(list: readonly T[], most: number): T[][] {
  const sets: T[][] = [[]];
  // Every set extends the one without its last element: sets of one size are consecutive.
  const last = [-1];
  for (let k = 0; k < sets.length; k++)
    if (sets[k]!.length < most)
      for (let i = last[k]! + 1; i < list.length; i++) {
        sets.push([...sets[k]!, list[i]!]);
        last.push(i);
      }
  return sets;
}

export const subsets = <T>(list: readonly T[]): T[][] => subsetsUpTo(list, list.length);

/** Every table that is a marginal of one of these, themselves and the number of rows included: small ones first. */
export function downwardClosure(tables: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const found = new Map<string, readonly number[]>();
  for (const axes of tables) for (const set of subsets(axes)) found.set(set.join(), set);
  return [...found.values()].sort((a, b) => a.length - b.length || compareLists(a, b));
}
const compareLists = (a: readonly number[], b: readonly number[]): number => {
  const k = a.findIndex((x, i) => x !== b[i]);
  return k < 0 ? 0 : a[k]! - b[k]!;
};

/** Tables that are no marginal of another. */
export function maximalSets(tables: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const covered = new Set<string>();
  for (const axes of tables) for (const set of subsets(axes)) if (set.length < axes.length) covered.add(set.join());
  const seen = new Set<string>();
  return tables.filter((axes) => {
    const text = axes.join();
    if (covered.has(text) || seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}
