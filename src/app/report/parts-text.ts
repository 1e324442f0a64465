import type { PartUse } from '../../release/session/parts.js';

const heights = [...'▁▂▃▄▅▆▇█'];
/** Width of the line, in characters. */
const widest = 60;

/**
 * Budget use along a whole-number column, as a line: one character per value or group of values, by the highest use in it. Blank
 * is none, full is all.
 */
export function lineOver(
  parts: readonly PartUse[],
  total: number,
): { readonly from: number; readonly to: number; readonly line: string } {
  const from = Math.min(...parts.map((p) => p.from!));
  const to = Math.max(...parts.map((p) => p.to!));
  const each = Math.ceil((to - from + 1) / widest);
  const signs = Array.from({ length: Math.ceil((to - from + 1) / each) }, (_, k) => {
    const [low, high] = [from + k * each, from + (k + 1) * each - 1];
    const used = parts.filter((p) => p.from! <= high && p.to! >= low).reduce((most, p) => Math.max(most, p.spent), 0);
    return used <= 0 ? ' ' : heights[Math.min(heights.length - 1, Math.floor((used / total) * heights.length))]!;
  });
  return { from, to, line: signs.join('') };
}

/** The parts of each column. */
export const byColumn = (parts: readonly PartUse[]): ReadonlyMap<string, readonly PartUse[]> => {
  const columns = new Map<string, PartUse[]>();
  for (const part of parts) columns.set(part.column, [...(columns.get(part.column) ?? []), part]);
  return columns;
};
