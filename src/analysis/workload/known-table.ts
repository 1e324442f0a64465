import type { Policy } from '../../policy/policy.js';
import type { PrivacySession } from '../../release/session/session.js';
import { axesOf } from './axes.js';
import { marginPlaces, type TableEstimate, tableFrom, withVariance } from './estimate.js';
import type { Workload } from './form.js';
import { isKnown } from './residual-layout.js';

/** Columns of a published marginal that the workload includes cell by cell; none without known totals. */
function knownColumns({ known }: Policy, { columns }: Workload) {
  const named = known?.margin?.map(({ column }) => column) ?? [];
  return columns.filter(({ name, sizes, at }) => named.includes(name) && sizes.length === 1 && at.length === sizes[0]);
}
const knownTableQuery = (columns: ReturnType<typeof knownColumns>) => ({ kind: 'count', by: columns.map(({ name }) => name) });

/** Axes whose table is public knowledge: counts by them are published without noise. */
export async function knownAxes(session: PrivacySession, workload: Workload): Promise<readonly number[]> {
  const columns = knownColumns(session.policy, workload);
  if (columns.length === 0) return [];
  const { mechanism } = await session.plan(knownTableQuery(columns));
  return mechanism === 'none' ? columns.flatMap(axesOf) : [];
}

/** The known table, as a count of it is released: published numbers as published, others from the data, at no cost. */
export async function knownTable(session: PrivacySession, workload: Workload, fresh = false): Promise<readonly number[]> {
  const { tables } = await session.release(knownTableQuery(knownColumns(session.policy, workload)), { fresh });
  return tables[0]!.rows.map(({ value }) => value!);
}

/** The estimate with no error in tables that follow from the known one. */
export const withoutError = (estimate: TableEstimate, known: readonly number[]): TableEstimate =>
  withVariance(estimate, ({ axes, variance }) => (isKnown(axes, known) ? 0 : variance));

/** For a fit, which requires some: a negligible error. */
export function withTinyError(estimate: TableEstimate, known: readonly number[]): TableEstimate {
  const least = Math.min(...[...estimate.by.values()].flatMap(({ axes, variance }) => (isKnown(axes, known) ? [] : [variance])));
  const little = Number.isFinite(least) ? 1e-4 * least : 1;
  return withVariance(estimate, ({ axes, variance }) => (isKnown(axes, known) ? little : variance));
}

/** Tables without negative cells, scaled proportionally to the public table, which they then match exactly. */
export function rakeTables(
  sizes: readonly number[],
  known: readonly number[],
  exact: TableEstimate,
  tableOf: (axes: readonly number[]) => Float64Array,
): (axes: readonly number[]) => Float64Array {
  return (axes) => {
    const own = tableOf(axes);
    const sharedAxes = axes.filter((axis) => known.includes(axis));
    const { at, cells } = marginPlaces(sizes, axes, sharedAxes);
    const sums = new Float64Array(cells);
    own.forEach((x, cell) => {
      sums[at[cell]!]! += Math.max(0, x);
    });
    const wanted = tableFrom(exact, sharedAxes);
    return own.map((x, cell) => {
      const sum = sums[at[cell]!]!;
      return sum > 0
        ? (Math.max(0, x) * Math.max(0, wanted[at[cell]!]!)) / sum
        : (Math.max(0, wanted[at[cell]!]!) * cells) / own.length;
    });
  };
}
