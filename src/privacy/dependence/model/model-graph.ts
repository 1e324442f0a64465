import { addUp } from '../../../base/exact/outward.js';
import { type FactorGraph, type FactorSpec, fromFactors } from '../graph/factor-graph.js';
import { isTable, type Model, type TableFactor } from './model.js';
import { logOdds, logOddsRatio, loosened } from './odds.js';

/** Declared ties: a graph of odds ratios, or a model with tables, from which a graph is derived. */
export type GraphOrModel = FactorGraph | Model;
export const isModel = (subject: GraphOrModel): subject is Model => 'ids' in subject;
export const graphOf = (subject: GraphOrModel): FactorGraph => (isModel(subject) ? graphsOf(subject)[0]! : subject);

/** A product of table factors over one set of records; `relative` bounds the rounding of its entries. */
interface Table extends TableFactor {
  readonly relative: number;
}

const scopeOf = (records: readonly number[]): string => [...records].sort((a, b) => a - b).join();
const unit = 2 ** -53;
/** Below this a product loses relative accuracy; such a table's D is taken as infinite. */
const smallest = 2 ** -1022;

/**
 * Factor graphs of a model, each with valid bounds, so the least counts: first with factors over the same records multiplied,
 * then (if different) with tables multiplied into larger ones that contain them.
 */
export function graphsOf(model: Model): FactorGraph[] {
  const shape = (records: readonly number[]) => records.map((r) => model.values[r]!.length);
  const tables = new Map<string, Table>();
  const odds = new Map<string, { members: readonly number[]; logOdds: number }>();
  for (const factor of model.factors) {
    if (factor.records.length < 2) continue;
    const key = scopeOf(factor.records);
    if (isTable(factor)) {
      const table = { ...factor, relative: 0 };
      const known = tables.get(key);
      tables.set(key, known ? multiply(known, table, shape) : table);
    } else {
      const known = odds.get(key);
      odds.set(key, { members: factor.records, logOdds: addUp(known?.logOdds ?? 0, logOdds(factor.oddsRatio)) });
    }
  }
  const build = (list: Iterable<Table>) => fromFactors(model.ids.length, [...specs(list, new Map(odds), shape)]);
  const plain = build(tables.values());
  const absorbed = absorb(tables, shape);
  return absorbed ? [plain, build(absorbed)] : [plain];
}

function* specs(
  tables: Iterable<Table>,
  odds: Map<string, { members: readonly number[]; logOdds: number }>,
  shape: (records: readonly number[]) => number[],
): Iterable<FactorSpec> {
  const cache = new Map<Float64Array, number[]>();
  for (const { records, table, relative } of tables) {
    const key = scopeOf(records);
    const extra = odds.get(key)?.logOdds ?? 0;
    odds.delete(key);
    let plain = cache.get(table);
    if (!plain) {
      const sizes = shape(records);
      plain = records.map((_, axis) => logOddsRatio(table, sizes, axis));
      cache.set(table, plain);
    }
    yield { members: records, logOdds: plain.map((d) => addUp(relative > 0 ? loosened(d, relative) : d, extra)) };
  }
  yield* odds.values();
}

/** into * by, where by's records are among into's. The roundings of both, and one more: (1+a)(1+b)(1+u) is below 1 + a + b + 2u. */
function multiply(into: Table, by: Table, shape: (records: readonly number[]) => number[]): Table {
  const sizes = shape(into.records);
  const inner = shape(by.records);
  // The stride of each of into's axes in by's table; 0 where by does not see the record.
  const strides = into.records.map((r) => {
    const k = by.records.indexOf(r);
    return k < 0 ? 0 : inner.slice(k + 1).reduce((p, n) => p * n, 1);
  });
  const table = new Float64Array(into.table.length);
  const index = new Array<number>(sizes.length).fill(0);
  let at = 0;
  let lost = false;
  for (let cell = 0; cell < table.length; cell++) {
    const product = into.table[cell]! * by.table[at]!;
    table[cell] = product;
    if (!(product < Number.MAX_VALUE) || (product < smallest && into.table[cell]! > 0 && by.table[at]! > 0)) lost = true;
    for (let axis = sizes.length - 1; axis >= 0; axis--) {
      at += strides[axis]!;
      if (++index[axis]! < sizes[axis]!) break;
      at -= strides[axis]! * sizes[axis]!;
      index[axis] = 0;
    }
  }
  return { records: into.records, table, relative: lost ? Number.POSITIVE_INFINITY : into.relative + by.relative + 2 * unit };
}

function absorb(tables: ReadonlyMap<string, Table>, shape: (records: readonly number[]) => number[]): Table[] | undefined {
  const bySize = [...tables.values()].sort((a, b) => b.records.length - a.records.length);
  if (bySize.length > 4096 || bySize.every((t) => t.records.length === 2)) return undefined;
  const kept: Table[] = [];
  for (const table of bySize) {
    const host = kept.findIndex(
      (k) => k.records.length > table.records.length && table.records.every((r) => k.records.includes(r)),
    );
    if (host < 0) kept.push(table);
    else kept[host] = multiply(kept[host]!, table, shape);
  }
  return kept.length < bySize.length ? kept : undefined;
}
