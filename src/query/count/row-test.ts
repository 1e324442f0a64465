/** A missing cell passes only the test for being missing. */
export type LeafTest =
  /** The code (or, with a separator, one of the codes) is (is not) among `codes`. */
  | { readonly kind: 'code'; readonly column: string; readonly codes: readonly string[]; readonly negate: boolean }
  /** The grid position lies (does not lie) in [from, to]. */
  | { readonly kind: 'range'; readonly column: string; readonly from: number; readonly to: number; readonly negate: boolean }
  | { readonly kind: 'missing'; readonly column: string; readonly negate: boolean };
/** No "not": in three-valued logic it moves down to the leaves, which carry their own negation, so trees are two-valued. */
export type RowTest = LeafTest | { readonly kind: 'any' | 'all'; readonly tests: readonly RowTest[] };

export interface Fold<T> {
  readonly leaf: (test: LeafTest) => T;
  readonly any: (parts: readonly T[]) => T;
  readonly all: (parts: readonly T[]) => T;
}
export function foldTest<T>(test: RowTest, fold: Fold<T>): T {
  if (isLeaf(test)) return fold.leaf(test);
  return fold[test.kind](test.tests.map((part) => foldTest(part, fold)));
}

export const isLeaf = (test: RowTest): test is LeafTest => test.kind !== 'any' && test.kind !== 'all';
export const leavesOf = (tests: readonly RowTest[]): readonly LeafTest[] =>
  tests.flatMap((test) => (isLeaf(test) ? [test] : leavesOf(test.tests)));
export const columnsTested = (tests: readonly RowTest[]): readonly string[] => [
  ...new Set(leavesOf(tests).map(({ column }) => column)),
];

/** The tests of one column, and the trees in which some leaf tests it. */
export const columnTests = (filter: readonly RowTest[], column: string) => ({
  tests: filter.filter((test) => isLeaf(test) && test.column === column) as LeafTest[],
  trees: filter.filter((test) => !isLeaf(test) && columnsTested([test]).includes(column)),
});

/** All rows that pass these tests have a usable value of the column: every leaf except "missing" needs one. */
export const impliesPresent = (tests: readonly RowTest[], column: string): boolean =>
  tests.some((test) =>
    foldTest(test, {
      leaf: (leaf) => leaf.column === column && (leaf.kind !== 'missing' || leaf.negate),
      any: (parts) => parts.length > 0 && parts.every(Boolean),
      all: (parts) => parts.some(Boolean),
    }),
  );

/** Result for a row of which it is known which leaves it passes. */
export const passesWhere = (test: RowTest, passes: (leaf: LeafTest) => boolean): boolean =>
  foldTest(test, { leaf: passes, any: (parts) => parts.some(Boolean), all: (parts) => parts.every(Boolean) });

/**
 * Some row may pass in which the column has a value that passes leaves by `passes`, whatever the other columns hold.
 * An upper bound: leaves of other columns may exclude one another.
 */
export const mayPass = (test: RowTest, column: string, passes: (leaf: LeafTest) => boolean): boolean =>
  passesWhere(test, (leaf) => leaf.column !== column || passes(leaf));

/** Predicate made of the predicates of the leaves. */
export const predicateOf = <T>(test: RowTest, leaf: (test: LeafTest) => (row: T) => boolean): ((row: T) => boolean) =>
  foldTest<(row: T) => boolean>(test, {
    leaf,
    any: (parts) => (row) => parts.some((part) => part(row)),
    all: (parts) => (row) => parts.every((part) => part(row)),
  });
