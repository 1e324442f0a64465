import { blockAt } from '../../policy/pairs/pairs.js';
import type { GroupKey } from './measure.js';
import type { LeafTest } from './row-test.js';

/** A code, a grid position, or no answer. */
export type CellValue = string | number | null;
export type SimpleKey = Exclude<GroupKey, { kind: 'joint' }>;
export const keysInside = (key: GroupKey): readonly SimpleKey[] => (key.kind === 'joint' ? key.keys : [key]);

/** Grid positions in rising order, each the first of a piece that the tests and keys treat alike. */
export function pieceStarts(
  last: number,
  tests: readonly LeafTest[],
  keys: readonly SimpleKey[],
  more: readonly number[] = [],
): readonly number[] {
  const cuts = tests.flatMap((test) => (test.kind === 'range' ? [test.from, test.to + 1] : []));
  const starts = [0, ...more, ...cuts, ...keys.flatMap(startsOf)].filter((p) => p >= 0 && p <= last);
  return [...new Set(starts)].sort((a, b) => a - b);
}
function startsOf(key: SimpleKey): readonly number[] {
  if (key.kind === 'bin') return key.edges;
  return key.kind === 'grid' ? Array.from({ length: key.size }, (_, j) => j * key.width) : [];
}

export function leafPredicate(test: LeafTest): (value: CellValue) => boolean {
  if (test.kind === 'missing') return (value) => (value === null) !== test.negate;
  const codes = new Set<unknown>(test.kind === 'code' ? test.codes : []);
  const inside =
    test.kind === 'code'
      ? (value: string | number) => codes.has(value)
      : (value: string | number) => Number(value) >= test.from && Number(value) <= test.to;
  return (value) => value !== null && inside(value) !== test.negate;
}

/** Cell of a row that the key drops. */
export const dropped = -1;
/** The key drops rows without an answer. */
export const dropsMissing = (key: GroupKey): boolean => key.kind === 'grid' || (key.kind === 'code' && key.missing === 'drop');
/** Cell of a value in a key; a missing answer, or a code in no group, is in the last one or dropped. */
export function keyCell(key: SimpleKey): (value: CellValue) => number {
  const none = dropsMissing(key) ? dropped : key.size - 1;
  if (key.kind === 'bin') return (value) => (value === null ? none : blockAt(key.edges, Number(value)));
  if (key.kind === 'grid') return (value) => (value === null ? none : Math.floor(Number(value) / key.width));
  const groups = key.kind === 'code' ? key.groups : key.codes.map((code) => [code]);
  const cells = new Map<unknown, number>();
  for (const [g, codes] of groups.entries()) for (const code of codes) if (!cells.has(code)) cells.set(code, g);
  return (value) => cells.get(value) ?? none;
}
