import { one, toNumber } from '../../base/exact/rational.js';
import type { Policy } from '../../policy/policy.js';
import { type CellForest, meanNumbers, numbered, rootsOf, signsOf } from '../../privacy/mechanism/ordered/forest.js';
import { pairsClass } from '../../privacy/mechanism/record-class.js';
import type { RecordSensitivity, Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import { type AnswerLayout, type LinearTerm, linearAnswer } from '../answer.js';
import type { Axis, OrderedMeasure } from '../count/measure.js';
import { forestFor, forestSensitivity } from '../count/ordered-sensitivity.js';
import { sumSensitivity } from '../count/sensitivity.js';
import type { LabelledKey } from '../keys.js';
import { type BindingScope, type BoundQuery, type RowSelection, rowCounting, withKey } from '../scope.js';

/** Alternative way to read the cells: mean variance of a cell in noisy numbers, and the sensitivity of those. */
export interface Alternative {
  readonly sensitivity: RecordSensitivity;
  readonly meanVariance: number;
}

/** Cells of a key that a query shows; `rows` exclude the key and rows without an answer. */
export interface CellRequest {
  readonly rows: RowSelection;
  readonly key: Axis;
  readonly layout: AnswerLayout;
  readonly alternative: Alternative;
}

/**
 * Cells of one key, each computed from few sums along the forest of its pairs (forest.proof.md); undefined where pairs form a cycle,
 * tree totals are not public, or the alternative errs less.
 */
export function forestAnswer(scope: BindingScope, request: CellRequest): BoundQuery | undefined {
  const { rows, key, layout, alternative } = request;
  const { policy } = scope;
  const forest = rows.weight === undefined && !policy.known ? forestFor(policy, key) : undefined;
  const { pairs } = policy.protect;
  if (!forest || !pairs) return undefined;
  const roots = [...new Set(rootsOf(forest))];
  const trees = withKey(rows, treeKey(key, forest, roots));
  const totals = sumSensitivity(policy, scope.counting(rowCounting(trees)));
  if (totals.size > 0) return undefined;
  const groups = rows.cells;
  const whole = () => scope.total(trees, { kind: 'one' }, { grid: one, name: `rows by ${key.column} as far as pairs join` });
  const placed = { roots, width: layout.cells.length / groups.length, key };
  const numbers = numbered(forest).length;
  // Cells that no pair joins are public.
  if (numbers === 0) return linearAnswer(layout, [totalTerm(forest, { ...placed, whole: whole() })]);
  const counting = scope.counting(rowCounting(rows, key));
  const sensitivity = forestSensitivity(policy, counting, forest);
  const own = sensitivity.get(pairsClass(pairs.digest));
  const other = alternative.sensitivity.get(pairsClass(pairs.digest));
  if (!own || !other || !errsLess(policy, [own, meanNumbers(forest)], [other, alternative.meanVariance])) return undefined;
  const measure: OrderedMeasure = {
    mechanism: 'ordered',
    name: `cells of ${key.column}`,
    cells: groups.flatMap((keys) => new Array<readonly string[]>(numbers).fill(keys)),
    strategy: forest,
    sensitivity,
    counting,
  };
  const sums = scope.ordered(measure);
  return linearAnswer(layout, [...sumTerms(forest, sums, placed.width), totalTerm(forest, { ...placed, whole: whole() })]);
}

type NumbersOfCell = readonly [sensitivity: Sensitivity, meanVariance: number];
/** The mean squared error of a cell is smaller under the noise that is used. */
export function errsLess({ budget }: Policy, [a, ofA]: NumbersOfCell, [b, ofB]: NumbersOfCell): boolean {
  return toNumber(budget.delta) > 0
    ? ofA * Number(a.l2squared) < ofB * Number(b.l2squared)
    : ofA * Number(a.l1) ** 2 < ofB * Number(b.l1) ** 2;
}

/** Key that maps rows to the trees of the forest, ordered by their roots among `roots`; rows without an answer to none, or to their own. */
function treeKey(key: Axis, forest: CellForest, roots: readonly number[]): LabelledKey {
  const rootOf = rootsOf(forest);
  if (key.kind === 'code') {
    const groups = roots.map((root) => key.groups.flatMap((codes, cell) => (rootOf[cell] === root ? codes : [])));
    return { key: { ...key, groups, size: groups.length }, labels: roots.map((root) => `tree ${root}`) };
  }
  // Bins that pairs join lie side by side.
  const edges = key.kind === 'bin' ? key.edges.filter((_, k) => rootOf[k + 1] !== rootOf[k]) : [];
  const labels = Array.from({ length: edges.length + 2 }, (_, k) => `tree ${k}`);
  return { key: { kind: 'bin', column: key.column, edges, size: labels.length }, labels };
}

/** Noisy numbers that a cell is computed from: its own, minus those of its children. */
function sumTerms(forest: CellForest, sums: number, width: number): readonly LinearTerm[] {
  const signs = signsOf(forest);
  const numbers = numbered(forest).length;
  const of = (list: 'plus' | 'minus') => (i: number) => signs[i % width]![list].map((k) => Math.floor(i / width) * numbers + k);
  return [
    { measure: sums, factor: one, cells: of('plus') },
    { measure: sums, factor: { num: -1n, den: 1n }, cells: of('minus') },
  ];
}

interface ForestLayout {
  readonly whole: number;
  readonly roots: readonly number[];
  /** Cells shown per group: those of the key that hold answers. */
  readonly width: number;
  readonly key: Axis;
}
/** Total of the tree, which a root adds to its noisy numbers. */
function totalTerm(forest: CellForest, { whole, roots, width, key }: ForestLayout): LinearTerm {
  const rootOf = rootsOf(forest);
  // Trees of bins follow the order of their bins; rows without an answer come last, and there are none.
  const order = key.kind === 'code' ? roots : [...new Set(rootOf)];
  return {
    measure: whole,
    factor: one,
    cells: (i) => {
      const cell = i % width;
      return forest.parent[cell]! < 0 ? [Math.floor(i / width) * order.length + order.indexOf(cell)] : [];
    },
  };
}
