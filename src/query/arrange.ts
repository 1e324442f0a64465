import * as z from 'zod';
import { Fault } from '../base/errors.js';
import { didYouMean } from '../policy/suggest.js';
import type { AnswerRow, AnswerTable } from './bound.js';
import { boundedList, codeForm, columnNameForm } from './form.js';
import type { Query } from './query.js';

const comparison = z.enum(['=', '!=', '<', '<=', '>', '>=']);
/** Condition on the shown rows: on a number of one of the batch's tables, or on the label of a key. */
export type HavingCondition =
  | { readonly table: number; readonly op: z.output<typeof comparison>; readonly value: number }
  | { readonly key: string; readonly op: 'in' | 'not in'; readonly values: readonly string[] }
  | { readonly any: readonly HavingCondition[] }
  | { readonly all: readonly HavingCondition[] }
  | { readonly not: HavingCondition };
const havingCondition: z.ZodType<HavingCondition> = z.lazy(() =>
  z.union([
    z.strictObject({ table: z.int().min(0), op: comparison, value: z.number() }),
    z.strictObject({ key: columnNameForm, op: z.enum(['in', 'not in']), values: boundedList(codeForm, 'literals') }),
    z.strictObject({ any: boundedList(havingCondition, 'conditions') }),
    z.strictObject({ all: boundedList(havingCondition, 'conditions') }),
    z.strictObject({ not: havingCondition }),
  ]),
);
/** Arrangement of tables with the same groups: applied after the noise, at no cost. */
export const arrangement = z.strictObject({
  /** Of the batch, by number; all of them have the same groups. */
  tables: boundedList(z.int().min(0), 'queries'),
  having: havingCondition.optional(),
  order: boundedList(
    z.union([
      z.strictObject({ table: z.int().min(0), descending: z.boolean().optional() }),
      z.strictObject({ key: columnNameForm, descending: z.boolean().optional() }),
    ]),
    'keys',
  ).optional(),
  limit: z.int().min(0).optional(),
  offset: z.int().min(0).optional(),
});
export type Arrangement = z.output<typeof arrangement>;

const comparators: Record<z.output<typeof comparison>, (a: number, b: number) => boolean> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Checks an arrangement before anything is paid. `labelsOf`: labels of a key's groups in the tables of a query. */
export function checkArrangement(
  arrange: readonly Arrangement[],
  queries: readonly Query[],
  labelsOf: (table: number, key: string) => readonly string[],
): void {
  for (const { tables: own, order = [], having } of arrange) {
    const named = [...own, ...order.flatMap((by) => ('table' in by ? [by.table] : [])), ...tablesIn(having)];
    const groups = named.map((index) => keysOf(queries[index]));
    const keys = groups[0];
    const alike = keys !== undefined && groups.every((other) => JSON.stringify(other) === JSON.stringify(keys));
    const unmatched = [...order.flatMap((by) => ('key' in by ? [by.key] : [])), ...keysIn(having)].find(
      (key) => !keys?.includes(key),
    );
    if (alike && unmatched === undefined) {
      for (const { key, values } of keyConditions(having)) refuseUnknownGroup(key, values, labelsOf(own[0]!, key));
      continue;
    }
    const several = named.map((index) => queries[index]).find((query) => query !== undefined && keysOf(query) === undefined);
    if (several)
      throw new Fault(
        'QUERY_UNSUPPORTED',
        `The table of kind "${several.kind}" cannot be filtered, ordered or cut: it has rows of its own, not one number for each group.`,
        'Leave out HAVING, ORDER BY and LIMIT ("arrange" in JSON), or ask for what is to be arranged in a statement of its own.',
      );
    throw new Fault(
      'QUERY_INVALID',
      alike ? `The tables have no key "${unmatched}".` : 'Tables that are shown together have not the same groups.',
      'Name tables of the batch by number, from 0, that have the same "by" and one number for each group, and their keys.',
    );
  }
}
/** Kinds with at most one row per group; tables of other kinds cannot be matched with the others row by row. */
const oneRowKinds: ReadonlySet<Query['kind']> = new Set([
  'count',
  'sum',
  'mean',
  'variance',
  'share',
  'distinct',
  'formula',
  'quantile',
]);
/** The keys of a table that has one row for each group. */
const keysOf = (query: Query | undefined): readonly string[] | undefined =>
  query === undefined || !oneRowKinds.has(query.kind) || ('at' in query && query.at!.length > 1) ? undefined : (query.by ?? []);
function operandsOf(of: HavingCondition): readonly HavingCondition[] {
  if ('any' in of) return of.any;
  if ('all' in of) return of.all;
  return 'not' in of ? [of.not] : [];
}
type Comparison = Extract<HavingCondition, { readonly table: number } | { readonly key: string }>;
/** The comparisons in a condition. */
const comparisonsIn = (of: HavingCondition | undefined): readonly Comparison[] => {
  if (of === undefined) return [];
  return 'table' in of || 'key' in of ? [of] : operandsOf(of).flatMap(comparisonsIn);
};
const tablesIn = (of: HavingCondition | undefined): readonly number[] =>
  comparisonsIn(of).flatMap((own) => ('table' in own ? [own.table] : []));
const keyConditions = (of: HavingCondition | undefined) => comparisonsIn(of).flatMap((own) => ('key' in own ? [own] : []));
const keysIn = (of: HavingCondition | undefined): readonly string[] => keyConditions(of).map(({ key }) => key);

/** An undeclared group would select no rows, which looks like an answer. */
function refuseUnknownGroup(key: string, values: readonly string[], labels: readonly string[]): void {
  const unmatched = values.find((value) => !labels.includes(value));
  if (unmatched !== undefined)
    throw new Fault(
      'VALUE_UNKNOWN',
      `"${key}" has no group "${unmatched.slice(0, 80)}".`,
      didYouMean(unmatched, labels, `Groups of "${key}"`),
    );
}

/** Applies arrangements by noisy numbers, so a group close to a threshold, or to another group, may be on either side of it. */
export function applyArrangements(tables: readonly AnswerTable[], arrange: readonly Arrangement[]): readonly AnswerTable[] {
  const out = [...tables];
  for (const own of arrange) {
    const first = tables[own.tables[0]!]!;
    const keyAt = (key: string) => first.columns.indexOf(key);
    const valueAt = (table: number, i: number) => tables[table]!.rows[i]?.value ?? null;
    const labels = first.columns.slice(0, -1).map((_, k) => [...new Set(first.rows.map(({ keys }) => keys[k]!))]);
    /** A condition on a missing number is unknown. */
    const holds = (of: HavingCondition, i: number): boolean | undefined => {
      if ('table' in of) {
        const value = valueAt(of.table, i);
        return value === null ? undefined : comparators[of.op](value, of.value);
      }
      if ('key' in of) return of.values.includes(first.rows[i]!.keys[keyAt(of.key)]!) === (of.op === 'in');
      const parts = operandsOf(of).map((part) => holds(part, i));
      if ('not' in of) return parts[0] === undefined ? undefined : !parts[0];
      const decides = 'any' in of;
      if (parts.includes(decides)) return decides;
      return parts.includes(undefined) ? undefined : !decides;
    };
    const shown = first.rows.map((_, i) => i).filter((i) => own.having === undefined || holds(own.having, i) === true);
    const before = (a: number, b: number): number => {
      for (const by of own.order ?? []) {
        const rank = (i: number) =>
          'table' in by ? valueAt(by.table, i) : labels[keyAt(by.key)]!.indexOf(first.rows[i]!.keys[keyAt(by.key)]!);
        const [x, y] = [rank(a), rank(b)];
        if (x === y) continue;
        // Missing numbers come last in either order.
        if (x === null || y === null) return x === null ? 1 : -1;
        return (x < y ? -1 : 1) * (by.descending ? -1 : 1);
      }
      return a - b;
    };
    const from = own.offset ?? 0;
    const rows = shown.sort(before).slice(from, own.limit === undefined ? undefined : from + own.limit);
    for (const index of own.tables) {
      const { rows: all, ...table } = tables[index]!;
      out[index] = { ...table, rows: rows.map((i): AnswerRow => all[i]!), arranged: arrangementText(own, all.length) };
    }
  }
  return out;
}

function arrangementText({ having, order, limit, offset }: Arrangement, groups: number): string {
  const steps = [
    ...(having ? ['chosen'] : []),
    ...(order ? ['ordered'] : []),
    ...(limit !== undefined || offset !== undefined ? ['cut'] : []),
  ];
  const noisy = tablesIn(having).length > 0 || (order ?? []).some((by) => 'table' in by);
  const shown = `Rows ${steps.join(', ')}`;
  return noisy
    ? `${shown} by noisy numbers, of ${groups}: groups near the line may be on either side of it.`
    : `${shown} by their names, of ${groups}.`;
}
