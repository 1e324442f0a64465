import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bicScore } from '../../../../test/bic-score.js';
import { levelCount } from '../../../privacy/dependence/pairwise/pair-tables.js';
import { chowLiu, informationGain } from './chow-liu.js';
import { type CodedTable, countMarginal, splitColumns } from './coded.js';
import { pairTables } from './contingency.js';

const survey = fc
  .tuple(
    fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 3, maxLength: 6 }),
    fc.infiniteStream(fc.nat(1e6)),
    fc.integer({ min: 1, max: 80 }),
  )
  .map(([levels, stream, rows]): CodedTable => {
    const columns = levels.map(() => new Uint16Array(rows));
    for (let c = 0; c < levels.length; c++)
      for (let r = 0; r < rows; r++) {
        const draw = stream.next().value;
        columns[c]![r] = (c > 0 && draw % 3 > 0 ? columns[c - 1]![r]! : draw >> 3) % levels[c]!;
      }
    return { names: levels.map(String), levels, rows, columns };
  });

describe('contingency tables', () => {
  it('contingency tables of pairs and triples equal direct counts', () => {
    fc.assert(
      fc.property(survey, (table) => {
        const pairs = pairTables(table);
        const cells = pairs.start[table.levels.length]!;
        const triple = countMarginal(table, [0, 1, 2]);
        for (let a = 0; a < table.levels[1]!; a++)
          for (let b = 0; b < table.levels[2]!; b++) {
            let both = 0;
            let all = 0;
            for (let r = 0; r < table.rows; r++)
              if (table.columns[1]![r] === a && table.columns[2]![r] === b) {
                both++;
                if (table.columns[0]![r] === 0) all++;
              }
            expect(pairs.counts[(pairs.start[1]! + a) * cells + pairs.start[2]! + b]).toBe(both);
            expect(triple[a * table.levels[2]! + b]).toBe(all);
          }
        for (let v = 0; v < table.levels[0]!; v++)
          expect(levelCount(pairs, 0, v)).toBe([...table.columns[0]!].filter((x) => x === v).length);
      }),
      { numRuns: 50 },
    );
  });
});

describe('the Chow-Liu forest', () => {
  it('the forest has the best BIC: no single added, removed or swapped edge improves it', () => {
    fc.assert(
      fc.property(survey, (table) => {
        const n = table.levels.length;
        const forest = chowLiu(pairTables(table));
        const parents = [...forest.parent].map((p) => (p < 0 ? [] : [p]));
        const score = bicScore(table, parents);
        const gains = forest.edges.reduce((sum, e) => sum + e.gain, 0);
        expect(score).toBeCloseTo(
          bicScore(
            table,
            table.levels.map(() => []),
          ) + gains,
          6,
        );
        // any forest is a set of undirected edges without a cycle: try all of them on up to five columns
        if (n > 5) return;
        const edges = Array.from({ length: n * n }, (_, e) => [Math.floor(e / n), e % n] as const).filter(([a, b]) => a < b);
        const pairs = pairTables(table);
        const weight = Math.log(Math.max(table.rows, 2)) / 2;
        const worth = edges.map(
          ([a, b]) => informationGain(pairs, a, b) - weight * (table.levels[a]! - 1) * (table.levels[b]! - 1),
        );
        let best = 0;
        for (let set = 0; set < 1 << edges.length; set++) {
          const root = Array.from({ length: n }, (_, i) => i);
          const find = (x: number): number => (root[x] === x ? x : find(root[x]!));
          let total = 0;
          let ok = true;
          edges.forEach(([a, b], e) => {
            if (!((set >> e) & 1)) return;
            if (find(a) === find(b)) ok = false;
            root[find(a)] = find(b);
            total += worth[e]!;
          });
          if (ok) best = Math.max(best, total);
        }
        expect(gains).toBeCloseTo(best, 6);
      }),
      { numRuns: 25 },
    );
  });
});

describe('chunks of columns', () => {
  it('chunks cover every column once, at most k at a time', () => {
    expect(splitColumns(23, 10).map((c) => c.length)).toEqual([10, 10, 3]);
    expect(splitColumns(23, 10).flat()).toEqual(Array.from({ length: 23 }, (_, i) => i));
  });
});
