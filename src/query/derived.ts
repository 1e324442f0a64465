import { Fault } from '../base/errors.js';
import { add, divide, multiply, parseRational, type Rational, rational } from '../base/exact/rational.js';
import { codesOf, codeText } from '../policy/code.js';
import { columnNamed, isNumber } from '../policy/domain.js';
import { gridOf } from '../policy/grid.js';
import type { CategoryColumn, NumberColumn, Policy } from '../policy/policy.js';
import { type DatePart, dateParts, partOf, truncated } from './calendar.js';
import type { DerivedColumn, Whole } from './count/derived.js';
import { withDerived } from './count/derived.js';
import { columnsTested, type RowTest } from './count/row-test.js';
import { testOf } from './filter.js';
import type { Expression } from './form.js';
import type { Quantity } from './quantity.js';
import * as quantity from './quantity.js';

/** Value of an expression: a number with proven bounds, one of several labels, or none. */
type Worth =
  | { readonly kind: 'number'; readonly quantity: Quantity }
  | { readonly kind: 'label'; readonly place: Whole; readonly labels: readonly string[] }
  | { readonly kind: 'nothing' };

interface Deriving {
  /** The policy with the derived columns made so far. */
  policy(): Policy;
  /** Column that an expression names; a derived one is made first. */
  need(name: string): void;
}

const unsupported = (message: string, hint: string) => new Fault('QUERY_UNSUPPORTED', message, hint);

/** Derived columns of the queries, each after those it needs. One name has one meaning in a batch. */
export function derivedColumns(
  policy: Policy,
  queries: readonly { readonly derive?: Readonly<Record<string, Expression>> | undefined }[],
): readonly DerivedColumn[] {
  const asked = new Map<string, Expression>();
  for (const { derive } of queries)
    for (const [name, expression] of Object.entries(derive ?? {})) {
      const known = asked.get(name);
      if (policy.columns.has(name) || (known !== undefined && JSON.stringify(known) !== JSON.stringify(expression)))
        throw new Fault(
          'QUERY_INVALID',
          `"${name}" would mean two things: ${policy.columns.has(name) ? 'the policy declares a column of that name' : 'two queries derive it differently'}.`,
          'Give the derived column another name.',
        );
      asked.set(name, expression);
    }
  const made: DerivedColumn[] = [];
  const open = new Set<string>();
  const deriving: Deriving = {
    policy: () => withDerived(policy, made),
    need(name) {
      const expression = asked.get(name);
      if (expression === undefined || made.some((column) => column.name === name)) return;
      if (open.has(name))
        throw new Fault('QUERY_INVALID', `The derived column "${name}" is made of itself.`, 'Derive it from other columns.');
      open.add(name);
      const { of, column } = columnOf(name, worthOf(expression, deriving));
      const date = isNumber(column) && isDate(expression, deriving);
      const bases = basesIn(of, made);
      made.push({ name, of, column: weighing(policy, bases, date ? { ...column, date } : column), bases });
    },
  };
  for (const name of asked.keys()) deriving.need(name);
  return made;
}

/** A column derived from weights is a weight. */
function weighing(policy: Policy, bases: readonly string[], column: CategoryColumn | NumberColumn): DerivedColumn['column'] {
  const weights = bases.some((name) => policy.columns.get(name)?.type === 'weight');
  if (!weights || column.type === 'category') return column;
  const { name, bounds, step, missing } = column;
  if (bounds[0].num < 0n) throw unsupported(`The derived weight "${name}" could be below 0.`, 'Add so much that it cannot.');
  return { name, type: 'weight', bounds, step, missing };
}

/** Fewer values than this are each a group of their own. */
const mostGroups = 1_000;

function columnOf(name: string, worth: Worth): { readonly column: CategoryColumn | NumberColumn; readonly of: Whole } {
  if (worth.kind === 'nothing')
    throw new Fault(
      'QUERY_INVALID',
      `The derived column "${name}" has no value in any row.`,
      'Write a value after THEN or ELSE.',
    );
  if (worth.kind === 'label')
    return { column: { name, type: 'category', values: worth.labels, labels: new Map(), missing: [] }, of: worth.place };
  const { low, step, last, place } = quantity.gridded(name, worth.quantity);
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
      ...(last < mostGroups && { bins: Array.from({ length: Number(last) }, (_, p) => at(BigInt(p + 1))) }),
    },
  };
}

/** Names of the columns in an integer expression. */
function columnsIn(whole: Whole): readonly string[] {
  const names = new Set<string>();
  const see = (part: Whole): void => {
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
export const readsOf = ({ of }: DerivedColumn): readonly string[] => columnsIn(of);
/** The declared columns behind it. */
const basesIn = (whole: Whole, made: readonly DerivedColumn[]): readonly string[] =>
  [...new Set(columnsIn(whole).flatMap((name) => made.find((column) => column.name === name)?.bases ?? [name]))].sort();

function worthOf(expression: Expression, deriving: Deriving): Worth {
  if (typeof expression === 'number') return { kind: 'number', quantity: quantity.constant(parseRational(String(expression))) };
  if (typeof expression === 'string') return columnWorth(expression, deriving);
  if (expression === null) return { kind: 'nothing' };
  if ('text' in expression) return { kind: 'label', place: { kind: 'constant', value: 0 }, labels: [codeText(expression.text)] };
  if ('cases' in expression) return caseWorth(expression, deriving);
  const parts = expression.of.map((part) => numberOf(part, expression.op, deriving));
  if (expression.op === 'trunc')
    return { kind: 'label', ...truncated(dated(parts[0]!, expression, deriving), expression.to, mostGroups) };
  if (isDatePart(expression.op))
    return { kind: 'number', quantity: partOf(dated(parts[0]!, expression, deriving), expression.op) };
  return { kind: 'number', quantity: arithmetic(expression, parts) };
}

function columnWorth(name: string, deriving: Deriving): Worth {
  deriving.need(name);
  const column = columnNamed(deriving.policy(), name);
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

function numberOf(expression: Expression, op: string, deriving: Deriving): Quantity {
  const worth = worthOf(expression, deriving);
  if (worth.kind === 'number') return worth.quantity;
  throw unsupported(
    `${typeof expression === 'string' ? `Column "${expression}" holds codes, and` : 'A text'} cannot be calculated with ("${op}").`,
    'Declare the column as integer or number, or give its codes numbers: CASE grade WHEN 1 THEN 10 WHEN 2 THEN 20 END.',
  );
}

const isDatePart = (op: string): op is DatePart => dateParts.includes(op as DatePart);

/** Dates are numbers: a column is a date only if it is declared so, or is a date plus a number of days. */
function dated(days: Quantity, expression: Arithmetic, deriving: Deriving): Quantity {
  if (isDate(expression.of[0], deriving)) return days;
  throw new Fault(
    'QUERY_INVALID',
    `"${expression.op}" is a part of a date, and this is none.`,
    'Declare the column with type: date and bounds: [2020-01-01, 2024-12-31].',
  );
}
function isDate(expression: Expression, deriving: Deriving): boolean {
  if (typeof expression === 'string') {
    const column = columnNamed(deriving.policy(), expression);
    return isNumber(column) && column.date === true;
  }
  if (expression === null || typeof expression !== 'object' || !('op' in expression)) return false;
  const [a, b] = expression.of as readonly Expression[];
  if (expression.op === '+') return isDate(a!, deriving) !== isDate(b!, deriving);
  return expression.op === '-' && isDate(a!, deriving) && !isDate(b!, deriving);
}

type Arithmetic = Extract<Expression, { readonly op: string }>;
function arithmetic(expression: Arithmetic, [a, b]: readonly Quantity[]): Quantity {
  switch (expression.op) {
    case '+':
      return quantity.plus(a!, b!);
    case '-':
      return quantity.plus(a!, quantity.times(b!, rational(-1)));
    case '*':
      return quantity.product(a!, b!);
    case '/':
      return quantity.times(a!, divide(rational(1), constantIn(b!, '/')));
    case '%':
      return quantity.remainder(a!, constantIn(b!, '%'));
    case 'floor':
      return quantity.floor(a!);
    case 'ceil':
      return quantity.times(quantity.floor(quantity.times(a!, rational(-1))), rational(-1));
    case 'round':
      return quantity.round(a!, rational(10n ** BigInt(expression.digits ?? 0)));
    default:
      throw new RangeError('a part of a date is no arithmetic');
  }
}

function constantIn(b: Quantity, op: string): Rational {
  const value = quantity.constantOf(b);
  if (value && value.num !== 0n) return value;
  throw unsupported(
    `"${op}" needs a number other than 0 on its right side: what a row is divided by would have no bound.`,
    'Divide by a constant, or divide sums: SUM(a) / SUM(b).',
  );
}

function caseWorth({ cases, otherwise }: Extract<Expression, { readonly cases: unknown }>, deriving: Deriving): Worth {
  const tests = cases.map(({ when }): RowTest => {
    for (const name of namesIn(when)) deriving.need(name);
    return testOf(when, deriving.policy());
  });
  const worths = [...cases.map(({ value }) => value), ...(otherwise === undefined ? [] : [otherwise])].map((part) =>
    worthOf(part, deriving),
  );
  const choose = (values: readonly Whole[]): Whole => ({
    kind: 'choose',
    cases: tests.map((when, i) => ({ when, give: values[i]! })),
    otherwise: values[tests.length] ?? { kind: 'none' },
  });
  const kinds = new Set(worths.map(({ kind }) => kind));
  kinds.delete('nothing');
  if (kinds.size > 1)
    throw new Fault('QUERY_INVALID', 'The cases give texts and numbers.', "Write all of them as texts ('1') or all as numbers.");
  if (kinds.has('number')) {
    const { common, values } = quantity.together(worths.flatMap((w) => (w.kind === 'number' ? [w.quantity] : [])));
    const rest = [...values];
    const all = worths.map((w): Whole => (w.kind === 'number' ? rest.shift()! : { kind: 'none' }));
    return { kind: 'number', quantity: { ...common, of: choose(all) } };
  }
  const labels = [...new Set(worths.flatMap((w) => (w.kind === 'label' ? w.labels : [])))];
  const values = worths.map((w): Whole => (w.kind === 'label' ? relabelled(w, labels) : { kind: 'none' }));
  return labels.length === 0 ? { kind: 'nothing' } : { kind: 'label', place: choose(values), labels };
}

function relabelled({ place, labels }: Extract<Worth, { kind: 'label' }>, all: readonly string[]): Whole {
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
