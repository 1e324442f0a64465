import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bicScore } from '../../../../test/bic-score.js';
import { topologicalOrder } from '../../../privacy/dependence/model/network.js';
import { bestStructure } from './best-structure.js';
import type { CodedTable } from './coded.js';

/** Every directed acyclic graph on k nodes as lists of parents. */
function* everyGraph(k: number): Generator<number[][]> {
  const pairs = Array.from({ length: k * k }, (_, e) => [Math.floor(e / k), e % k] as const).filter(([a, b]) => a < b);
  const states = 3 ** pairs.length;
  for (let s = 0; s < states; s++) {
    const parents: number[][] = Array.from({ length: k }, () => []);
    let left = s;
    for (const [a, b] of pairs) {
      if (left % 3 === 1) parents[b]!.push(a);
      if (left % 3 === 2) parents[a]!.push(b);
      left = Math.floor(left / 3);
    }
    if (topologicalOrder(parents).length === k) yield parents;
  }
}

/** The best score over all graphs with family scores computed once, independent of the code under test. */
function exhaustive(table: CodedTable): number {
  const k = table.levels.length;
  const family = new Map<string, number>();
  const base = bicScore(
    table,
    table.levels.map(() => []),
  );
  const score = (x: number, parents: readonly number[]): number => {
    const key = `${x}|${[...parents].sort()}`;
    let value = family.get(key);
    if (value === undefined) {
      value = bicScore(
        table,
        table.levels.map((_, y) => (y === x ? parents : [])),
      );
      family.set(key, value - base);
      value -= base;
    }
    return value;
  };
  let best = Number.NEGATIVE_INFINITY;
  for (const parents of everyGraph(k)) {
    let total = base;
    for (let x = 0; x < k; x++) total += score(x, parents[x]!);
    best = Math.max(best, total);
  }
  return best;
}

/** Exhaustive over orders (every acyclic graph is inside one): for six nodes, where listing 3.8 million graphs is slow. */
function exhaustiveByOrder(table: CodedTable): number {
  const k = table.levels.length;
  const base = bicScore(
    table,
    table.levels.map(() => []),
  );
  const scores = Array.from({ length: k }, (_, x) =>
    Array.from({ length: 1 << k }, (_, set) => {
      if ((set >> x) & 1) return Number.NEGATIVE_INFINITY;
      const parents = table.levels.map((_, c) => c).filter((c) => (set >> c) & 1);
      return (
        bicScore(
          table,
          table.levels.map((_, y) => (y === x ? parents : [])),
        ) - base
      );
    }),
  );
  const within = scores.map((row) =>
    row.map((_, set) => {
      let best = Number.NEGATIVE_INFINITY;
      for (let s = set; ; s = (s - 1) & set) {
        best = Math.max(best, row[s]!);
        if (s === 0) break;
      }
      return best;
    }),
  );
  let top = Number.NEGATIVE_INFINITY;
  const walk = (before: number, sum: number): void => {
    if (before === (1 << k) - 1) top = Math.max(top, sum);
    for (let x = 0; x < k; x++) if (!((before >> x) & 1)) walk(before | (1 << x), sum + within[x]![before]!);
  };
  walk(0, base);
  return top;
}

const tables = (k: number, rows: number) =>
  fc
    .tuple(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: k, maxLength: k }),
      fc.infiniteStream(fc.nat(1_000_000)),
      fc.integer({ min: 2, max: rows }),
    )
    .map(([levels, stream, n]): CodedTable => {
      const columns = levels.map(() => new Uint8Array(n));
      for (let c = 0; c < k; c++)
        for (let i = 0; i < n; i++) {
          const draw = stream.next().value;
          const copy = c > 0 ? columns[c - 1]![i]! + (c > 1 && c % 2 === 0 ? columns[c - 2]![i]! : 0) : draw;
          columns[c]![i] = (draw % 10 < 7 ? copy : draw >> 4) % levels[c]!;
        }
      return { names: levels.map((_, c) => `c${c}`), levels, rows: n, columns };
    });

describe('the best network structure', () => {
  it('the search equals an exhaustive search with many rows, where the bound uses all columns at once', () => {
    const levels = [7, 6, 6, 6, 7];
    const n = 9000;
    let state = 5;
    const below = (v: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * v);
    };
    const columns = levels.map(() => new Uint8Array(n));
    for (let i = 0; i < n; i++)
      for (let c = 0; c < levels.length; c++) {
        const from = c === 0 ? 0 : c < 3 ? columns[0]![i]! : columns[c - 2]![i]! + columns[c - 1]![i]!;
        columns[c]![i] = (c > 0 && below(20) > 0 ? from : below(levels[c]!)) % levels[c]!;
      }
    const table: CodedTable = { names: levels.map((_, c) => `c${c}`), levels, rows: n, columns };
    const found = bestStructure(table);
    expect(found.score).toBeCloseTo(exhaustiveByOrder(table), 5);
    expect(found.parents.some((list) => list.length >= 2)).toBe(true);
  });

  it('the search equals the best of all 543 graphs on four columns', () => {
    fc.assert(
      fc.property(tables(4, 120), (table) => {
        const found = bestStructure(table);
        expect(found.score).toBeCloseTo(exhaustive(table), 6);
        expect(bicScore(table, found.parents)).toBeCloseTo(found.score, 6);
      }),
      { numRuns: 60 },
    );
  });

  it('the search equals the best of all graphs on six columns', () => {
    fc.assert(
      fc.property(tables(6, 300), (table) => {
        expect(bestStructure(table).score).toBeCloseTo(exhaustiveByOrder(table), 6);
      }),
      { numRuns: 15 },
    );
  });

  it('the found structure respects a limit on the number of parents and is acyclic', () => {
    fc.assert(
      fc.property(tables(6, 200), fc.integer({ min: 0, max: 2 }), (table, most) => {
        const found = bestStructure(table, most);
        expect(Math.max(...found.parents.map((p) => p.length))).toBeLessThanOrEqual(most);
        expect(topologicalOrder(found.parents)).toHaveLength(6);
        expect(found.score).toBeLessThanOrEqual(bestStructure(table).score + 1e-9);
      }),
      { numRuns: 30 },
    );
  });

  it('the search refuses more columns than it can hold subsets of', () => {
    const levels = new Array(21).fill(2);
    const table = { names: levels.map(String), levels, rows: 1, columns: levels.map(() => new Uint8Array(1)) };
    expect(() => bestStructure(table)).toThrow(/2\^21 subsets/);
  });
});
