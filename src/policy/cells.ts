/** Number of cells of a table over these keys, cuts or axes. */
export const cellCount = (parts: readonly { readonly size: number }[]): number => parts.reduce((n, { size }) => n * size, 1);

/** Combinations of one item of each list, the last list fastest. */
export const combinations = <T>(lists: readonly (readonly T[])[]): readonly (readonly T[])[] =>
  lists.reduce<readonly (readonly T[])[]>((all, list) => all.flatMap((own) => list.map((item) => [...own, item])), [[]]);
