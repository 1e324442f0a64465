import { categoryNamed, codesOf, columnNamed, isNumber, isWeight } from '../count/domain.js';
import { type CodeKey, type JointKey, missingLabel, otherLabel, type RowKey } from '../count/measure.js';
import { Fault } from '../errors.js';
import { ceiling, divide, type Rational, subtract, toNumber } from '../exact/rational.js';
import { usualEdges } from '../policy/bins.js';
import { levelLabel, levelsOf } from '../policy/code.js';
import { type Grid, gridOf, numberAt } from '../policy/grid.js';
import type { CategoryColumn, Cluster, NumberColumn, Policy } from '../policy/policy.js';

/** A key and the label of each of its positions. */
export interface LabelledKey {
  readonly key: RowKey;
  readonly labels: readonly string[];
}

/** More cells than this are a mistake: no budget fills them. */
export const mostCells = 1_000_000;

/** What the measures of one request may have in all: each cell is held several times over while it is counted, noised and written down. */
export const mostCellsTogether = 2_000_000;

/** The one bound on the size of an answer. It is asked before anything of that size is made, and speaks about policy and query alone. */
export function refuseManyCells(size: number, who: string, what: string, limit: number): void {
  if (size <= limit) return;
  throw new Fault(
    'DOMAIN_EXCEEDED',
    `${who} ${size} ${what}; at most ${limit} fit one ${limit === mostCells ? 'table' : 'request'}.`,
    limit === mostCells ? 'Use fewer keys, coarser bins or a coarser step.' : 'Ask for fewer tables at once, or coarser ones.',
    { details: { size, limit } },
  );
}

/** The first grid position at or above an edge. */
export const startOf = (grid: Grid, edge: Rational): number => Number(ceiling(divide(subtract(edge, grid.low), grid.step)));

/** First grid position of each bin after the first: from the declared inner edges, else about ten bins of one width. */
function binStarts(column: NumberColumn, grid: Grid): readonly number[] {
  const starts = (column.bins ?? usualEdges(column)).map((edge) => startOf(grid, edge));
  return [...new Set(starts)].filter((p) => p > 0 && p <= grid.last).sort((a, b) => a - b);
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
  if (column.type === 'category') return categoryKey(column);
  const codes = codesOf(column);
  const labels = [...codes, missingLabel];
  return { key: { kind: 'options', column: name, codes, size: labels.length }, labels };
}

/** One position per level, pooled answers together, then missing. */
function categoryKey(column: CategoryColumn): { readonly key: CodeKey; readonly labels: readonly string[] } {
  const groups = levelsOf(column);
  const labels = [...groups.map(levelLabel), missingLabel];
  return { key: { kind: 'code', column: column.name, groups, missing: 'cell', size: labels.length }, labels };
}

/** One position per allowed combination of a cluster's answers, and one for everything else. */
export function jointKeyOf(
  policy: Policy,
  { columns, support }: Cluster,
): {
  readonly key: JointKey;
  readonly labels: readonly string[];
} {
  const parts = columns.map((name) => categoryKey(categoryNamed(policy, name)));
  const place = (code: string | null, c: number): number =>
    code === null ? parts[c]!.key.size - 1 : parts[c]!.key.groups.findIndex((level) => level.includes(code));
  const places = new Map<string, readonly number[]>();
  for (const answers of support) {
    const combination = answers.map(place);
    if (combination.includes(-1)) throw new RangeError('a combination has an undeclared code');
    places.set(combination.join(), combination);
  }
  const combinations = [...places.values()];
  const labels = [...combinations.map((at) => at.map((p, c) => parts[c]!.labels[p]!).join(' / ')), otherLabel];
  return { key: { kind: 'joint', keys: parts.map(({ key }) => key), support: combinations, size: labels.length }, labels };
}

export function keysOf(policy: Policy, names: readonly string[]): readonly LabelledKey[] {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Fault('QUERY_INVALID', `Column "${twice}" is used twice as a key.`, 'Name each key once.');
  return names.map((name) => keyOf(policy, name));
}

/** Labels of the cells in mixed-radix order, last key fastest. */
export function cellsOf(keys: readonly LabelledKey[]): readonly (readonly string[])[] {
  const total = keys.reduce((n, { labels }) => n * labels.length, 1);
  refuseManyCells(total, 'The keys have', 'cells', mostCells);
  let cells: string[][] = [[]];
  for (const { labels } of keys) cells = cells.flatMap((cell) => labels.map((label) => [...cell, label]));
  return cells;
}
