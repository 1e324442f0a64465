import { Fault } from '../base/errors.js';
import type { Policy } from '../policy/policy.js';
import { didYouMean } from '../policy/suggest.js';
import { filterOf } from './filter.js';
import type { FromForm, JoinForm, PartForm } from './form.js';
import { columnsOfPart, policyOfView } from './view/declared.js';
import type { PersonFeature, View, ViewPart } from './view/view.js';

/** The data's own name in a query. */
export const dataTable = 'data';

/** View over which a query is computed; undefined where that is the data itself. Reads no data. */
export function viewOf(policy: Policy, from: FromForm | undefined): View | undefined {
  if (from === undefined) return undefined;
  const view = composeView(policy, from);
  const [only, more] = view.parts;
  if (!more && only!.rows.form === 'table' && only!.rows.table === undefined) return undefined;
  if (policy.protect.secret === 'person') return view;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `Joins and rows per person need the secret "person"; this policy protects a ${policy.protect.secret}.`,
    'Write protect: {secret: person, unit: id, maxRows: 1}, and declare the tables.',
  );
}

interface NamedPart extends Omit<ViewPart, 'on'> {
  readonly form: PartForm;
}
/** Equality of two columns in a join. */
interface ColumnEquality {
  readonly left: { readonly as: string; readonly column: string };
  readonly right: { readonly as: string; readonly column: string };
}

/** Policy for the rows of a query. */
export function policyOfQuery(policy: Policy, { from }: { readonly from?: FromForm | undefined }): Policy {
  const view = viewOf(policy, from);
  return view ? policyOfView(policy, view) : policy;
}

/** View of a FROM clause; also where that is the data itself. */
export function composeView(policy: Policy, from: FromForm): View {
  const { join: joins = [], ...first } = typeof from === 'string' ? { table: from } : from;
  const parts = [first, ...joins].map((form, i) => namedPart(policy, form, i > 0 && (form as JoinForm).optional === true));
  const twice = parts.find(({ as }, i) => parts.findIndex((other) => other.as.toLowerCase() === as.toLowerCase()) !== i);
  if (twice)
    throw new Fault('QUERY_INVALID', `Two parts are called "${twice.as}".`, 'Give one of them another name: "as": "other".');
  const same = joins.flatMap((join, i) => columnEqualities(policy, join, parts, i + 1));
  for (const { left, right } of same) refuseMixedPersons(policy, parts, left, right);
  refuseCrossPersonJoin(policy, parts, same);
  return {
    parts: joinOrder(
      policy,
      parts.map((part) => withOptionalParts(policy, parts, same, part)),
      same.filter((equal) => !isSamePerson(policy, parts, equal)),
    ),
  };
}

function namedPart(policy: Policy, form: PartForm, optional: boolean): NamedPart {
  if ((form.table === undefined) === (form.perPerson === undefined))
    throw new Fault('QUERY_INVALID', 'A part of "from" is a table, or perPerson.', 'Write {"table": "visits"}.');
  if (form.table !== undefined) {
    const own = form.table === dataTable ? undefined : form.table;
    if (own !== undefined && !policy.tables?.has(own))
      throw new Fault(
        'QUERY_INVALID',
        `The policy has no table "${own.slice(0, 80)}".`,
        didYouMean(own, [dataTable, ...(policy.tables?.keys() ?? [])], 'Tables'),
      );
    return { as: form.as ?? form.table, rows: { form: 'table', ...(own !== undefined && { table: own }) }, optional, form };
  }
  const { from, where = [], features } = form.perPerson!;
  const of = composeView(policy, from);
  const featureList = Object.entries(features).map(
    ([name, { kind, ...rest }]): PersonFeature => ({ name, how: kind, ...rest }) as PersonFeature,
  );
  return {
    as: form.as ?? 'person',
    rows: { form: 'perPerson', of, filter: filterOf(where, policyOfView(policy, of)), features: featureList },
    optional,
    form,
  };
}

const isPublic = (policy: Policy, { rows }: NamedPart): boolean =>
  rows.form === 'table' && rows.table !== undefined && policy.tables!.get(rows.table)!.public;

/** Names of the person column in a part. */
function unitsOf(policy: Policy, { rows }: NamedPart): readonly string[] {
  if (rows.form === 'table')
    return [rows.table === undefined ? policy.protect.unit : policy.tables!.get(rows.table)!.unit].filter((u) => u !== undefined);
  return [...new Set([policy.protect.unit!, ...[...(policy.tables?.values() ?? [])].flatMap((t) => t.unit ?? [])])];
}

/** Columns of a part that others may be joined to. */
function joinable(policy: Policy, part: NamedPart): ReadonlySet<string> {
  const { rows } = part;
  const table = rows.form === 'table' && rows.table !== undefined ? policy.tables!.get(rows.table)! : undefined;
  const own = table ? [...(table.key ?? []), ...table.links] : (policy.data.links ?? []);
  const names = rows.form === 'perPerson' ? [] : own;
  return new Set([...unitsOf(policy, part), ...names, ...columnsOfPart(policy, { ...part, on: [] }).keys()]);
}

function columnEqualities(policy: Policy, { on }: JoinForm, parts: readonly NamedPart[], at: number): readonly ColumnEquality[] {
  const part = parts[at]!;
  const before = parts.slice(0, at);
  const has = (of: NamedPart, column: string) => joinable(policy, of).has(column);
  const left = (text: string): ColumnEquality['left'] => {
    const split = before.map(({ as }) => as).find((as) => text.startsWith(`${as}.`));
    const column = split === undefined ? text : text.slice(split.length + 1);
    const found = before.filter((of) => (split === undefined || of.as === split) && has(of, column));
    if (found[0]) return { as: found[0].as, column };
    throw unknownJoinColumn(
      text,
      before.flatMap((of) => [...joinable(policy, of)]),
    );
  };
  const pairs = Array.isArray(on) ? on.map((column) => [column, column] as const) : Object.entries(on as Record<string, string>);
  return pairs.map(([text, column]) => {
    if (!has(part, column)) throw unknownJoinColumn(`${part.as}.${column}`, [...joinable(policy, part)]);
    return { left: left(text), right: { as: part.as, column } };
  });
}
const unknownJoinColumn = (text: string, known: readonly string[]): Fault =>
  new Fault(
    'COLUMN_UNKNOWN',
    `Rows cannot be joined by "${text.slice(0, 80)}": the policy does not say that there is such a column.`,
    `Declare it under links of its table. ${didYouMean(text, [...new Set(known)], 'Columns to join by')}`,
  );

const partNamed = (parts: readonly NamedPart[], as: string): NamedPart => parts.find((part) => part.as === as)!;
const isUnit = (policy: Policy, parts: readonly NamedPart[], { as, column }: ColumnEquality['left']): boolean =>
  unitsOf(policy, partNamed(parts, as)).includes(column);
/** Both columns are the person: required of every two parts that have persons. */
const isSamePerson = (policy: Policy, parts: readonly NamedPart[], { left, right }: ColumnEquality): boolean =>
  isUnit(policy, parts, left) && isUnit(policy, parts, right);

/** A part compared with the person of an optional part finds no partner for rows in which that part is missing. */
function withOptionalParts(
  policy: Policy,
  parts: readonly NamedPart[],
  same: readonly ColumnEquality[],
  part: NamedPart,
): NamedPart {
  const own = same.filter((equal) => equal.right.as === part.as && isSamePerson(policy, parts, equal));
  const names = [...new Set(own.map(({ left }) => left.as))].filter((as) => partNamed(parts, as).optional);
  return names.length > 0 ? { ...part, beside: names } : part;
}

/** A joined row would be about two persons: a person's contribution would depend on how often others name them. */
function refuseMixedPersons(
  policy: Policy,
  parts: readonly NamedPart[],
  left: ColumnEquality['left'],
  right: ColumnEquality['right'],
): void {
  const [a, b] = [left, right].map((end) => isUnit(policy, parts, end));
  const open = [left, right].some(({ as }) => isPublic(policy, partNamed(parts, as)));
  if (a !== b && !open)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `"${left.as}.${left.column}" and "${right.as}.${right.column}" would put rows of one person beside those of another.`,
      'Declare who names whom as a relation, and count with a pattern: fugu release --pattern.',
    );
}

/** Rows of persons are joined within one person only; any other join condition means something else in a database. */
function refuseCrossPersonJoin(policy: Policy, parts: readonly NamedPart[], same: readonly ColumnEquality[]): void {
  const of = parts.filter((part) => !isPublic(policy, part));
  const own = same.filter((equal) => isSamePerson(policy, parts, equal)).map(({ left, right }) => [left.as, right.as]);
  const found = of.slice(0, 1);
  for (const { as } of found)
    found.push(...of.filter((part) => !found.includes(part) && own.some((pair) => pair.includes(as) && pair.includes(part.as))));
  const [first] = of;
  const stranger = of.find((part) => !found.includes(part));
  if (!first || !stranger) return;
  const person = (part: NamedPart) => `${part.as}.${unitsOf(policy, part)[0]}`;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `"${first.as}" and "${stranger.as}" would be joined across persons.`,
    `For rows of the same person write ON ${person(first)} = ${person(stranger)} (AND …); pairs of persons are counted by a pattern: fugu release --pattern.`,
  );
}

/** Join order: persons first, then public tables, each after the part that finds it; as written where a join is optional. */
function joinOrder(policy: Policy, parts: readonly NamedPart[], same: readonly ColumnEquality[]): readonly ViewPart[] {
  const waiting = [...parts];
  const placed: ViewPart[] = [];
  const written = parts.some(({ optional }) => optional);
  while (waiting.length > 0) {
    const there = new Set(placed.map(({ as }) => as));
    const onOf = (part: NamedPart) =>
      same.flatMap(({ left, right }) => {
        if (right.as === part.as && there.has(left.as)) return [{ left, column: right.column }];
        return left.as === part.as && there.has(right.as) ? [{ left: right, column: left.column }] : [];
      });
    const ready = (part: NamedPart) => !isPublic(policy, part) || (placed.length > 0 && onOf(part).length > 0);
    const next = (written ? waiting.slice(0, 1) : waiting).find(ready);
    if (!next) throw publicAlone(waiting[0]!.as);
    const { form: _, ...part } = next;
    const on = onOf(next);
    refusePartialKey(
      policy,
      next,
      on.map(({ column }) => column),
    );
    placed.push({ ...part, on });
    waiting.splice(waiting.indexOf(next), 1);
  }
  return placed;
}

const publicAlone = (as: string): Fault =>
  new Fault(
    'QUERY_UNSUPPORTED',
    `The table "${as}" is public, and nothing says which rows of persons it belongs to.`,
    'Join it to a table of persons by its key; by itself it can be read without Fugu.',
  );

function refusePartialKey(policy: Policy, part: NamedPart, met: readonly string[]): void {
  if (!isPublic(policy, part) || part.rows.form !== 'table') return;
  const { key = [] } = policy.tables!.get(part.rows.table!)!;
  const rest = key.filter((column) => !met.includes(column));
  if (rest.length > 0)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Rows of "${part.as}" are found by ${key.join(' and ')}; ${rest.join(' and ')} is not said.`,
      `Join by the whole key: USING (${key.join(', ')}).`,
    );
}
