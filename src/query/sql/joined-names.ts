import { Fault } from '../../errors.js';
import type { Policy } from '../../policy/policy.js';
import { columnsOfView } from '../../view/declared.js';
import { tableOf } from '../../view/rows-per-person.js';
import type { Part } from '../../view/view.js';
import type { FromForm } from '../form.js';
import { composed } from '../from.js';
import { type SqlText, unfolded } from './refuse.js';

/** What the person is called in a part; in rows per person by any of the names. */
function unitsOf(policy: Policy, part: Part): readonly string[] {
  const own =
    part.rows.form === 'table' ? [tableOf(policy, part) ?? policy.protect] : [policy.protect, ...(policy.tables?.values() ?? [])];
  return own.flatMap(({ unit }) => unit ?? []);
}

/** What a name means among the columns of what is joined: a column of a part, or the person whose rows these are. */
export function scopeOf(sql: SqlText, policy: Policy, from: FromForm): NonNullable<SqlText['scope']> {
  const view = composed(policy, from);
  const columns = columnsOfView(policy, view);
  const aliases = view.parts.map(({ as }) => as);
  sql.joined = new Set(columns.map(({ name }) => name));
  return (name, table) => {
    const as = table === undefined ? undefined : unfolded(aliases, table);
    const asked = view.parts.filter((part) => as === undefined || part.as === as);
    const units = new Set(asked.flatMap((part) => unitsOf(policy, part)));
    const own = unfolded([...new Set([...columns.map((c) => c.own), ...units])], name);
    const found = columns.filter((c) => c.own === own && (as === undefined || c.as === as));
    const person = units.has(own) && policy.protect.unit !== undefined;
    if (found.length + (person ? 1 : 0) > 1)
      throw new Fault(
        'QUERY_INVALID',
        `Several tables have a column "${name}".`,
        `Say which: ${[...found.map((c) => `${c.as}.${c.own}`), ...(person ? [`the person of ${personOf(policy, asked, own)}`] : [])].join(' or ')}.`,
      );
    if (person && as !== undefined && asked[0]!.optional)
      throw new Fault(
        'QUERY_UNSUPPORTED',
        `"${as}.${own}" is there only where the LEFT JOIN finds a row.`,
        `Ask for another column of it: COUNT(${as}.x), ${as}.x IS NULL; or for the person of the table that stays.`,
      );
    if (person) return policy.protect.unit!;
    // A column by which tables are joined is the same in both.
    return (found[0] ?? columns.find((c) => c.own === own))?.name ?? sql.declared(name);
  };
}
const personOf = (policy: Policy, parts: readonly Part[], unit: string): string =>
  parts
    .filter((part) => unitsOf(policy, part).includes(unit))
    .map(({ as }) => `${as}.${unit}`)
    .join(' or ');
