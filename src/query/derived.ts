import { Fault } from '../base/errors.js';
import { add, divide, multiply, parseRational, type Rational, rational } from '../base/exact/rational.js';
import { codesOf, codeText } from '../policy/code.js';
import { declaredColumn, isNumber } from '../policy/domain.js';
import { gridOf } from '../policy/grid.js';
import type { CategoryColumn, NumberColumn, Policy } from '../policy/policy.js';
import { type DatePart, dateParts, extractDatePart, truncateDate } from './calendar.js';
import type { DerivedColumn, IntegerExpression } from './count/derived.js';
import { withDerived } from './count/derived.js';
import { columnsTested, type RowTest } from './count/row-test.js';
import { testOf } from './filter.js';
import type { Expression } from './form.js';
import type { Quantity } from './quantity.js';
import * as quantity from './quantity.js';

/** Value of an expression: a number with proven bounds, one of several labels, or none. */
type ExpressionValue =
  | { readonly kind: 'number'; readonly quantity: Quantity }
  | { readonly kind: 'label'; readonly place: IntegerExpression; readonly labels: readonly string[] }
  | { readonly kind: 'nothing' };

interface DerivationContext {
  /** The policy with the derived columns made so far. */
  policy(): Policy;
  /** Column that an expression names; a derived one is made first. */
  require(name: string): void;
}

const unsupported = (message: string, hint: string) => new Fault('QUERY_UNSUPPORTED', message, hint);

/** Derived columns of the queries, each after those it needs. One name has one meaning in a batch. */
export function derivedColumns(
  policy: Policy,
  queries: readonly { readonly derive?: Readonly<Record<string, Expression>> | undefined }[],
): readonly DerivedColumn[] {
  const definitions = new Map<string, Expression>();
  for (const { derive } of queries)
    for (const [name, expression] of Object.entries(derive ?? {})) {
      const known = definitions.get(name);
      if (policy.columns.has(name) || (known !== undefined && JSON.stringify(known) !== JSON.stringify(expression)))
        throw new Fault(
          'QUERY_INVALID',
          `"${name}" would mean two things: ${policy.columns.has(name) ? 'the policy declares a column of that name' : 'two queries derive it differently'}.`,
          'Give the derived column another name.',
        );
      definitions.set(name, expression);
    }
  const made: DerivedColumn[] = [];
  const open = new Set<string>();
  const context: DerivationContext = {
    policy: () => withDerived(policy, made),
    require(name) {
      const expression = definitions.get(name);
      if (expression === undefined || made.some((column) => column.name === name)) return;
      if (open.has(name))
        throw new Fault('QUERY_INVALID', `The derived column "${name}" is made of itself.`, 'Derive it from other columns.');
      open.add(name);
      const { of, column } = columnOf(name, expressionValue(expression, context));
      const date = isNumber(column) && isDate(expression, context);
      const bases = basesIn(of, made);
      made.push({ name, of, column: asWeight(policy, bases, date ? { ...column, date } : column), bases });
    },
  };
  for (const name of definitions.keys()) context.require(name);
  return made;
}

/** A column derived from weights is a weight. */
function asWeight(policy: Policy, bases: readonly string[], column: CategoryColumn | NumberColumn): DerivedColumn['column'] {
  const weights = bases.some((name) => policy.columns.get(name)?.type === 'weight');
  if (!weights || column.type === 'category') return column;
  const { name, bounds, step, missing } = column;
  if (bounds[0].num < 0n) throw unsupported(`The derived weight "${name}" could be below 0.`, 'Add so much that it cannot.');
  return { name, type: 'weight', bounds, step, missing };
}

/** Fewer values than this are each a group of their own. */
const maxGroups = 1_000;

function columnOf(
  name: string,
  operand: ExpressionValue,
): { readonly column: CategoryColumn | NumberColumn; readonly of: IntegerExpression } {
  if (operand.kind === 'nothing')
    throw new Fault(
      'QUERY_INVALID',
      `The derived column "${name}" has no value in any row.`,
      'Write a value after THEN or ELSE.',
    );
  if (operand.kind === 'label')
    return { column: { name, type: 'category', values: operand.labels, labels: new Map(), missing: [] }, of: operand.place };
  const { low, step, last, place } = quantity.quantityOnGrid(name, operand.quantity);
  const at = (p: bigint) => add(low, multiply(step, rational(p)));
  const whole = step.num === step.den && low.den === 1n;
  return {
    of: place,
    column: {
      name,
      type: whole ? 'integer' : 'number',
      bounds: [low, at(last)],
      step,
      missing: [],
      ...(last < maxGroups && { bins: Array.from({ length: Number(last) }, (_, p) => at(BigInt(p + 1))) }),
    },
  };
}

/** Names of the columns in an integer expression. */
function columnsIn(whole: IntegerExpression): readonly string[] {
  const names = new Set<string>();
  const see = (part: IntegerExpression): void => {
    if (part.kind === 'place') names.add(part.column);
    if (part.kind === 'sum' || part.kind === 'product') part.of.forEach(see);
    if (part.kind === 'quotient' || part.kind === 'pick') see(part.of);
    if (part.kind !== 'choose') return;
    for (const { when, give } of part.cases) {
      for (const column of columnsTested([when])) names.add(column);
      see(give);
    }
    see(part.otherwise);
  };
  see(whole);
  return [...names];
}
/** The columns a derived one reads, derived ones as such. */
export const inputsOf = ({ of }: DerivedColumn): readonly string[] => columnsIn(of);
/** The declared columns behind it. */
const basesIn = (whole: IntegerExpression, made: readonly DerivedColumn[]): readonly string[] =>
  [...new Set(columnsIn(whole).flatMap((name) => made.find((column) => column.name === name)?.bases ?? [name]))].sort();

function expressionValue(expression: Expression, context: DerivationContext): ExpressionValue {
  if (typeof expression === 'number')
    return { kind: 'number', quantity: quantity.constantQuantity(parseRational(String(expression))) };
  if (typeof expression === 'string') return columnValue(expression, context);
  if (expression === null) return { kind: 'nothing' };
  if ('text' in expression) return { kind: 'label', place: { kind: 'constant', value: 0 }, labels: [codeText(expression.text)] };
  if ('cases' in expression) return caseValue(expression, context);
  const parts = expression.of.map((part) => numberOf(part, expression.op, context));
  if (expression.op === 'trunc')
    return { kind: 'label', ...truncateDate(dateOperand(parts[0]!, expression, context), expression.to, maxGroups) };
  if (isDatePart(expression.op))
    return { kind: 'number', quantity: extractDatePart(dateOperand(parts[0]!, expression, context), expression.op) };
  return { kind: 'number', quantity: arithmetic(expression, parts) };
}

function columnValue(name: string, context: DerivationContext): ExpressionValue {
  context.require(name);
  const column = declaredColumn(context.policy(), name);
  if (column.type === 'category') return { kind: 'label', place: { kind: 'place', column: name }, labels: codesOf(column) };
  if (!isNumber(column) && column.type !== 'weight')
    throw unsupported(
      `Column "${name}" is declared as ${column.type}, of which no column can be derived.`,
      'Use it in conditions, or as "weight".',
    );
  const { low, step, last } = gridOf(column);
  return {
    kind: 'number',
    quantity: { of: { kind: 'place', column: name }, offset: low, scale: step, low: 0n, high: BigInt(last) },
  };
}

function numberOf(expression: Expression, op: string, context: DerivationContext): Quantity {
  const operand = expressionValue(expression, context);
  if (operand.kind === 'number') return operand.quantity;
  throw unsupported(
    `${typeof expression === 'string' ? `Column "${expression}" holds codes, and` : 'A text'} cannot be calculated with ("${op}").`,
    'Declare the column as integer or number, or give its codes numbers: CASE grade WHEN 1 THEN 10 WHEN 2 THEN 20 END.',
  );
}

const isDatePart = (op: string): op is DatePart => dateParts.includes(op as DatePart);

/** Dates are numbers: a column is a date only if it is declared so, or is a date plus a number of days. */
function dateOperand(days: Quantity, expression: Arithmetic, context: DerivationContext): Quantity {
  if (isDate(expression.of[0], context)) return days;
  throw new Fault(
    'QUERY_INVALID',
    `"${expression.op}" is a part of a date, and this is none.`,
    'Declare the column with type: date and bounds: [2020-01-01, 2024-12-31].',
  );
}
function isDate(expression: Expression, context: DerivationContext): boolean {
  if (typeof expression === 'string') {
    const column = declaredColumn(context.policy(), expression);
    return isNumber(column) && column.date === true;
  }
  if (expression === null || typeof expression !== 'object' || !('op' in expression)) return false;
  const [a, b] = expression.of as readonly Expression[];
  if (expression.op === '+') return isDate(a!, context) !== isDate(b!, context);
  return expression.op === '-' && isDate(a!, context) && !isDate(b!, context);
}

type Arithmetic = Extract<Expression, { readonly op: string }>;
function arithmetic(expression: Arithmetic, [a, b]: readonly Quantity[]): Quantity {
  switch (expression.op) {
    case '+':
      return quantity.addQuantities(a!, b!);
    case '-':
      return quantity.addQuantities(a!, quantity.scaleQuantity(b!, rational(-1)));
    case '*':
      return quantity.multiplyQuantities(a!, b!);
    case '/':
      return quantity.scaleQuantity(a!, divide(rational(1), constantIn(b!, '/')));
    case '%':
      return quantity.remainderQuantity(a!, constantIn(b!, '%'));
    case 'floor':
      return quantity.floorQuantity(a!);
    case 'ceil':
      return quantity.scaleQuantity(quantity.floorQuantity(quantity.scaleQuantity(a!, rational(-1))), rational(-1));
    case 'round':
      return quantity.roundQuantity(a!, rational(10n ** BigInt(expression.digits ?? 0)));
    default:
      throw new RangeError('a part of a date is no arithmetic');
  }
}

function constantIn(b: Quantity, op: string): Rational {
  const value = quantity.constantValue(b);
  if (value && value.num !== 0n) return value;
  throw unsupported(
    `"${op}" needs a number other than 0 on its right side: what a row is divided by would have no bound.`,
    'Divide by a constant, or divide sums: SUM(a) / SUM(b).',
  );
}

function caseValue(
  { cases, otherwise }: Extract<Expression, { readonly cases: unknown }>,
  context: DerivationContext,
): ExpressionValue {
  const tests = cases.map(({ when }): RowTest => {
    for (const name of namesIn(when)) context.require(name);
    return testOf(when, context.policy());
  });
  const operands = [...cases.map(({ value }) => value), ...(otherwise === undefined ? [] : [otherwise])].map((part) =>
    expressionValue(part, context),
  );
  const choose = (values: readonly IntegerExpression[]): IntegerExpression => ({
    kind: 'choose',
    cases: tests.map((when, i) => ({ when, give: values[i]! })),
    otherwise: values[tests.length] ?? { kind: 'none' },
  });
  const kinds = new Set(operands.map(({ kind }) => kind));
  kinds.delete('nothing');
  if (kinds.size > 1)
    throw new Fault('QUERY_INVALID', 'The cases give texts and numbers.', "Write all of them as texts ('1') or all as numbers.");
  if (kinds.has('number')) {
    const { common, values } = quantity.withCommonUnits(operands.flatMap((w) => (w.kind === 'number' ? [w.quantity] : [])));
    const rest = [...values];
    const all = operands.map((w): IntegerExpression => (w.kind === 'number' ? rest.shift()! : { kind: 'none' }));
    return { kind: 'number', quantity: { ...common, of: choose(all) } };
  }
  const labels = [...new Set(operands.flatMap((w) => (w.kind === 'label' ? w.labels : [])))];
  const values = operands.map((w): IntegerExpression => (w.kind === 'label' ? relabelled(w, labels) : { kind: 'none' }));
  return labels.length === 0 ? { kind: 'nothing' } : { kind: 'label', place: choose(values), labels };
}

function relabelled({ place, labels }: Extract<ExpressionValue, { kind: 'label' }>, all: readonly string[]): IntegerExpression {
  const values = labels.map((label) => all.indexOf(label));
  if (values.every((value, i) => value === i)) return place;
  if (place.kind === 'constant') return { kind: 'constant', value: values[place.value]! };
  return { kind: 'pick', of: place, edges: values.slice(1).map((_, i) => i + 1), values };
}

function namesIn(condition: Extract<Expression, { readonly cases: unknown }>['cases'][number]['when']): readonly string[] {
  if ('column' in condition) return [condition.column];
  if ('not' in condition) return namesIn(condition.not);
  return ('any' in condition ? condition.any : condition.all).flatMap(namesIn);
}
