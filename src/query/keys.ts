import { Fault } from '../base/errors.js';
import { shownBins } from '../policy/bins.js';
import { codesOf, missingLabel } from '../policy/code.js';
import { cellCount, combinations, declaredCategory, declaredColumn, isNumber, isWeight, shownLevels } from '../policy/domain.js';
import type { CategoryColumn, MergedColumns, Policy } from '../policy/policy.js';
import { codeKey, type GroupKey, type JointKey, otherLabel } from './count/measure.js';

/** A key and the label of each of its positions. */
export interface LabelledKey {
  readonly key: GroupKey;
  readonly labels: readonly string[];
}

/** More cells than this are a mistake: no budget fills them. */
export const maxCells = 1_000_000;

/** Most cells that the measures of one request have together; each is held several times while it is counted, noised and written. */
export const maxBatchCells = 2_000_000;

/** Bound on the size of an answer, from policy and query alone, checked before anything of that size is allocated. */
export function refuseManyCells(size: number, who: string, what: string, limit: number): void {
  if (size <= limit) return;
  throw new Fault(
    'DOMAIN_EXCEEDED',
    `${who} ${size} ${what}; at most ${limit} fit one ${limit === maxCells ? 'table' : 'request'}.`,
    limit === maxCells ? 'Use fewer keys, coarser bins or a coarser step.' : 'Ask for fewer tables at once, or coarser ones.',
    { details: { size, limit } },
  );
}

export function groupKeyOf(policy: Policy, name: string): LabelledKey {
  const column = declaredColumn(policy, name);
  if (isWeight(column))
    throw new Fault('QUERY_INVALID', `Column "${name}" is a weight and cannot be a key.`, 'Use it as "weight".');
  if (isNumber(column)) {
    const { starts, labels } = shownBins(column);
    return { key: { kind: 'bin', column: name, edges: starts, size: labels.length }, labels };
  }
  if (column.type === 'category') return categoryKey(column);
  const codes = codesOf(column);
  const labels = [...codes, missingLabel];
  return { key: { kind: 'options', column: name, codes, size: labels.length }, labels };
}

/** One position per level, pooled answers together, then missing. */
function categoryKey(column: CategoryColumn) {
  const { groups, labels } = shownLevels(column);
  return { key: codeKey(column.name, groups, 'cell'), labels };
}
/** The same without rows that have no answer. */
export function levelKey(column: CategoryColumn) {
  const { groups, labels } = shownLevels(column);
  return { key: codeKey(column.name, groups), labels: labels.slice(0, -1) };
}

/** One position per allowed combination of a cluster's answers, and one for everything else. */
export function jointKeyOf(policy: Policy, { columns, support }: MergedColumns): LabelledKey & { readonly key: JointKey } {
  const parts = columns.map((name) => categoryKey(declaredCategory(policy, name)));
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

export function groupKeysOf(policy: Policy, names: readonly string[]): readonly LabelledKey[] {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Fault('QUERY_INVALID', `Column "${twice}" is used twice as a key.`, 'Name each key once.');
  return names.map((name) => groupKeyOf(policy, name));
}

/** Labels of the cells in mixed-radix order, last key fastest. */
export function cellLabels(keys: readonly LabelledKey[]): readonly (readonly string[])[] {
  refuseManyCells(cellCount(keys.map(({ labels }) => ({ size: labels.length }))), 'The keys have', 'cells', maxCells);
  return combinations(keys.map(({ labels }) => labels));
}
