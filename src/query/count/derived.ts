import { codesOf } from '../../policy/code.js';
import { declaredColumn, isCoded } from '../../policy/domain.js';
import { gridOf } from '../../policy/grid.js';
import { blockAt } from '../../policy/pairs/pairs.js';
import type { CategoryColumn, Column, NumberColumn, Policy, WeightColumn } from '../../policy/policy.js';
import type { Counting } from './measure.js';
import { type LeafTest, predicateOf, type RowTest } from './row-test.js';

/**
 * Column computed row by row from declared ones; its domain and place follow from theirs (derived.proof.md).
 * SQL and the streaming count evaluate the same integer expression.
 */
export interface DerivedColumn {
  readonly name: string;
  /** Its domain, as if it had been declared. */
  readonly column: CategoryColumn | NumberColumn | WeightColumn;
  /** Its place: from 0 to the last of the domain, or none. */
  readonly of: IntegerExpression;
  /** The declared columns that it reads. */
  readonly bases: readonly string[];
}
/** Integer computed from a row, or none. Neither it nor any intermediate value leaves 52 bits, whatever the row holds. */
export type IntegerExpression =
  /** The place of a column: of its code, or on its grid. */
  | { readonly kind: 'place'; readonly column: string }
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'sum'; readonly of: readonly IntegerExpression[] }
  | { readonly kind: 'product'; readonly of: readonly [IntegerExpression, IntegerExpression] }
  /** Integer quotient of a number of at least 0 by `by`, which is above 0. */
  | { readonly kind: 'quotient'; readonly of: IntegerExpression; readonly by: number }
  /** values[number of rising edges that are reached]. */
  | {
      readonly kind: 'pick';
      readonly of: IntegerExpression;
      readonly edges: readonly number[];
      readonly values: readonly number[];
    }
  | {
      readonly kind: 'choose';
      readonly cases: readonly { readonly when: RowTest; readonly give: IntegerExpression }[];
      readonly otherwise: IntegerExpression;
    };

/** Policy with the derived columns added. The kept rows of a person depend on declared columns only. */
export function withDerived(policy: Policy, derived: readonly DerivedColumn[] | undefined): Policy {
  const more = (derived ?? []).filter(({ name, column }) => policy.columns.get(name) !== column);
  if (more.length === 0) return policy;
  const known = derivedPolicies.get(policy) ?? new WeakMap<Column, Policy>();
  derivedPolicies.set(policy, known);
  // Columns of the same name and expression may have different bounds, so policies are shared only for identical columns.
  const { column: last } = more.at(-1)!;
  const before = known.get(last);
  const columns = new Map<string, Column>([...policy.columns, ...more.map(({ name, column }) => [name, column] as const)]);
  if (before?.columns.size === columns.size && more.every(({ name, column }) => before.columns.get(name) === column))
    return before;
  const made = { ...policy, columns };
  known.set(last, made);
  return made;
}
const derivedPolicies = new WeakMap<Policy, WeakMap<Column, Policy>>();

/** The derived columns of several countings, each once and after those that it needs. */
export const derivedIn = (measures: readonly { readonly counting: Pick<Counting, 'derived'> }[]): readonly DerivedColumn[] => [
  ...new Map(measures.flatMap(({ counting }) => counting.derived ?? []).map((column) => [column.name, column])).values(),
];

/** Place of a row's value in a column; -1 for none. */
export type ReadPlace = (column: string) => (row: number) => number;
export type PassTest = (test: RowTest) => (row: number) => boolean;

/** The last place of a column that has one place in a row. */
export const lastPlace = (column: DerivedColumn['column']): number =>
  isCoded(column) ? codesOf(column).length - 1 : gridOf(column).last;

/** Place of a row in a derived column; -1 for none. A value outside the domain has none, so the sensitivities hold by construction. */
export function derivedPlace({ of, column }: DerivedColumn, read: ReadPlace, pass: PassTest): (row: number) => number {
  const [whole, last] = [integerOfRow(of, read, pass), lastPlace(column)];
  return (row) => {
    const n = whole(row);
    return n >= 0 && n <= last ? n : -1;
  };
}

/** The whole number of a row; NaN for none. */
function integerOfRow(whole: IntegerExpression, read: ReadPlace, pass: PassTest): (row: number) => number {
  const own = (part: IntegerExpression) => integerOfRow(part, read, pass);
  switch (whole.kind) {
    case 'place': {
      const at = read(whole.column);
      return (row) => {
        const place = at(row);
        return place < 0 ? Number.NaN : place;
      };
    }
    case 'constant':
      return () => whole.value;
    case 'none':
      return () => Number.NaN;
    case 'sum': {
      const parts = whole.of.map(own);
      return (row) => parts.reduce((sum, part) => sum + part(row), 0);
    }
    case 'product': {
      const [a, b] = [own(whole.of[0]), own(whole.of[1])];
      return (row) => a(row) * b(row);
    }
    case 'quotient': {
      const of = own(whole.of);
      return (row) => Math.floor(of(row) / whole.by);
    }
    case 'pick': {
      const of = own(whole.of);
      return (row) => {
        const n = of(row);
        return Number.isNaN(n) ? n : whole.values[blockAt(whole.edges, n)]!;
      };
    }
    case 'choose': {
      const cases = whole.cases.map(({ when, give }) => [pass(when), own(give)] as const);
      const otherwise = own(whole.otherwise);
      return (row) => (cases.find(([passes]) => passes(row))?.[1] ?? otherwise)(row);
    }
  }
}

/** Predicate on the places of a column with one place per row. */
export function placePasses(column: Column, leaf: LeafTest): (place: number) => boolean {
  if (leaf.kind === 'missing') return (place) => place < 0 !== leaf.negate;
  if (leaf.kind === 'range') return (place) => place >= 0 && (place >= leaf.from && place <= leaf.to) !== leaf.negate;
  const codes = new Set(leaf.codes);
  const wanted = isCoded(column) ? codesOf(column).map((code) => codes.has(code) !== leaf.negate) : [];
  return (place) => place >= 0 && wanted[place]!;
}

/** Predicate for rows whose only value is place p of column `base`; undefined where the test reads other columns as well. */
export function passesAt(policy: Policy, derived: readonly DerivedColumn[], leaf: LeafTest, base: string) {
  const own = derived.find(({ name }) => name === leaf.column);
  if (own?.bases.length !== 1 || own.bases[0] !== base || declaredColumn(policy, base).type === 'multi') return undefined;
  const all = withDerived(policy, derived);
  const read: ReadPlace = (name) => {
    const other = derived.find((d) => d.name === name);
    return other ? derivedPlace(other, read, pass) : (place) => place;
  };
  const pass: PassTest = (test) =>
    predicateOf(test, (part) => {
      const [at, passes] = [read(part.column), placePasses(declaredColumn(all, part.column), part)];
      return (place) => passes(at(place));
    });
  return pass(leaf);
}
