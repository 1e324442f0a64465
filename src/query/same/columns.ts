import { declaredColumn } from '../../policy/domain.js';
import type { Policy } from '../../policy/policy.js';
import { type DerivedColumn, type IntegerExpression, withDerived } from '../count/derived.js';
import { columnsOfView, policyOfView } from '../view/declared.js';
import type { View, ViewPart } from '../view/view.js';
import { type CanonicalColumns, testsText } from './decision-diagram.js';
import { cachedHash, shortHash } from './short-hash.js';

/** Columns of the data, or of a view, identified by their declarations, not by the names a query uses for them. */
export function canonicalColumns(policy: Policy, view?: View): CanonicalColumns {
  if (!view) {
    const declared = (name: string) => declaredColumn(policy, name);
    return { ref: (name) => `${name} ${cachedHash(declared(name))}`, declared };
  }
  const seen = policyOfView(policy, view);
  const named = new Map(columnsOfView(policy, view).map((column) => [column.name, column]));
  const place = placesOf(policy, view);
  return {
    ref: (name) => {
      const found = named.get(name);
      return found ? place(found.as, found.own) : name;
    },
    declared: (name) => declaredColumn(seen, name),
  };
}

/** The same with derived columns, each identified by its expression and its domain. */
export function withDerivedColumns(
  columns: CanonicalColumns,
  derived: readonly DerivedColumn[] | undefined,
  policy: Policy,
): CanonicalColumns {
  if (!derived) return columns;
  const all = withDerived(policy, derived);
  const made = new Map<string, string>();
  const known: CanonicalColumns = {
    ref: (name) => made.get(name) ?? columns.ref(name),
    declared: (name) => (made.has(name) ? declaredColumn(all, name) : columns.declared(name)),
  };
  for (const { name, of, column } of derived) {
    const { name: _, ...domain } = column;
    made.set(name, shortHash(['made', wholeText(of, known), domain]));
  }
  return known;
}

/** Terms and factors are sorted, since their order does not matter. */
function wholeText(whole: IntegerExpression, columns: CanonicalColumns): string {
  const own = (part: IntegerExpression) => wholeText(part, columns);
  if (whole.kind === 'place') return shortHash(['place', columns.ref(whole.column)]);
  if (whole.kind === 'sum' || whole.kind === 'product') return shortHash([whole.kind, whole.of.map(own).sort()]);
  if (whole.kind === 'quotient') return shortHash(['quotient', own(whole.of), whole.by]);
  if (whole.kind === 'pick') return shortHash(['pick', own(whole.of), whole.edges, whole.values]);
  if (whole.kind !== 'choose') return shortHash(whole);
  const cases = whole.cases.map(({ when, give }) => [testsText([when], columns), own(give)]);
  return shortHash(['choose', cases, own(whole.otherwise)]);
}

/** Same text for views with the same rows: names of parts do not matter, nor the order of joins in which all rows find partners. */
export function viewText(policy: Policy, view: View): string {
  const order = orderOf(policy, view);
  const place = placesOf(policy, view);
  const at = (as: string) => order.findIndex((part) => part.as === as);
  const equal = order.flatMap((part, i) =>
    part.on.map(({ left, column }) => {
      const ends = [place(left.as, left.column), place(part.as, column)];
      return shortHash(part.optional ? [i, ...ends] : ends.sort());
    }),
  );
  return shortHash([
    order.map((part) => [rowsText(policy, part), part.optional, (part.beside ?? []).map(at).sort()]),
    [...new Set(equal)].sort(),
  ]);
}

function orderOf(policy: Policy, { parts }: View): readonly ViewPart[] {
  if (parts.some(({ optional }) => optional)) return parts;
  const texts = new Map(parts.map((part) => [part, rowsText(policy, part)]));
  return [...parts].sort((a, b) => Number(texts.get(a)! > texts.get(b)!) - Number(texts.get(a)! < texts.get(b)!));
}

const rowsText = (policy: Policy, { rows }: ViewPart): string => {
  if (rows.form === 'table') return shortHash(['table', rows.table ?? null]);
  return shortHash(['persons', viewText(policy, rows.of), testsText(rows.filter, canonicalColumns(policy, rows.of))]);
};

/** Column by the place of its part; a feature of a person by its definition. */
function placesOf(policy: Policy, view: View): (as: string, own: string) => string {
  const order = orderOf(policy, view);
  return (as, own) => {
    const at = order.findIndex((part) => part.as === as);
    const { rows } = order[at]!;
    const feature = rows.form === 'perPerson' ? rows.features.find(({ name }) => name === own) : undefined;
    if (rows.form === 'table' || !feature) return shortHash([at, own]);
    const inner = canonicalColumns(policy, rows.of);
    const read = 'column' in feature ? [feature.column, ...('by' in feature ? [feature.by] : [])] : [];
    return shortHash([at, feature.how, read.map((name) => inner.ref(name))]);
  };
}
