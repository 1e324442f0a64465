import { codesOf } from '../../policy/code.js';
import { declaredColumn, isCoded } from '../../policy/domain.js';
import { gridOf } from '../../policy/grid.js';
import { pairCliques, type ValueRun } from '../../policy/pairs/cliques.js';
import type { Policy } from '../../policy/policy.js';
import { type CellForest, forestOf } from '../../privacy/mechanism/ordered/forest.js';
import type { Axis } from './measure.js';
import { dropped, keyPlacer, type SimpleKey } from './pair-sensitivity.js';

/** Most cells of a key for which a forest of pairs is sought. */
const maxForestCells = 256;

/** The cells of a key on the positions that pairs are declared on; no answer is in the last one, or nowhere. */
export function cellPieces(
  policy: Policy,
  key: Axis,
): { readonly pieces: readonly ValueRun<number>[]; readonly missing: number } {
  const column = declaredColumn(policy, key.column);
  const place = keyPlacer(key as SimpleKey);
  const cellOf = (value: string | number | null): number => {
    const at = place(value);
    return at === dropped ? -1 : at < 0 ? key.size - 1 : at;
  };
  if (column.type === 'multi') throw new RangeError('positions of a number or of codes');
  if (isCoded(column))
    return { pieces: codesOf(column).map((code, k) => ({ from: k, to: k, kind: cellOf(code) })), missing: cellOf(null) };
  const { last } = gridOf(column);
  const starts = [0, ...(key.kind === 'bin' ? key.edges : [])].filter((p, k) => k === 0 || (p > 0 && p <= last));
  return {
    pieces: starts.map((from, k) => ({ from, to: (starts[k + 1] ?? last + 1) - 1, kind: cellOf(from) })),
    missing: cellOf(null),
  };
}

/** Forest of a key's cells under the pairs; undefined where the pairs form a cycle. */
export function forestFor(policy: Policy, key: Axis): CellForest | undefined {
  const pairs = policy.protect.pairs?.columns.get(key.column);
  if (!pairs || key.size > maxForestCells) return undefined;
  const { pieces, missing } = cellPieces(policy, key);
  const edges = new Map<number, readonly [number, number]>();
  for (const set of pairCliques(pairs, pieces, missing)) {
    const cells = [...set].filter((cell) => cell >= 0);
    // Three positions of which any two are pairs form a cycle.
    if (cells.length > 2) return undefined;
    const [a, b] = [Math.min(...cells), Math.max(...cells)];
    if (cells.length === 2) edges.set(a * key.size + b, [a, b]);
  }
  return forestOf(key.size, [...edges.values()]);
}
