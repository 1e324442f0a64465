/** A counting query with joins, as written: `q(x, y, z) :- friend(x, y), friend(y, z), friend(z, x), x != y, y != z, z != x`. */
export interface Pattern {
  readonly name: string;
  /** Variables whose distinct bindings are counted; empty means every variable. */
  readonly head: readonly Variable[];
  readonly atoms: readonly Atom[];
  readonly comparisons: readonly Comparison[];
  /** `sum(a in 0..100) :- …` adds the clamped whole number instead of counting one. */
  readonly sum?: SumHead;
  /** Relations a `%symmetric` pragma declares undirected. */
  readonly symmetric: readonly string[];
}
export interface SumHead {
  readonly variable: Variable;
  readonly bounds?: readonly [bigint, bigint];
}

/** Lines and columns count from one. */
export interface Position {
  readonly line: number;
  readonly column: number;
}
export interface Variable {
  readonly kind: 'variable';
  readonly name: string;
  readonly at: Position;
}
export interface Constant {
  readonly kind: 'constant';
  /** As written; bind.ts turns it into a name. */
  readonly value: string;
  readonly type: 'text' | 'number';
  readonly at: Position;
}
export type Term = Variable | Constant;
export interface Atom {
  readonly relation: string;
  readonly terms: readonly Term[];
  readonly at: Position;
}
export type Comparator = '!=' | '<' | '<=' | '>' | '>=';
export interface Comparison {
  readonly left: Term;
  readonly op: Comparator;
  readonly right: Term;
  readonly at: Position;
}
