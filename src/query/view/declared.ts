import { Fault } from '../../base/errors.js';
import { compare, divide, multiply, negate, one, type Rational, rational, zero } from '../../base/exact/rational.js';
import { declaredColumn, isNumber } from '../../policy/domain.js';
import { gridOf } from '../../policy/grid.js';
import type { Column, NumberColumn, Policy } from '../../policy/policy.js';
import { isSteady, rowsPerPerson, tableOfPart } from './rows-per-person.js';
import type { PersonFeature, PersonRows, View, ViewPart } from './view.js';

/** Column of a view, with the part it comes from. */
export interface ViewColumn {
  readonly name: string;
  readonly as: string;
  /** Its name in that part. */
  readonly own: string;
  readonly column: Column;
  /** A join column whose name belongs to the column it is compared with. */
  readonly met?: true;
}

/**
 * Columns of all parts, prefixed by the part where a name repeats. A join column is merged with its counterpart where the two
 * cannot differ (required part, same declaration); elsewhere it keeps its part's prefix, since it may be missing.
 */
export function columnsOfView(policy: Policy, { parts }: View): readonly ViewColumn[] {
  const all = parts.flatMap((part) =>
    [...columnsOfPart(policy, part)].flatMap(([name, column]) => {
      const met = metBy(parts, part, name);
      const other = met && columnsOfPart(policy, met).get(name);
      if (other && !part.optional && sameDeclared(other, column)) return [];
      return [{ as: part.as, name, column, met: met !== undefined && (other !== undefined || part.optional) }];
    }),
  );
  // The unit is the person of a row, so its name is taken.
  const times = new Map<string, number>([[folded(policy.protect.unit!), 1]]);
  for (const { name, met } of all) if (!met) times.set(folded(name), (times.get(folded(name)) ?? 0) + 1);
  const named = all.map(({ as, name, column, met }): ViewColumn => {
    const own = !met && times.get(folded(name)) === 1 ? name : `${as}.${name}`;
    const { public: _, ...declared } = column;
    return { as, own: name, name: own, column: { ...declared, name: own } as Column, ...(met && { met }) };
  });
  refuseDuplicateName([policy.protect.unit!, ...named.map(({ name }) => name)]);
  return named;
}

/** The part before it in which a column of the same name is compared with this one. */
function metBy(parts: readonly ViewPart[], part: ViewPart, name: string): ViewPart | undefined {
  const met = part.on.find(({ left, column }) => column === name && left.column === name);
  return met && parts.find(({ as }) => as === met.left.as);
}
const sameDeclared = (a: Column, b: Column): boolean => declaredText(a) === declaredText(b);
const declaredText = ({ label: _, ...column }: Column): string => JSON.stringify(column, jsonValue);

/** Declarations as JSON: integers as text, maps as lists. */
export function jsonValue(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`;
  return value instanceof Map ? [...value] : value;
}

/** Column of a view for a part's column: its own, or the join column it was merged with. */
export function columnOfPart(columns: readonly ViewColumn[], { parts }: View, as: string, own: string): ViewColumn | undefined {
  const found = columns.find((column) => column.as === as && column.own === own);
  if (found) return found;
  const part = parts.find((other) => other.as === as);
  const met = part && metBy(parts, part, own);
  return met && columnOfPart(columns, { parts }, met.as, own);
}

/** Names equal up to case are refused: some databases would read one column for the other, and the bounds of the wrong one would hold. */
const folded = (name: string): string => name.toLowerCase();
function refuseDuplicateName(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    const small = folded(name);
    if (seen.has(small) || small.startsWith(placeName))
      throw new Fault(
        'QUERY_UNSUPPORTED',
        seen.has(small)
          ? `Two columns of what is joined have one name: "${name}", large and small letters alike.`
          : `The name "${name}" is kept for what stands beside a column.`,
        'Give the table, or the value per person, another name: AS.',
      );
    seen.add(small);
  }
}
/** Prefix of the names of place columns in a view. */
export const placeName = 'fugu_place_';

export function columnsOfPart(policy: Policy, part: ViewPart): ReadonlyMap<string, Column> {
  if (part.rows.form === 'table') return tableOfPart(policy, part)?.columns ?? policy.columns;
  const { of, features } = part.rows;
  const inner = policyOfView(policy, of);
  return new Map(features.map((feature) => [feature.name, featureColumn(inner, feature)]));
}

/** Policy for the rows of a view, as for the data: one more `fugu_data`. */
export function policyOfView(policy: Policy, view: View): Policy {
  const known = derived.get(policy)?.get(view);
  if (known) return known;
  const columns = columnsOfView(policy, view);
  const { merge: _, tables: __, ...rest } = policy;
  // Pairs hold for the data's own columns; columns of a view count with their full sensitivity.
  const { pairs: ___, ...protect } = policy.protect;
  const steady = new Set(view.parts.filter((part) => isSteady(policy, view, part)).map(({ as }) => as));
  const made: Policy = {
    ...rest,
    columns: new Map(columns.map(({ name, column }) => [name, column])),
    protect: { ...protect, maxRows: rowsPerPerson(policy, view) },
    view: { steady: new Set(columns.filter(({ as }) => steady.has(as)).map(({ name }) => name)) },
  };
  derived.set(policy, (derived.get(policy) ?? new WeakMap()).set(view, made));
  return made;
}
const derived = new WeakMap<Policy, WeakMap<View, Policy>>();

/** Bounds of a feature for any rows of one person, from the declaration of its column. */
function featureColumn(inner: Policy, feature: PersonFeature): Column {
  const { name, how } = feature;
  const base = { name, missing: [] };
  const rows = rational(inner.protect.maxRows);
  if (how === 'count') return { ...base, type: 'integer', bounds: [zero, rows], step: one };
  const column = declaredColumn(inner, feature.column);
  if (how === 'first' || how === 'last') numberIn(inner, feature.by, 'What comes first or last');
  if (how === 'first' || how === 'last' || how === 'usual') {
    if (column.type === 'category') return { ...column, name };
    if (how !== 'usual' && isNumber(column)) return { ...bare(column), name };
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `What is ${how} per person of "${column.name}" is not offered: it is declared as ${column.type}.`,
      how === 'usual' ? 'Ask it of a category.' : 'Ask it of a category or a number.',
    );
  }
  const number = numberIn(inner, feature.column, `The ${featureWords[how]} per person`);
  if (how === 'mean') return { ...bare(number), ...between(number, inner.protect.maxRows), name };
  if (how !== 'sum') return { ...bare(number), name };
  const [low, high] = number.bounds;
  const { unit } = gridOf(number);
  const bounds = [multiply(rows, smaller(low, zero)), multiply(rows, larger(high, zero))] as const;
  return { ...base, type: unit.den === 1n ? 'integer' : 'number', bounds, step: unit };
}
const featureWords = { sum: 'sum', mean: 'mean', least: 'smallest number', most: 'largest number' } as const;

/**
 * Step of a mean, which lies between the steps of its column: a thousandth of a step, or the finest with summable squares.
 * Dates keep their step.
 */
function between({ date, bounds: [low, high], step }: NumberColumn, rows: number): Partial<NumberColumn> {
  if (rows === 1 || date) return {};
  const farthest = larger(larger(high, negate(low)), zero);
  const finer = [1000, 100, 10]
    .map((parts) => divide(step, rational(parts)))
    .find((part) => compare(farthest, multiply(part, most)) <= 0);
  return finer ? { type: 'number', step: finer } : {};
}
/** Whole numbers up to here have squares of 60 bits. */
const most = rational(2n ** 30n);
const bare = ({ missing: _, bins: __, ...column }: NumberColumn): NumberColumn => ({ ...column, missing: [] });
const smaller = (a: Rational, b: Rational): Rational => (compare(a, b) <= 0 ? a : b);
const larger = (a: Rational, b: Rational): Rational => (compare(a, b) >= 0 ? a : b);

function numberIn(inner: Policy, name: string, what: string): NumberColumn {
  const column = declaredColumn(inner, name);
  if (isNumber(column)) return column;
  throw new Fault(
    'QUERY_INVALID',
    `${what} needs a number; column "${name}" is declared as ${column.type}.`,
    'Name a number. Of a category there are MODE(kind), ARG_MIN(kind, day) and ARG_MAX(kind, day).',
  );
}

/** Every person is one of the data: whether the parts say so already. */
export const namesPersons = ({ parts }: View): boolean =>
  parts.some(
    ({ rows, optional }) =>
      !optional && (rows.form === 'table' ? rows.table === undefined : namesPersons((rows as PersonRows).of)),
  );
