import { Fault } from '../errors.js';
import type { CategoryColumn, Column, MultiColumn, NumberColumn, Policy, WeightColumn } from '../policy/policy.js';

export const isCoded = (column: Column): column is CategoryColumn | MultiColumn =>
  column.type === 'category' || column.type === 'multi';
export const isNumber = (column: Column): column is NumberColumn => column.type === 'integer' || column.type === 'number';
export const isWeight = (column: Column): column is WeightColumn => column.type === 'weight';

/** Blanks around a code do not count, in the data as in the policy. */
export const trimCode = (text: string): string => text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');

/** The codes that count as answers. */
export function codesOf(column: CategoryColumn | MultiColumn): readonly string[] {
  const missing = new Set(column.missing.map(trimCode));
  return [...new Set(column.values.map(trimCode))].filter((code) => !missing.has(code));
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length]!;
}

/** The nearest name, when it is near enough to be a slip of the finger. */
export function nearest(asked: string, names: Iterable<string>): string | undefined {
  const lower = asked.toLowerCase().slice(0, 64);
  let best: { name: string; far: number } | undefined;
  for (const name of names) {
    const far = distance(lower, name.toLowerCase().slice(0, 64));
    if (far <= Math.max(1, Math.floor(lower.length / 3)) && (!best || far < best.far)) best = { name, far };
  }
  return best?.name;
}

export function columnNamed(policy: Policy, name: string): Column {
  const column = policy.columns.get(name);
  if (column) return column;
  const near = nearest(name, policy.columns.keys());
  const few = [...policy.columns.keys()].slice(0, 8).join(', ');
  throw new Fault(
    'COLUMN_UNKNOWN',
    `The policy declares no column "${name}".`,
    near ? `Did you mean "${near}"?` : `Declared columns: ${few}${policy.columns.size > 8 ? ', …' : ''}.`,
  );
}

const wrongType = (column: Column, wanted: string): Fault =>
  new Fault(
    'QUERY_INVALID',
    `Column "${column.name}" is declared as ${column.type}; this needs ${wanted}.`,
    'Change the query, or the type of the column in the policy.',
  );

export function numberNamed(policy: Policy, name: string): NumberColumn {
  const column = columnNamed(policy, name);
  if (!isNumber(column)) throw wrongType(column, 'a number (type integer or number)');
  return column;
}
export function codedNamed(policy: Policy, name: string): CategoryColumn | MultiColumn {
  const column = columnNamed(policy, name);
  if (!isCoded(column)) throw wrongType(column, 'codes (type category or multi)');
  return column;
}
export function weightNamed(policy: Policy, name: string): WeightColumn {
  const column = columnNamed(policy, name);
  if (!isWeight(column)) throw wrongType(column, 'a weight (type weight)');
  return column;
}

/** A code the query names must be in the declared domain. */
export function declaredCode(column: CategoryColumn | MultiColumn, literal: string | number): string {
  const code = trimCode(String(literal));
  const codes = codesOf(column);
  if (codes.includes(code)) return code;
  const near = nearest(code, codes);
  throw new Fault(
    'VALUE_UNKNOWN',
    `The value "${code}" is not in the declared domain of column "${column.name}".`,
    near ? `Did you mean "${near}"?` : `Use one of the declared codes, or op "missing".`,
  );
}
