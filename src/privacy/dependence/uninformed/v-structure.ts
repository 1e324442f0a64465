import { addDown, addUp, divUp, logUp, mulUp } from '../../../base/exact/outward.js';
import { push } from '../graph/push.js';
import { isTable, type Model, type TableFactor } from '../model/model.js';
import { logOddsRatio } from '../model/odds.js';

/**
 * Knowledge assumed in bounds for an isolated child with its parents (uninformed.proof.md, "A child and its parents"): `exact` or
 * none. Noisy knowledge of the child voids them, so they must be requested explicitly.
 */
export type Knowledge = 'exact' | 'none';

/** Infinity for every record that is not a parent of an isolated v-structure. */
export function vStructures(model: Model, recordCosts: Float64Array, knowledge: Knowledge): Float64Array {
  const leaks = new Float64Array(model.ids.length).fill(Number.POSITIVE_INFINITY);
  const touching = model.ids.map(() => 0);
  const weighted = new Uint8Array(model.ids.length);
  for (const { records } of model.factors) {
    if (records.length > 1) for (const r of records) touching[r]!++;
    else weighted[records[0]!] = 1;
  }
  for (const r of model.anyPrior ?? []) weighted[r] = 1;
  for (const factor of model.factors) {
    if (!isTable(factor) || factor.records.length < 3 || factor.records.some((r) => touching[r] !== 1)) continue;
    for (const [axis, child] of factor.records.entries()) {
      if (weighted[child]) continue;
      for (const [i, leak] of leaksOfParents(model, { factor, axis, recordCosts, knowledge }))
        leaks[i] = Math.min(leaks[i]!, leak);
    }
  }
  return leaks;
}

interface IsolatedChild {
  readonly factor: TableFactor;
  readonly axis: number;
  readonly recordCosts: Float64Array;
  readonly knowledge: Knowledge;
}

function* leaksOfParents(
  model: Model,
  { factor, axis, recordCosts, knowledge }: IsolatedChild,
): Iterable<readonly [record: number, leak: number]> {
  const shape = factor.records.map((r) => model.values[r]!.length);
  const slack = normalisation(factor.table, shape, axis);
  if (!(slack < 1e-6)) return;
  for (const [k, i] of factor.records.entries()) {
    if (k === axis) continue;
    const others = factor.records.filter((_, x) => x !== k && x !== axis);
    const child = push(
      recordCosts[factor.records[axis]!]!,
      slicedOdds(factor.table, shape, k, (x) => x !== k && x !== axis),
    );
    const rest = others.reduce((s, j) => addUp(s, recordCosts[j]!), 0);
    const known = slicedOdds(factor.table, shape, k, (x) => x === axis);
    const parents = knowledge === 'none' ? 0 : push(rest, known);
    yield [i, addUp(addUp(recordCosts[i]!, Math.max(child, parents)), mulUp(2, slack))];
  }
}

/** log of the largest over the smallest sum over the child: 0 for a conditional table, up to rounding. Infinity when some parents have no child. */
function normalisation(table: Float64Array, shape: readonly number[], axis: number): number {
  const inner = shape.slice(axis + 1).reduce((p, n) => p * n, 1);
  const size = shape[axis]!;
  let most = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let o = 0; o < table.length / (inner * size); o++)
    for (let k = 0; k < inner; k++) {
      let up = 0;
      let down = 0;
      for (let v = 0; v < size; v++) {
        up = addUp(up, table[(o * size + v) * inner + k]!);
        down = addDown(down, table[(o * size + v) * inner + k]!);
      }
      most = Math.max(most, up);
      least = Math.min(least, down);
    }
  return least > 0 ? logUp(divUp(most, least)) : Number.POSITIVE_INFINITY;
}

/** The largest D of axis k over all ways of fixing the axes in `fixed`. */
function slicedOdds(table: Float64Array, shape: readonly number[], k: number, fixed: (axis: number) => boolean): number {
  const free = shape.map((n, x) => (fixed(x) ? 1 : n));
  const strides = shape.map((_, x) => shape.slice(x + 1).reduce((p, n) => p * n, 1));
  const size = free.reduce((p, n) => p * n, 1);
  const slices = table.length / size;
  let worst = 0;
  for (let s = 0; s < slices; s++) {
    let base = 0;
    let left = s;
    for (let x = shape.length - 1; x >= 0; x--)
      if (fixed(x)) {
        base += (left % shape[x]!) * strides[x]!;
        left = Math.floor(left / shape[x]!);
      }
    const slice = Float64Array.from({ length: size }, (_, cell) => {
      let at = base;
      let rest = cell;
      for (let x = shape.length - 1; x >= 0; x--) {
        at += (rest % free[x]!) * strides[x]!;
        rest = Math.floor(rest / free[x]!);
      }
      return table[at]!;
    });
    worst = Math.max(worst, logOddsRatio(slice, free, k));
  }
  return worst;
}
