import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import { didYouMean } from '../../policy/suggest.js';
import type { FromForm } from '../form.js';
import { composeView } from '../from.js';
import { columnOfPart, columnsOfView } from '../view/declared.js';
import { tableOfPart } from '../view/rows-per-person.js';
import type { ViewPart } from '../view/view.js';
import { declaredSpelling, type SqlText } from './refuse.js';

/** Names of the person column in a part; in rows per person, any of the tables' names. */
function unitsOf(policy: Policy, part: ViewPart): readonly string[] {
  const own =
    part.rows.form === 'table'
      ? [tableOfPart(policy, part) ?? policy.protect]
      : [policy.protect, ...(policy.tables?.values() ?? [])];
  return own.flatMap(({ unit }) => unit ?? []);
}

/** Scope of names over joined tables: a name is a column of a part, or the person of the row. */
export function nameScope(sql: SqlText, policy: Policy, from: FromForm): NonNullable<SqlText['scope']> {
  const view = composeView(policy, from);
  const columns = columnsOfView(policy, view);
  const aliases = view.parts.map(({ as }) => as);
  sql.joined = new Set(columns.map(({ name }) => name));
  const named = (own: string) => {
    const all = columns.filter((c) => c.own === own);
    const free = all.filter((c) => !c.met);
    return free.length > 0 ? free : all;
  };
  return (name, table) => {
    const as = table === undefined ? undefined : declaredSpelling(aliases, table);
    if (as !== undefined && !aliases.includes(as)) throw unknownTable(as, aliases);
    const candidates = view.parts.filter((part) => as === undefined || part.as === as);
    const units = new Set(candidates.flatMap((part) => unitsOf(policy, part)));
    const own = declaredSpelling([...new Set([...columns.map((c) => c.own), ...units])], name);
    // A join column needs the name of its part where the parts may differ in it.
    const found = as === undefined ? named(own) : [columnOfPart(columns, view, as, own)].filter((c) => c !== undefined);
    const person = units.has(own) && policy.protect.unit !== undefined;
    if (found.length + (person ? 1 : 0) > 1 || (found.length > 0 && as === undefined && found.every((c) => c.met)))
      throw new Fault(
        'QUERY_INVALID',
        `Several tables have a column "${name}".`,
        `Say which: ${[...found.map((c) => `${c.as}.${c.own}`), ...(person ? [`the person of ${personOf(policy, candidates, own)}`] : [])].join(' or ')}.`,
      );
    if (person && as !== undefined && candidates[0]!.optional)
      throw new Fault(
        'QUERY_UNSUPPORTED',
        `"${as}.${own}" is there only where the LEFT JOIN finds a row.`,
        `Ask for another column of it: COUNT(${as}.x), ${as}.x IS NULL; or for the person of the table that stays.`,
      );
    if (person) return policy.protect.unit!;
    return found[0]?.name ?? sql.declared(name);
  };
}
/** Fault for a qualifier that is no table of the statement. */
const unknownTable = (as: string, aliases: readonly string[]): Fault =>
  new Fault('QUERY_INVALID', `The statement has no table "${as.slice(0, 80)}".`, didYouMean(as, aliases, 'It has'));

/** Scope of names in one table, or in a sub-select with an alias. */
export function aliasScope(sql: SqlText, as: string, inner?: SqlText['scope']): NonNullable<SqlText['scope']> {
  return (name, table) => {
    if (table !== undefined && table.toLowerCase() !== as.toLowerCase()) throw unknownTable(table, [as]);
    return inner ? inner(name) : sql.declared(name);
  };
}
const personOf = (policy: Policy, parts: readonly ViewPart[], unit: string): string =>
  parts
    .filter((part) => unitsOf(policy, part).includes(unit))
    .map(({ as }) => `${as}.${unit}`)
    .join(' or ');
