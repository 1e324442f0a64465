import type { Column, Foreseen, Policy } from '../api/shapes.ts';
import type { Interval } from '../charts/intervals.ts';

/** What a table could look like: made-up numbers of people, and the real width of the noise around them. Nothing here comes from the data. */
export function imagined(policy: Policy, foreseen: Foreseen, people: number): readonly Interval[] {
  const { query, halfWidth, perRow, cells } = foreseen;
  const named = (name: string | undefined) => policy.columns.find((c) => c.name === name);
  const groups = query.kind === 'crosstab' ? labelsOf(named(query.columns?.[0])) : labelsOf(named(query.by?.[0]));
  const inner = query.kind === 'crosstab' ? named(query.columns?.[1]) : counted.has(query.kind) ? named(query.column) : undefined;
  const outer = groups.length === 0 ? [undefined] : groups;
  const own = labelsOf(inner);
  const labels = own.length > 0 ? own : inner ? Array.from({ length: Math.min(24, cells) }, (_, k) => `value ${k + 1}`) : [];
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
    const value = imaginedValue(query.kind, named(query.column), count, k);
    return { ...row, value, low: value - wide, high: value + wide };
  });
}

const counted = new Set(['histogram', 'cdf', 'count']);

function labelsOf(column: Column | undefined): readonly string[] {
  if (column?.values) return column.values.map(({ value, label }) => label ?? value);
  if (!column?.bins) return [];
  return [...column.bins, undefined].map((edge, k, edges) =>
    k === 0 ? `below ${edge}` : edge === undefined ? `${edges[k - 1]} and above` : `${edges[k - 1]} to ${edge}`,
  );
}

function imaginedValue(kind: string, column: Column | undefined, count: number, k: number): number {
  const [low, high] = column?.bounds ?? [0, 1];
  const middle = low + (high - low) * (0.42 + 0.05 * ((k * 7) % 5));
  if (kind === 'mean') return middle;
  if (kind === 'sum') return count * middle;
  if (kind === 'share') return 0.3 + 0.06 * ((k * 7) % 5);
  return count;
}
