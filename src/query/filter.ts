import type { RowTest } from '../count/measure.js';
import { Fault } from '../errors.js';
import { parseRational, type Rational } from '../exact/rational.js';
import { codesOf } from '../policy/code.js';
import { columnNamed, declaredCode, isCoded } from '../policy/domain.js';
import { gridOf, positionsWhere } from '../policy/grid.js';
import type { Policy } from '../policy/policy.js';
import type { Condition } from './query.js';

function quantity(column: string, literal: string | number): Rational {
  try {
    return parseRational(String(literal));
  } catch {
    throw new Fault(
      'QUERY_INVALID',
      `The condition on number column "${column}" compares with something that is not a number.`,
      'Write a plain number such as 30 or 0.5.',
    );
  }
}

const codeOps = { '=': false, '!=': true, in: false, 'not in': true } as const;

/** A condition as SQL would take it: a missing cell passes none but "missing". Numbers are compared by grid position. */
function testsOf(condition: Condition, policy: Policy): RowTest[] {
  const column = columnNamed(policy, condition.column);
  if (!('value' in condition) && !('values' in condition))
    return [{ kind: 'missing', column: column.name, negate: condition.op === 'present' }];
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
    return [{ kind: 'code', column: column.name, codes, negate: negate && column.type === 'multi' }];
  }
  const grid = gridOf(column);
  const range = (op: '=' | '!=' | '<' | '<=' | '>' | '>=', literal: string | number): RowTest => ({
    kind: 'range',
    column: column.name,
    ...positionsWhere(grid, op, quantity(column.name, literal)),
  });
  if ('value' in condition) return [range(condition.op, condition.value)];
  if (condition.op === 'not in') return condition.values.map((value) => range('!=', value));
  if (condition.values.length === 1) return [range('=', condition.values[0]!)];
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `"in" with several values is not supported on number column "${column.name}".`,
    'Use a range (>= and <=), or declare the column as a category.',
  );
}

export const filterOf = (where: readonly Condition[] | undefined, policy: Policy): readonly RowTest[] =>
  tidy((where ?? []).flatMap((condition) => testsOf(condition, policy)));

/** Sorted, without repeats and without what other tests imply, so that two queries with one meaning share one measure. */
export function tidy(tests: readonly RowTest[]): readonly RowTest[] {
  const byText = new Map(tests.map((test) => [JSON.stringify(test), test]));
  const compared = new Set(tests.filter((test) => test.kind !== 'missing').map((test) => test.column));
  return [...byText]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, test]) => test)
    .filter((test) => !(test.kind === 'missing' && test.negate && compared.has(test.column)));
}

/** Only rows in which the column has a usable value. */
export const present = (column: string): RowTest => ({ kind: 'missing', column, negate: true });
