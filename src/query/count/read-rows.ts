import { codesOf } from '../../policy/code.js';
import { declaredColumn, isCoded } from '../../policy/domain.js';
import { blockAt } from '../../policy/pairs/pairs.js';
import type { Policy } from '../../policy/policy.js';
import type { ColumnView } from './column-view.js';
import { type DerivedColumn, derivedPlace, placePasses } from './derived.js';
import type { CategoryKey, GroupKey, JointKey, RowValue } from './measure.js';
import { columnGrid } from './read-column.js';
import { isLeaf, type LeafTest, predicateOf, type RowTest } from './row-test.js';

export type Views = ReadonlyMap<string, ColumnView>;
/** Fills an array with one number per row of the current chunk. */
export type Filler<T> = (out: T, rows: number) => void;

const lookup = (policy: Policy, column: string, place: (code: string) => number): ((index: number) => number) => {
  const declared = declaredColumn(policy, column);
  const table = isCoded(declared) ? codesOf(declared).map(place) : [];
  return (index) => (index < 0 ? -1 : table[index]!);
};

/** Clears the mask where the test fails. */
export function testRows(policy: Policy, views: Views, test: RowTest): Filler<Uint8Array> {
  if (!isLeaf(test) || declaredColumn(policy, test.column).type === 'multi') {
    const passes = passesRow(policy, views, test);
    return (mask, rows) => {
      for (let i = 0; i < rows; i++) if (mask[i] === 1 && !passes(i)) mask[i] = 0;
    };
  }
  const view = views.get(test.column)!;
  const passes = placePasses(declaredColumn(policy, test.column), test);
  return (mask, rows) => {
    const indices = view.indices();
    for (let i = 0; i < rows; i++) if (!passes(indices[i]!)) mask[i] = 0;
  };
}

/** Predicate for row i of the current chunk. */
const passesRow = (policy: Policy, views: Views, test: RowTest): ((i: number) => boolean) =>
  predicateOf(test, (leaf) => leafPasses(policy, views, leaf));

function leafPasses(policy: Policy, views: Views, leaf: LeafTest): (i: number) => boolean {
  const view = views.get(leaf.column)!;
  if (leaf.kind === 'code' && declaredColumn(policy, leaf.column).type === 'multi') {
    const wanted = lookup(policy, leaf.column, (code) => (leaf.codes.includes(code) ? 1 : 0));
    return (i) => {
      const named = view.options(i);
      return named.length > 0 && named.some((o) => wanted(o) === 1) !== leaf.negate;
    };
  }
  const passes = placePasses(declaredColumn(policy, leaf.column), leaf);
  return (i) => passes(view.indices()[i]!);
}

/** View of a column derived from others of the same chunk, which are loaded first. */
export function derivedView(policy: Policy, views: Views, derived: DerivedColumn): ColumnView {
  const place = derivedPlace(
    derived,
    (column) => {
      const view = views.get(column)!;
      return (i) => view.indices()[i]!;
    },
    (test) => passesRow(policy, views, test),
  );
  let rows = 0;
  let fresh = false;
  let buffer = new Float64Array(0);
  const indices = (): Float64Array => {
    if (fresh) return buffer;
    if (buffer.length < rows) buffer = new Float64Array(rows);
    for (let i = 0; i < rows; i++) buffer[i] = place(i);
    fresh = true;
    return buffer;
  };
  const turn = (count: number) => {
    rows = count;
    fresh = false;
  };
  return {
    load: (_, count) => turn(count),
    loadStored: (_, count) => turn(count),
    indices,
    count(into, sums) {
      const found = indices();
      for (let i = 0; i < rows; i++) sums[into[found[i]! + 1]!]! += 1;
    },
    options: () => [],
  };
}

const groupOf = (key: CategoryKey): ((code: string) => number) => {
  const groups = new Map(key.groups.flatMap((codes, p) => codes.map((code) => [code, p] as const)));
  return (code) => groups.get(code) ?? -1;
};
/** Position of every code index plus one (so of missing first); rows to be left out go to `dropped`. */
export function codePlaces(policy: Policy, key: CategoryKey, dropped: number): Int32Array {
  const last = key.missing === 'cell' ? key.size - 1 : dropped;
  const declared = declaredColumn(policy, key.column);
  const codes = isCoded(declared) ? codesOf(declared) : [];
  const places = new Int32Array(codes.length + 1).fill(last);
  // A histogram has one group per code, in their order.
  if (codes.length === key.groups.length && key.groups.every((own, p) => own.length === 1 && own[0] === codes[p]))
    return places.map((_, p) => (p === 0 ? last : p - 1));
  const group = groupOf(key);
  codes.forEach((code, i) => {
    if (group(code) >= 0) places[i + 1] = group(code);
  });
  return places;
}

/** Position of each row for a key that gives one position; -1 drops the row. */
export function keyRows(policy: Policy, views: Views, key: Exclude<GroupKey, { kind: 'options' }>): Filler<Int32Array> {
  if (key.kind === 'joint') return jointRows(policy, views, key);
  const view = views.get(key.column)!;
  const each =
    (place: (index: number) => number): Filler<Int32Array> =>
    (out, rows) => {
      const indices = view.indices();
      for (let i = 0; i < rows; i++) out[i] = place(indices[i]!);
    };
  if (key.kind === 'grid') return each((p) => (p < 0 ? -1 : Math.floor(p / key.width)));
  if (key.kind === 'bin') {
    const { edges, size } = key;
    return each((p) => (p < 0 ? size - 1 : blockAt(edges, p)));
  }
  const declared = declaredColumn(policy, key.column);
  if (declared.type !== 'multi') {
    const table = codePlaces(policy, key, -1);
    return (out, rows) => {
      const indices = view.indices();
      for (let i = 0; i < rows; i++) out[i] = table[indices[i]! + 1]!;
    };
  }
  const last = key.missing === 'cell' ? key.size - 1 : -1;
  const group = lookup(policy, key.column, groupOf(key));
  return (out, rows) => {
    for (let i = 0; i < rows; i++) {
      const places = view
        .options(i)
        .map(group)
        .filter((p) => p >= 0);
      out[i] = places.length > 0 ? Math.min(...places) : last;
    }
  };
}

/** Walks a row's positions down the tree of allowed combinations, one table look-up per column; 0 = left the support. */
function jointRows(policy: Policy, views: Views, key: JointKey): Filler<Int32Array> {
  const last = key.keys.length - 1;
  const levels = key.keys.map(({ size }) => size);
  const places = key.keys.map((part) => codePlaces(policy, part, -1));
  // steps[c][node x levels + position]: the node reached, or at the last column the position plus one.
  const nodes = levels.map(() => new Map<string, number>());
  const steps = levels.map((v) => new Int32Array((key.support.length + 1) * v));
  key.support.forEach((combination, position) => {
    let node = 0;
    combination.forEach((code, c) => {
      const at = node * levels[c]! + code;
      if (c === last) steps[c]![at] = position + 1;
      else {
        const known = nodes[c]!;
        const path = combination.slice(0, c + 1).join();
        if (!known.has(path)) known.set(path, known.size + 1);
        node = known.get(path)!;
        steps[c]![at] = node;
      }
    });
  });
  return (out, rows) => {
    out.fill(0, 0, rows);
    key.keys.forEach(({ column }, c) => {
      const indices = views.get(column)!.indices();
      const place = places[c]!;
      const v = levels[c]!;
      const table = steps[c]!;
      for (let i = 0; i < rows; i++) {
        const node = out[i]!;
        if (c > 0 && node === 0) continue;
        out[i] = table[node * v + place[indices[i]! + 1]!]!;
      }
    });
    for (let i = 0; i < rows; i++) out[i] = out[i] === 0 ? key.size - 1 : out[i]! - 1;
  };
}

/** Value of each row: exact doubles when they fit, else BigInt; undefined adds nothing. */
export function valueRows(policy: Policy, views: Views, value: RowValue): (i: number) => bigint | undefined {
  const unit = (column: string): ((i: number) => bigint | undefined) => {
    const grid = columnGrid(policy, column);
    const view = views.get(column)!;
    return (i) => {
      const p = view.indices()[i]!;
      return p < 0 ? undefined : grid.lowUnits + BigInt(p) * grid.stride;
    };
  };
  if (value.kind === 'one' || value.kind === 'distinct') return () => 1n;
  const weight = value.weight === undefined ? () => 1n : unit(value.weight);
  if (value.kind === 'weight') return weight;
  const number = unit(value.column);
  return (i) => {
    const w = weight(i);
    const u = number(i);
    return w === undefined || u === undefined ? undefined : ((u - value.origin) ** BigInt(value.power) - value.shift) * w;
  };
}
/** The same in doubles; NaN adds nothing. Used only when every intermediate fits 2^53. */
export function smallValueRows(policy: Policy, views: Views, value: RowValue): (i: number) => number {
  const unit = (column: string, origin: bigint): ((i: number) => number) => {
    const grid = columnGrid(policy, column);
    const view = views.get(column)!;
    const start = Number(grid.lowUnits - origin);
    const stride = Number(grid.stride);
    return (i) => {
      const p = view.indices()[i]!;
      return p < 0 ? Number.NaN : start + p * stride;
    };
  };
  if (value.kind === 'one' || value.kind === 'distinct') return () => 1;
  const weight = value.weight === undefined ? () => 1 : unit(value.weight, 0n);
  if (value.kind === 'weight') return weight;
  const number = unit(value.column, value.origin);
  const shift = Number(value.shift);
  return (i) => {
    const u = number(i);
    return ((value.power === 1 ? u : u * u) - shift) * weight(i);
  };
}
