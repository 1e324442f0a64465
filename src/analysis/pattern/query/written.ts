import { Fault, type FaultCode } from '../../../base/errors.js';

/** A counting query with joins, as written: `q(x, y, z) :- friend(x, y), friend(y, z), friend(z, x), x != y, y != z, z != x`. */
export interface Pattern {
  readonly name: string;
  /** Variables whose distinct bindings are counted; empty means every variable. */
  readonly head: readonly PatternVariable[];
  readonly atoms: readonly Atom[];
  readonly comparisons: readonly PatternComparison[];
  /** `sum(a in 0..100) :- …` adds the clamped whole number instead of counting one. */
  readonly sum?: SumHead;
  /** Relations a `%symmetric` pragma declares undirected. */
  readonly symmetric: readonly string[];
}
export interface SumHead {
  readonly variable: PatternVariable;
  readonly bounds?: readonly [bigint, bigint];
}

/** Lines and columns count from one. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}
export interface PatternVariable {
  readonly kind: 'variable';
  readonly name: string;
  readonly at: TextPosition;
}
export interface PatternConstant {
  readonly kind: 'constant';
  /** As written; bind.ts turns it into a name. */
  readonly value: string;
  readonly type: 'text' | 'number';
  readonly at: TextPosition;
}
export type PatternTerm = PatternVariable | PatternConstant;
export const variableTerm = (name: string, at: TextPosition): PatternVariable => ({ kind: 'variable', name, at });
export const constantTerm = (value: string, type: PatternConstant['type'], at: TextPosition): PatternConstant => ({
  kind: 'constant',
  value,
  type,
  at,
});
export interface Atom {
  readonly relation: string;
  readonly terms: readonly PatternTerm[];
  readonly at: TextPosition;
}
export type Comparator = '!=' | '<' | '<=' | '>' | '>=';
/** Comparators by the signs that patterns and SQL have for them. */
export const comparators: Readonly<Record<string, Comparator>> = {
  '!=': '!=',
  '<>': '!=',
  '≠': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};
export interface PatternComparison {
  readonly left: PatternTerm;
  readonly op: Comparator;
  readonly right: PatternTerm;
  readonly at: TextPosition;
}

export const patternFault = (code: FaultCode, at: TextPosition, message: string, hint: string): Fault =>
  new Fault(code, `${message} (line ${at.line}, column ${at.column}).`, hint, {
    place: { file: 'pattern', line: at.line, column: at.column },
  });
