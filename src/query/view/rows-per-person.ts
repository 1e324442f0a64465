import { Fault } from '../../base/errors.js';
import type { LinkedTable, Policy } from '../../policy/policy.js';
import type { View, ViewPart } from './view.js';

/** Table of the policy; undefined for the main table. */
export const tableOfPart = (policy: Policy, { rows }: Pick<ViewPart, 'rows'>): LinkedTable | undefined =>
  rows.form === 'table' && rows.table !== undefined ? policy.tables?.get(rows.table) : undefined;

/** Most rows of one person in a part. */
function rowsIn(policy: Policy, part: ViewPart): number {
  if (part.rows.form === 'perPerson') return 1;
  return tableOfPart(policy, part)?.maxRows ?? policy.protect.maxRows;
}

/** Most partners that one row before it finds in a part. */
function partners(policy: Policy, part: ViewPart): number {
  const table = tableOfPart(policy, part);
  const met = new Set(part.on.map(({ column }) => column));
  const found = table?.key?.every((column) => met.has(column) || column === table.unit) ?? false;
  return found ? 1 : rowsIn(policy, part);
}

const mostRows = 1_000_000;

/** Most rows of one person in a view. Proof in rows-per-person.proof.md. */
export function rowsPerPerson(policy: Policy, { parts }: View): number {
  const [first, ...joined] = parts;
  const rows = joined.reduce((n, part) => n * partners(policy, part), rowsIn(policy, first!));
  if (rows <= mostRows) return rows;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `One person may have more than ${mostRows} rows in what these tables make together.`,
    'Declare a smaller maxRows, or the key by which one row finds one other.',
  );
}

/** All rows of one person have the same values in the columns of a part. */
export function isSteady(policy: Policy, view: View, part: ViewPart): boolean {
  if (rowsPerPerson(policy, view) === 1) return true;
  // Finding a partner may depend on the row.
  if (part.optional && !isFoundSteadily(policy, view, part)) return false;
  if (part.optional && part.on.length > 0) return partners(policy, part) === 1;
  if (tableOfPart(policy, part)?.public) return part.on.every(({ left }) => isSteadyAt(policy, view, left.as));
  return rowsIn(policy, part) === 1;
}
/** Either all rows of one person find a partner in the part, or none does. */
const isFoundSteadily = (policy: Policy, view: View, { on, beside: optionalParts = [] }: ViewPart): boolean =>
  on.every(({ left }) => isSteadyAt(policy, view, left.as)) &&
  optionalParts.every((as) => isFoundSteadily(policy, view, view.parts.find((part) => part.as === as)!));
const isSteadyAt = (policy: Policy, view: View, as: string): boolean =>
  isSteady(policy, view, view.parts.find((part) => part.as === as)!);
