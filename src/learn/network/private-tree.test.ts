import { describe, expect, it } from 'vitest';
import { generatedSurvey } from '../../../bench/learn.js';
import { divide, multiply, type Rational, rational, toNumber } from '../../exact/rational.js';
import { type CodedTable, chooseRows } from './coded.js';
import { type Chance, learnTree, scoreGrid, type TreeBudget, treeNetwork } from './private-tree.js';

/** Always the best candidate, no noise; keeps what it was asked for. */
function noChance() {
  const asked = { sharpness: [] as Rational[], scale: [] as Rational[], penalties: [] as (readonly bigint[])[] };
  const chance: Chance = {
    select: (penalties, sharpness) => {
      asked.sharpness.push(sharpness);
      asked.penalties.push(penalties);
      return penalties.indexOf(0n);
    },
    laplace: (scale) => {
      asked.scale.push(scale);
      return () => 0n;
    },
    gaussian: (variance) => {
      asked.scale.push(variance);
      return () => 0n;
    },
  };
  return { chance, asked };
}
const pure: TreeBudget = { noise: 'pure', epsilon: rational(1) };

describe('the private tree', () => {
  const table = generatedSurvey(8, 600, 3);

  it('spends exactly its budget: half on structure, half on tables', () => {
    const { chance, asked } = noChance();
    learnTree(table, pure, chance);
    const edges = 7;
    expect(asked.sharpness).toHaveLength(edges);
    const structure = asked.sharpness
      .map((k) => multiply(multiply(rational(2), rational(scoreGrid(table.rows).reach)), k))
      .reduce((sum, x) => sum + toNumber(x), 0);
    expect(structure).toBeCloseTo(0.5, 12);
    expect(toNumber(multiply(rational(edges), divide(rational(2), asked.scale[0]!)))).toBeCloseTo(0.5, 12);
  });

  it('spends exactly its rho under zCDP, never more', () => {
    const { chance, asked } = noChance();
    learnTree(table, { noise: 'zcdp', rho: rational(1, 100) }, chance);
    const structure = asked.sharpness.reduce((sum, k) => sum + (toNumber(k) * Number(scoreGrid(table.rows).reach)) ** 2 / 2, 0);
    expect(structure).toBeLessThanOrEqual(0.005);
    expect(structure).toBeCloseTo(0.005, 9);
    expect(7 / toNumber(asked.scale[0]!)).toBeCloseTo(0.005, 12);
  });

  it('without noise is the spanning tree of largest total distance from independence', () => {
    const tree = learnTree(table, pure, noChance().chance);
    const distance = (i: number, j: number): number => {
      const joint = new Map<string, number>();
      const own = new Map<string, number>();
      for (let r = 0; r < table.rows; r++) {
        const [a, b] = [table.columns[i]![r]!, table.columns[j]![r]!];
        joint.set(`${a},${b}`, (joint.get(`${a},${b}`) ?? 0) + 1);
        own.set(`i${a}`, (own.get(`i${a}`) ?? 0) + 1);
        own.set(`j${b}`, (own.get(`j${b}`) ?? 0) + 1);
      }
      let sum = 0;
      for (let a = 0; a < 3; a++)
        for (let b = 0; b < 3; b++)
          sum += Math.abs((joint.get(`${a},${b}`) ?? 0) - ((own.get(`i${a}`) ?? 0) * (own.get(`j${b}`) ?? 0)) / table.rows);
      return sum;
    };
    const found = tree.parent.reduce((sum, p, c) => sum + (p < 0 ? 0 : distance(p, c)), 0);
    // Kruskal as an independent check
    const edges = Array.from({ length: 64 }, (_, e) => [e >> 3, e & 7] as const)
      .filter(([a, b]) => a < b)
      .sort(([a, b], [c, d]) => distance(c, d) - distance(a, b));
    const root = Array.from({ length: 8 }, (_, i) => i);
    const find = (x: number): number => (root[x] === x ? x : find(root[x]!));
    let best = 0;
    for (const [a, b] of edges)
      if (find(a) !== find(b)) {
        root[find(a)] = find(b);
        best += distance(a, b);
      }
    // scores are compared in units of 6/64 rows per edge
    expect(found).toBeLessThanOrEqual(best + 1e-9);
    expect(found).toBeGreaterThan(best - 7 * (6 / 64));
  });

  it('keeps every selection probability within its share when any one row is replaced', () => {
    const small = chooseRows(
      generatedSurvey(4, 40, 2, 3),
      Array.from({ length: 12 }, (_, i) => i),
    );
    const first = (t: CodedTable): number[] => {
      const { chance, asked } = noChance();
      learnTree(t, pure, chance);
      const weights = asked.penalties[0]!.map((p) => Math.exp(-toNumber(asked.sharpness[0]!) * Number(p)));
      const total = weights.reduce((a, b) => a + b);
      return weights.map((w) => w / total);
    };
    const before = first(small);
    const share = 0.5 / 3;
    for (let r = 0; r < small.rows; r++)
      for (let to = 0; to < 16; to++) {
        const after = first({
          ...small,
          columns: small.columns.map((codes, c) => {
            const copy = Uint8Array.from(codes);
            copy[r] = (to >> c) & 1;
            return copy;
          }),
        });
        after.forEach((p, k) => {
          expect(Math.abs(Math.log(p / before[k]!))).toBeLessThanOrEqual(share + 1e-12);
        });
      }
  });

  it('becomes a network that says it was paid for, also from negative noisy counts', () => {
    const chance: Chance = { ...noChance().chance, laplace: () => () => -10_000n };
    const tree = learnTree(table, pure, chance);
    const network = treeNetwork(
      'wave',
      tree,
      table.names,
      table.levels.map((v) => Array.from({ length: v }, (_, k) => `${k}`)),
      { epsilon: '1', delta: '0' },
    );
    expect(network.origin).toEqual({ learned: 'paid', epsilon: '1', delta: '0' });
    expect(network.variables[3]!.table[0]).toBeCloseTo(1 / 3, 12);
  });
});
