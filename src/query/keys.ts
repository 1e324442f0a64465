import { Fault } from '../errors.js';
import { ceiling, divide, subtract, toNumber } from '../exact/rational.js';
import type { Cluster, NumberColumn, Policy } from '../policy/policy.js';
import { codedNamed, codesOf, columnNamed, isNumber, isWeight } from './domain.js';
import { type Grid, gridOf, numberAt } from './grid.js';
import { missingLabel, otherLabel, type RowKey } from './measure.js';

/** A key and the label of each of its positions. */
export interface LabelledKey {
  readonly key: RowKey;
  readonly labels: readonly string[];
}

/** More cells than this are a mistake: no budget fills them. */
export const mostCells = 1_000_000;
const defaultBins = 10;
/** A number with few positions gets one bin each. */
const fewPositions = 12;

/** First grid position of each bin after the first: from the declared inner edges, else equal bins of the declared bounds. */
function binStarts(column: NumberColumn, grid: Grid): readonly number[] {
  const count = grid.last + 1;
  if (column.bins) {
    const starts = column.bins.map((edge) => Number(ceiling(divide(subtract(edge, grid.low), grid.step))));
    return [...new Set(starts)].filter((p) => p > 0 && p < count).sort((a, b) => a - b);
  }
  const bins = count <= fewPositions ? count : defaultBins;
  return Array.from({ length: bins - 1 }, (_, i) => Math.floor(((i + 1) * count) / bins));
}

function binLabels(grid: Grid, starts: readonly number[]): readonly string[] {
  const firsts = [0, ...starts];
  const show = (p: number) => `${toNumber(numberAt(grid, p))}`;
  return firsts.map((first, i) => {
    const last = (firsts[i + 1] ?? grid.last + 1) - 1;
    return first === last ? show(first) : `${show(first)} to ${show(last)}`;
  });
}

export function keyOf(policy: Policy, name: string): LabelledKey {
  const column = columnNamed(policy, name);
  if (isWeight(column))
    throw new Fault('QUERY_INVALID', `Column "${name}" is a weight and cannot be a key.`, 'Use it as "weight".');
  if (isNumber(column)) {
    const grid = gridOf(column);
    const edges = binStarts(column, grid);
    const labels = [...binLabels(grid, edges), missingLabel];
    return { key: { kind: 'bin', column: name, edges, size: labels.length }, labels };
  }
  const codes = codesOf(column);
  const labels = [...codes, missingLabel];
  const key: RowKey =
    column.type === 'multi'
      ? { kind: 'options', column: name, codes, size: labels.length }
      : { kind: 'code', column: name, groups: codes.map((code) => [code]), missing: 'cell', size: labels.length };
  return { key, labels };
}

/** One position per allowed combination of a cluster's answers, and one for everything else. */
export function jointKeyOf(
  policy: Policy,
  { columns, support }: Cluster,
): {
  readonly key: Extract<RowKey, { kind: 'joint' }>;
  readonly labels: readonly string[];
} {
  const codes = columns.map((name) => codesOf(codedNamed(policy, name)));
  const places = support.map((answers) => answers.map((code, c) => (code === null ? codes[c]!.length : codes[c]!.indexOf(code))));
  if (places.some((combination) => combination.includes(-1))) throw new RangeError('a combination has an undeclared code');
  const labels = [...support.map((answers) => answers.map((code) => code ?? missingLabel).join(' / ')), otherLabel];
  return { key: { kind: 'joint', columns, support: places, size: labels.length }, labels };
}

export function keysOf(policy: Policy, names: readonly string[]): readonly LabelledKey[] {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Fault('QUERY_INVALID', `Column "${twice}" is used twice as a key.`, 'Name each key once.');
  return names.map((name) => keyOf(policy, name));
}

/** Labels of the cells in mixed-radix order, last key fastest. */
export function cellsOf(keys: readonly LabelledKey[]): readonly (readonly string[])[] {
  const total = keys.reduce((n, { labels }) => n * labels.length, 1);
  if (total > mostCells)
    throw new Fault(
      'DOMAIN_EXCEEDED',
      `The keys have ${total} cells; at most ${mostCells} fit one table.`,
      'Use fewer keys or coarser bins.',
      {
        details: { size: total, limit: mostCells },
      },
    );
  let cells: string[][] = [[]];
  for (const { labels } of keys) cells = cells.flatMap((cell) => labels.map((label) => [...cell, label]));
  return cells;
}
