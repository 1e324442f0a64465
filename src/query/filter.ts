import { Fault } from '../base/errors.js';
import { parseRational, type Rational, rational } from '../base/exact/rational.js';
import { codesOf } from '../policy/code.js';
import { daysOf } from '../policy/date-text.js';
import { declaredCode, declaredColumn, isCoded } from '../policy/domain.js';
import { gridOf, positionsWhere } from '../policy/grid.js';
import type { NumberColumn, Policy, WeightColumn } from '../policy/policy.js';
import { isLeaf, type LeafTest, type RowTest } from './count/row-test.js';
import type { LeafCondition, RowCondition } from './form.js';

function literalValue(column: NumberColumn | WeightColumn, literal: string | number): Rational {
  if ('date' in column && column.date) {
    const days = typeof literal === 'string' ? daysOf(literal) : undefined;
    if (days !== undefined) return rational(days);
    throw new Fault(
      'QUERY_INVALID',
      `The condition on the date "${column.name}" compares with something that is no date.`,
      "Write year, month and day, in this order: '2024-12-31' (not 31.12.2024 or 12/31/2024), or so many days from one: DATE '2024-12-31' - INTERVAL '30 days'.",
    );
  }
  try {
    return parseRational(String(literal));
  } catch {
    throw new Fault(
      'QUERY_INVALID',
      `The condition on number column "${column.name}" compares with something that is not a number.`,
      'Write a plain number such as 30 or 0.5.',
    );
  }
}

const codeOps = { '=': false, '!=': true, in: false, 'not in': true } as const;

/** A condition as SQL would take it: a missing cell passes none but "missing". Numbers are compared by grid position. */
function leafTest(condition: LeafCondition, policy: Policy): RowTest {
  const column = declaredColumn(policy, condition.column);
  if (!('value' in condition) && !('values' in condition))
    return { kind: 'missing', column: column.name, negate: condition.op === 'present' };
  if (isCoded(column)) {
    if (!(condition.op in codeOps))
      throw new Fault(
        'QUERY_INVALID',
        `Column "${column.name}" holds codes, which have no order: "${condition.op}" cannot compare them.`,
        'Use =, !=, in or not in.',
      );
    const negate = codeOps[condition.op as keyof typeof codeOps];
    const literals = 'values' in condition ? condition.values : [condition.value];
    const named = new Set(literals.map((v) => declaredCode(column, v)));
    // "not these" of a category is "one of the others"; a multi-select row may name both, so there the negation stays.
    const codes = codesOf(column).filter((code) => named.has(code) !== (negate && column.type === 'category'));
    return { kind: 'code', column: column.name, codes, negate: negate && column.type === 'multi' };
  }
  const grid = gridOf(column);
  const range = (op: '=' | '!=' | '<' | '<=' | '>' | '>=', literal: string | number): LeafTest => ({
    kind: 'range',
    column: column.name,
    ...positionsWhere(grid, op, literalValue(column, literal)),
  });
  if ('value' in condition) return range(condition.op, condition.value);
  return condition.op === 'in'
    ? joinTests(
        'any',
        condition.values.map((value) => range('=', value)),
        policy,
      )
    : joinTests(
        'all',
        condition.values.map((value) => range('!=', value)),
        policy,
      );
}

/**
 * Negation in three-valued logic: passes where the test is false, not where it is unknown for a missing value.
 * For a category, membership in the other codes.
 */
function negated(test: RowTest, policy: Policy): RowTest {
  if (!isLeaf(test))
    return joinTests(
      test.kind === 'any' ? 'all' : 'any',
      test.tests.map((part) => negated(part, policy)),
      policy,
    );
  const column = declaredColumn(policy, test.column);
  if (test.kind === 'code' && column.type === 'category')
    return { ...test, codes: codesOf(column).filter((code) => !test.codes.includes(code)) };
  return { ...test, negate: !test.negate };
}

/**
 * Condition with "not" moved to the leaves (de Morgan's laws hold in three-valued logic), before tests are combined:
 * a test implied by another may be dropped where it must pass, but not where it must fail.
 */
export function testOf(condition: RowCondition, policy: Policy, denied = false): RowTest {
  if ('op' in condition) return denied ? negated(leafTest(condition, policy), policy) : leafTest(condition, policy);
  if ('not' in condition) return testOf(condition.not, policy, !denied);
  const [any, parts] = 'any' in condition ? ([true, condition.any] as const) : ([false, condition.all] as const);
  return joinTests(
    any === denied ? 'all' : 'any',
    parts.map((part) => testOf(part, policy, denied)),
    policy,
  );
}

/** Combines tests into one: parts of the same kind are flattened, tests of one column merged where possible, sorted and unique. */
function joinTests(kind: 'any' | 'all', tests: readonly RowTest[], policy: Policy): RowTest {
  const flat = tests.flatMap((test) => (test.kind === kind ? test.tests : [test]));
  const parts = kind === 'all' ? simplifyTests(flat) : sorted(mergeTests(flat, policy));
  return parts.length === 1 ? parts[0]! : { kind, tests: parts };
}

/** Alternatives on one column are merged: codes into one list, adjacent ranges into one range. */
function mergeTests(tests: readonly RowTest[], policy: Policy): readonly RowTest[] {
  const out: RowTest[] = [];
  for (const test of tests) {
    const at = out.findIndex((other) => isLeaf(other) && isLeaf(test) && mergeable(other, test));
    if (at < 0) out.push(test);
    else out[at] = merged(out[at] as LeafTest, test as LeafTest, policy);
  }
  return out;
}
const mergeable = (a: LeafTest, b: LeafTest): boolean =>
  a.column === b.column &&
  ((a.kind === 'code' && b.kind === 'code' && !a.negate && !b.negate) ||
    (a.kind === 'range' && b.kind === 'range' && !a.negate && !b.negate && a.from <= b.to + 1 && b.from <= a.to + 1));
function merged(a: LeafTest, b: LeafTest, policy: Policy): LeafTest {
  if (a.kind === 'range' && b.kind === 'range') return { ...a, from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) };
  const column = declaredColumn(policy, a.column);
  if (a.kind === 'code' && b.kind === 'code' && isCoded(column))
    return { ...a, codes: codesOf(column).filter((code) => a.codes.includes(code) || b.codes.includes(code)) };
  throw new RangeError('not mergeable');
}

export const filterOf = (where: readonly RowCondition[] | undefined, policy: Policy): readonly RowTest[] => {
  const tests = (where ?? []).map((condition) => testOf(condition, policy));
  return simplifyTests(tests.flatMap((test) => (test.kind === 'all' ? test.tests : [test])));
};

/** Sorted, without repeats and implied tests, so that two queries with one meaning share one measure. */
export function simplifyTests(tests: readonly RowTest[]): readonly RowTest[] {
  const compared = new Set(tests.flatMap((test) => (isLeaf(test) && test.kind !== 'missing' ? [test.column] : [])));
  return sorted(tests).filter((test) => !(test.kind === 'missing' && test.negate && compared.has(test.column)));
}
const sorted = (tests: readonly RowTest[]): readonly RowTest[] =>
  [...new Map(tests.map((test) => [JSON.stringify(test), test]))].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, test]) => test);

/** Only rows in which the column has a usable value. */
export const presenceTest = (column: string): LeafTest => ({ kind: 'missing', column, negate: true });
