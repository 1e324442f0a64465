import { sumEffects } from '../../count/effects.js';
import { forestFor } from '../../count/forest-cells.js';
import { forestEffects } from '../../count/forest-effects.js';
import type { Axis, OrderedMeasure } from '../../count/measure.js';
import { one, toNumber } from '../../exact/rational.js';
import type { Effects } from '../../mechanism/effect.js';
import { type Forest, meanNumbers, numbered, rootsOf, signsOf } from '../../mechanism/ordered/forest.js';
import { along } from '../../mechanism/record-class.js';
import { type Layout, linearAnswer, type Term } from '../answer.js';
import type { LabelledKey } from '../keys.js';
import { type BoundQuery, furtherBy, type Rows, type Scope } from '../scope.js';

/** What else the cells could be read off: how many noisy numbers' variance a cell has in the mean, and what those cost. */
export interface Rival {
  readonly effects: Effects;
  readonly meanVariance: number;
}

/**
 * Cells of one key, each read off few sums along the forest that pairs make of them (forest.proof.md); undefined where pairs close rings, where totals of its trees are not public, or where the rival errs
 * less. `rows` are without the key, and leave out who has no answer.
 */
export function alongForest(scope: Scope, rows: Rows, key: Axis, layout: Layout, rival: Rival): BoundQuery | undefined {
  const { policy } = scope;
  const forest = rows.weight === undefined && !policy.known ? forestFor(policy, key) : undefined;
  const { pairs } = policy.protect;
  if (!forest || !pairs) return undefined;
  const counting = scope.counting({
    filter: rows.filter,
    keys: [...rows.keys.map((k) => k.key), key],
    value: { kind: 'one' },
  });
  const effects = forestEffects(policy, counting, forest);
  const roots = [...new Set(rootsOf(forest))];
  const trees = furtherBy(rows, treesOf(key, forest, roots));
  const totals = sumEffects(
    policy,
    scope.counting({ filter: trees.filter, keys: trees.keys.map((k) => k.key), value: { kind: 'one' } }),
  );
  if (totals.size > 0 || !isLess(scope, effects, rival, meanNumbers(forest), pairs.digest)) return undefined;
  const numbers = numbered(forest).length;
  const groups = rows.cells;
  const measure: OrderedMeasure = {
    mechanism: 'ordered',
    name: `cells of ${key.column}`,
    cells: groups.flatMap((keys) => new Array<readonly string[]>(numbers).fill(keys)),
    strategy: forest,
    effects,
    counting,
  };
  const sums = scope.ordered(measure);
  const whole = scope.total(trees, { kind: 'one' }, one, `rows by ${key.column} as far as pairs join`);
  return linearAnswer(layout, termsOf(forest, { sums, whole, roots, width: layout.cells.length / groups.length, key }));
}

/** Whether the squared error of a cell is less, in the mean, by the noise that is used. */
function isLess({ policy }: Scope, effects: Effects, rival: Rival, variance: number, digest: string): boolean {
  const [own, other] = [effects.get(along(digest)), rival.effects.get(along(digest))];
  if (!own || !other) return false;
  return toNumber(policy.budget.delta) > 0
    ? variance * Number(own.l2squared) < rival.meanVariance * Number(other.l2squared)
    : variance * Number(own.l1) ** 2 < rival.meanVariance * Number(other.l1) ** 2;
}

/** A key that puts rows into the trees of the forest, in the order of their roots among `roots`; whoever has no answer into none, or into one of their own. */
function treesOf(key: Axis, forest: Forest, roots: readonly number[]): LabelledKey {
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

interface Placed {
  readonly sums: number;
  readonly whole: number;
  readonly roots: readonly number[];
  /** Cells that are shown of each group: those of the key that hold answers. */
  readonly width: number;
  readonly key: Axis;
}
function termsOf(forest: Forest, { sums, whole, roots, width, key }: Placed): readonly Term[] {
  const signs = signsOf(forest);
  const numbers = numbered(forest).length;
  const treeAt = rootsOf(forest);
  const trees = key.kind === 'code' ? roots.length : new Set(treeAt.slice(0, -1)).size + 1;
  const placeOf = (root: number): number => (key.kind === 'code' ? roots.indexOf(root) : [...new Set(treeAt)].indexOf(root));
  const at = (i: number) => ({ group: Math.floor(i / width), cell: i % width });
  const of = (list: 'plus' | 'minus') => (i: number) => {
    const { group, cell } = at(i);
    return signs[cell]![list].map((k) => group * numbers + k);
  };
  return [
    { measure: sums, factor: one, cells: of('plus') },
    { measure: sums, factor: { num: -1n, den: 1n }, cells: of('minus') },
    {
      measure: whole,
      factor: one,
      cells: (i) => {
        const { group, cell } = at(i);
        return forest.parent[cell]! < 0 ? [group * trees + placeOf(cell)] : [];
      },
    },
  ];
}
