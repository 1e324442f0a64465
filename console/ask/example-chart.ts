import type { Column, PlannedError, Policy } from '../api/shapes.ts';
import type { Interval } from '../charts/intervals.ts';
import { formatDay, formatNumber } from '../parts/figures.ts';

/** Example of a table: invented numbers of people with the real width of the noise. Nothing here comes from the data. */
export function exampleBars(policy: Policy, expected: PlannedError, people: number): readonly Interval[] {
  const { query, halfWidth, perRow, cells } = expected;
  const named = (name: string | undefined) => policy.columns.find((c) => c.name === name);
  const groups = query.kind === 'crosstab' ? labelsOf(named(query.columns?.[0])) : labelsOf(named(query.by?.[0]));
  const inner = query.kind === 'crosstab' ? named(query.columns?.[1]) : counted.has(query.kind) ? named(query.column) : undefined;
  const outer = groups.length === 0 ? [undefined] : groups;
  const labels = inner
    ? [...labelsOf(inner, cells / outer.length - 1), ...(query.kind === 'histogram' ? ['(missing)'] : [])]
    : [];
  const rows =
    labels.length === 0
      ? outer.map((g) => ({ label: g ?? 'all' }))
      : outer.flatMap((g) => labels.map((label) => ({ label, ...(g !== undefined && { group: g }) })));
  const weights = rows.map(
    (_, k) =>
      1 / (1.6 + (labels.length === 0 ? k : k % labels.length) + (labels.length === 0 ? 0 : Math.floor(k / labels.length) / 2)),
  );
  const all = weights.reduce((a, b) => a + b, 0);
  return rows.map((row, k) => {
    const count = Math.round((people * weights[k]!) / all);
    const wide = perRow ? halfWidth / Math.max(1, count) : halfWidth;
    const value = exampleValue(query.kind, named(query.column), count, k);
    return { ...row, value, low: value - wide, high: value + wide };
  });
}

const counted = new Set(['histogram', 'count']);

/** A distribution as it could rise: thirty points between the bounds. */
export function exampleCdf(
  { columns }: Policy,
  { query, halfWidth }: PlannedError,
  people: number,
): readonly (Interval & { readonly at: number })[] {
  const column = columns.find((c) => c.name === query.column);
  const [low, high] = column?.bounds ?? [0, 1];
  return Array.from({ length: 30 }, (_, k) => {
    const part = k / 29;
    const value = Math.round(people * part * part * (3 - 2 * part));
    const at = low + part * (high - low);
    return { label: column?.date ? formatDay(at) : formatNumber(at), at, value, low: value - halfWidth, high: value + halfWidth };
  });
}

/** The declared values, or the ranges of a number: its bins, or ranges of equal width. */
function labelsOf(column: Column | undefined, many = 0): readonly string[] {
  if (column?.values) return column.values.map(({ value, label }) => label ?? value);
  if (column?.bins) {
    const edges = column.bins;
    const at = (k: number) => (column.date ? formatDay(edges[k]!) : `${edges[k]}`);
    return [...edges, undefined].map((edge, k) =>
      k === 0 ? `below ${at(0)}` : edge === undefined ? `${at(k - 1)} and above` : `${at(k - 1)} to ${at(k)}`,
    );
  }
  if (!column?.bounds || many < 1) return [];
  const [low, high] = column.bounds;
  const parts = Math.min(many, 30);
  const whole = column.type === 'integer' ? 1 : 0;
  const format = column.date ? formatDay : formatNumber;
  const wide = whole ? Math.ceil((high - low + 1) / parts) : (high - low) / parts;
  return Array.from(
    { length: parts },
    (_, k) => `${format(low + k * wide)} to ${format(Math.min(high, low + (k + 1) * wide - whole))}`,
  );
}

function exampleValue(kind: string, column: Column | undefined, count: number, k: number): number {
  const [low, high] = column?.bounds ?? [0, 1];
  const middle = low + (high - low) * (0.42 + 0.05 * ((k * 7) % 5));
  if (kind === 'mean') return middle;
  if (kind === 'sum') return count * middle;
  if (kind === 'share') return 0.3 + 0.06 * ((k * 7) % 5);
  return count;
}
