import { Fault } from '../errors.js';
import { compare, multiply, one, type Rational, rational, zero } from '../exact/rational.js';
import { columnNamed, isNumber } from '../policy/domain.js';
import { gridOf } from '../policy/grid.js';
import type { Column, NumberColumn, Policy } from '../policy/policy.js';
import { isSteady, rowsPerPerson, tableOf } from './rows-per-person.js';
import type { Feature, Part, PersonRows, View } from './view.js';

/** A column of a view: the one of which part it is. */
export interface ViewColumn {
  readonly name: string;
  readonly as: string;
  /** What it is called there. */
  readonly own: string;
  readonly column: Column;
}

/** Columns of all parts, each by its own name, or with that of its part where several have it. Those by which a part was found are the other's. */
export function columnsOfView(policy: Policy, { parts }: View): readonly ViewColumn[] {
  const all = parts.flatMap((part) => {
    const shared = new Set(part.on.filter(({ left, column }) => left.column === column).map(({ column }) => column));
    return [...columnsOfPart(policy, part)]
      .filter(([name]) => !shared.has(name))
      .map(([name, column]) => ({ as: part.as, name, column }));
  });
  // The unit says whose a row is.
  const times = new Map<string, number>([[folded(policy.protect.unit!), 1]]);
  for (const { name } of all) times.set(folded(name), (times.get(folded(name)) ?? 0) + 1);
  const named = all.map(({ as, name, column }) => {
    const own = times.get(folded(name)) === 1 ? name : `${as}.${name}`;
    const { public: _, ...declared } = column;
    return { as, own: name, name: own, column: { ...declared, name: own } as Column };
  });
  refuseOneName([policy.protect.unit!, ...named.map(({ name }) => name)]);
  return named;
}

/** Databases that take large letters for small ones would read one column for another, and what is proven of it would be said of the other. */
const folded = (name: string): string => name.toLowerCase();
function refuseOneName(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    const small = folded(name);
    if (seen.has(small) || small.startsWith(placeName))
      throw new Fault(
        'QUERY_UNSUPPORTED',
        seen.has(small)
          ? `Two columns of what is joined have one name: "${name}", large and small letters alike.`
          : `The name "${name}" is kept for what stands beside a column.`,
        'Give the table, or what is told of each person, another name: AS.',
      );
    seen.add(small);
  }
}
/** What names begin with that stand beside a column of a view. */
export const placeName = 'fugu_place_';

export function columnsOfPart(policy: Policy, part: Part): ReadonlyMap<string, Column> {
  if (part.rows.form === 'table') return tableOf(policy, part)?.columns ?? policy.columns;
  const { of, features } = part.rows;
  const inner = policyOfView(policy, of);
  return new Map(features.map((feature) => [feature.name, featureColumn(inner, feature)]));
}

/** What is declared of the rows of a view, in the form in which it is of the data: one more `fugu_data`. */
export function policyOfView(policy: Policy, view: View): Policy {
  const known = derived.get(policy)?.get(view);
  if (known) return known;
  const columns = columnsOfView(policy, view);
  const { merge: _, tables: __, ...rest } = policy;
  // Pairs are of the data's own columns: what is read of a view counts in full.
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

/** Bounds that no rows of one person leave, by what is declared of the column. */
function featureColumn(inner: Policy, feature: Feature): Column {
  const { name, how } = feature;
  const base = { name, missing: [] };
  const rows = rational(inner.protect.maxRows);
  if (how === 'count') return { ...base, type: 'integer', bounds: [zero, rows], step: one };
  const column = columnNamed(inner, feature.column);
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
  const number = numberIn(inner, feature.column, `The ${how} per person`);
  if (how !== 'sum') return { ...bare(number), name };
  const [low, high] = number.bounds;
  const { unit } = gridOf(number);
  const bounds = [multiply(rows, smaller(low, zero)), multiply(rows, larger(high, zero))] as const;
  return { ...base, type: unit.den === 1n ? 'integer' : 'number', bounds, step: unit };
}
const bare = ({ missing: _, bins: __, ...column }: NumberColumn): NumberColumn => ({ ...column, missing: [] });
const smaller = (a: Rational, b: Rational): Rational => (compare(a, b) <= 0 ? a : b);
const larger = (a: Rational, b: Rational): Rational => (compare(a, b) >= 0 ? a : b);

function numberIn(inner: Policy, name: string, what: string): NumberColumn {
  const column = columnNamed(inner, name);
  if (isNumber(column)) return column;
  throw new Fault('QUERY_INVALID', `${what} needs a number; column "${name}" is declared as ${column.type}.`, 'Name a number.');
}

/** Every person is one of the data: whether the parts say so already. */
export const namesPersons = ({ parts }: View): boolean =>
  parts.some(
    ({ rows, optional }) =>
      !optional && (rows.form === 'table' ? rows.table === undefined : namesPersons((rows as PersonRows).of)),
  );
