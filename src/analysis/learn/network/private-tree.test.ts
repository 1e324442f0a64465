import { describe, expect, it } from 'vitest';
import { generatedSurvey } from '../../../../bench/learn.js';
import { RecordingPayment, usedParts } from '../../../../test/transcript.js';
import { compare, divide, multiply, rational, toNumber } from '../../../base/exact/rational.js';
import { type BudgetShare, pure as pureOf, zcdp } from '../../../privacy/mechanism/budget-share.js';
import { type CodedTable, chooseRows } from './coded.js';
import { pairTables } from './contingency.js';
import { learnTree, treeNetwork, treeNoise } from './private-tree.js';
import { scoreGrid } from './score-grid.js';

/** Picks the best candidate without noise; keeps the inputs. */
function withoutNoise(table: CodedTable, budgetShare: BudgetShare, mode: 'exact' | 'nothing' = 'exact') {
  const noise = treeNoise(table.levels, table.rows, budgetShare);
  const transcript = new RecordingPayment([noise.structure, noise.tables], mode);
  const tree = learnTree(pairTables(table), noise, transcript);
  const sharpness = noise.structure.distribution.kind === 'selection' ? noise.structure.distribution.sharpness : rational(0);
  const { distribution } = noise.tables;
  const scale =
    distribution.kind === 'laplace' ? distribution.scale : distribution.kind === 'gaussian' ? distribution.variance : rational(0);
  return { tree, transcript, sharpness, scale, steps: transcript.seen.filter((s) => s.mechanism === noise.structure) };
}
const pure = pureOf(rational(1));

describe('the private tree', () => {
  const table = generatedSurvey(8, 600, 3);

  it('the private tree spends exactly its budget: half on structure, half on tables', () => {
    const { sharpness, scale, steps } = withoutNoise(table, pure);
    const edges = 7;
    expect(steps).toHaveLength(edges);
    const each = multiply(multiply(rational(2), rational(scoreGrid(table.rows).reach)), sharpness);
    expect(toNumber(multiply(rational(edges), each))).toBeCloseTo(0.5, 12);
    const tables = multiply(rational(edges), divide(rational(2), scale));
    expect(compare(tables, rational(1, 2))).toBeLessThanOrEqual(0);
    expect(toNumber(tables)).toBeCloseTo(0.5, 6);
  });

  it('the private tree spends exactly its rho under zCDP', () => {
    const { sharpness, scale, steps } = withoutNoise(table, zcdp(rational(1, 100)));
    const structure = (steps.length * (toNumber(sharpness) * Number(scoreGrid(table.rows).reach)) ** 2) / 2;
    expect(structure).toBeLessThanOrEqual(0.005);
    expect(structure).toBeCloseTo(0.005, 9);
    expect(7 / toNumber(scale)).toBeLessThanOrEqual(0.005);
    expect(7 / toNumber(scale)).toBeCloseTo(0.005, 8);
  });

  it('the tree without noise is the spanning tree of largest total distance from independence', () => {
    const { tree } = withoutNoise(table, pure);
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

  it('every selection probability stays within its share of the budget when any one row is replaced', () => {
    const small = chooseRows(
      generatedSurvey(4, 40, 2, 3),
      Array.from({ length: 12 }, (_, i) => i),
    );
    const first = (t: CodedTable): number[] => {
      const { steps, sharpness } = withoutNoise(t, pure);
      const weights = steps[0]!.exact.map((p) => Math.exp(-toNumber(sharpness) * Number(p)));
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

  it('choices and tables move by no more than their stated sensitivity, and tables reach it', () => {
    const small = chooseRows(
      generatedSurvey(4, 40, 2, 3),
      Array.from({ length: 30 }, (_, i) => i),
    );
    const replaced = (to: number): CodedTable => ({
      ...small,
      columns: small.columns.map((codes, c) => {
        const copy = Uint8Array.from(codes);
        copy[0] = (to >> c) & 1;
        return copy;
      }),
    });
    for (const within of [pure, zcdp(rational(1, 100))]) {
      const noise = treeNoise(small.levels, small.rows, within);
      const run = (t: CodedTable): RecordingPayment => {
        const transcript = new RecordingPayment([noise.structure, noise.tables]);
        learnTree(pairTables(t), noise, transcript);
        return transcript;
      };
      const all = Array.from({ length: 16 }, (_, to) => run(replaced(to)));
      const used = all.flatMap((a) => all.map((b) => usedParts(a, b)));
      for (const [structure, tables] of used) expect(Math.max(structure!, tables!)).toBeLessThanOrEqual(1);
      expect(Math.max(...used.map(([, tables]) => tables!))).toBeCloseTo(1, 5);
    }
  });

  it('the private tree becomes a network marked as paid for, even from negative noisy counts', () => {
    const { tree: exact } = withoutNoise(table, pure);
    const tree = { ...exact, tables: exact.tables.map((counts) => counts.map((count) => count - 10_000)) };
    const network = treeNetwork(
      tree,
      { name: 'wave', names: table.names, values: table.levels.map((v) => Array.from({ length: v }, (_, k) => `${k}`)) },
      { epsilon: '1', delta: '0' },
    );
    expect(network.origin).toEqual({ learned: 'paid', epsilon: '1', delta: '0' });
    expect(network.variables[3]!.table[0]).toBeCloseTo(1 / 3, 12);
  });
});
