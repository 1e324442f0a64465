import { Fault } from '../base/errors.js';
import { codesOf, codeText, missingLabel } from './code.js';
import type { CategoryColumn, Column, MultiColumn, NumberColumn, Policy, WeightColumn } from './policy.js';
import { didYouMean } from './suggest.js';

export const isCoded = (column: Column): column is CategoryColumn | MultiColumn =>
  column.type === 'category' || column.type === 'multi';
export const isNumber = (column: Column): column is NumberColumn => column.type === 'integer' || column.type === 'number';
export const isWeight = (column: Column): column is WeightColumn => column.type === 'weight';

export function declaredColumn(policy: Policy, name: string): Column {
  const column = policy.columns.get(name);
  if (column) return column;
  throw new Fault(
    'COLUMN_UNKNOWN',
    `The policy declares no column "${name}".`,
    didYouMean(name, [...policy.columns.keys()], 'Declared columns'),
  );
}

const wrongType = (column: Column, wanted: string): Fault =>
  new Fault(
    'QUERY_INVALID',
    column.type === 'weight'
      ? `"${column.name}" is a weight, or computed from one; this needs ${wanted}.`
      : `Column "${column.name}" is declared as ${'date' in column ? 'date' : column.type}; this needs ${wanted}.`,
    column.type === 'weight'
      ? 'A weight is named beside what it weighs: {"kind": "mean", "column": "age", "weight": "w"}.'
      : 'Change the query, or the type of the column in the policy.',
  );

export function declaredNumber(policy: Policy, name: string): NumberColumn {
  const column = declaredColumn(policy, name);
  if (!isNumber(column)) throw wrongType(column, 'a number (type integer or number)');
  return column;
}
export function declaredCoded(policy: Policy, name: string): CategoryColumn | MultiColumn {
  const column = declaredColumn(policy, name);
  if (!isCoded(column)) throw wrongType(column, 'codes (type category or multi)');
  return column;
}
export function declaredCategory(policy: Policy, name: string): CategoryColumn {
  const column = declaredColumn(policy, name);
  if (column.type !== 'category') throw wrongType(column, 'fixed answers (type category)');
  return column;
}
export function declaredWeight(policy: Policy, name: string): WeightColumn {
  const column = declaredColumn(policy, name);
  if (!isWeight(column)) throw wrongType(column, 'a weight (type weight)');
  return column;
}

/** A code the query names must be in the declared domain. */
export function declaredCode(column: CategoryColumn | MultiColumn, literal: string | number): string {
  const code = codeText(String(literal));
  const codes = codesOf(column);
  if (codes.includes(code)) return code;
  const labelled = codes.find((known) => column.labels.get(known)?.toLowerCase() === code.toLowerCase());
  throw new Fault(
    'VALUE_UNKNOWN',
    `The value "${code}" is not in the declared domain of column "${column.name}".`,
    labelled === undefined
      ? didYouMean(code, codes, 'Declared codes')
      : `"${code}" is what the code ${labelled} means: write ${labelled}.`,
  );
}

/** The levels a category is counted and shown by: each code by itself, pooled ones together in the place of the first. */
export function levelsOf(column: CategoryColumn): readonly (readonly string[])[] {
  const pools = new Map(column.pools?.flatMap((pool) => pool.map((code) => [code, pool] as const)));
  const codes = codesOf(column);
  return codes.flatMap((code) => {
    const pool = pools.get(code);
    if (!pool) return [[code]];
    const together = codes.filter((other) => pool.includes(other));
    return together[0] === code ? [together] : [];
  });
}
export const levelLabel = (level: readonly string[]): string => level.join(' or ');
/** The same with what each is called, then missing. */
export function shownLevels(column: CategoryColumn): {
  readonly groups: readonly (readonly string[])[];
  readonly labels: readonly string[];
} {
  const groups = levelsOf(column);
  return { groups, labels: [...groups.map(levelLabel), missingLabel] };
}

/** Number of cells of a table over these keys, cuts or axes. */
export const cellCount = (parts: readonly { readonly size: number }[]): number => parts.reduce((n, { size }) => n * size, 1);

/** Combinations of one item of each list, the last list fastest. */
export const combinations = <T>(lists: readonly (readonly T[])[]): readonly (readonly T[])[] =>
  lists.reduce<readonly (readonly T[])[]>((all, list) => all.flatMap((own) => list.map((item) => [...own, item])), [[]]);
