import { describe, expect, it } from 'vitest';
import { strangersOf } from '../../../experiments/policies/bench.js';
import { seededFuzz } from '../../../test/fuzz/random.js';
import { category, number, samplePolicy } from '../../../test/sample-policy.js';
import { one } from '../../base/exact/rational.js';
import type { Cell } from '../../data/engine/engine.js';
import type { ColumnPairs, Pairs } from '../../policy/pairs/pairs.js';
import type { Column, Policy } from '../../policy/policy.js';
import { inDoubles } from '../../privacy/mechanism/distribution.js';
import { nothingSpent } from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord, pairsClass } from '../../privacy/mechanism/record-class.js';
import { chooseNoise } from '../../release/accountant/choose.js';
import { bindBatch } from '../bind.js';
import { parseBatch } from '../parse.js';
import type { Measure } from './measure.js';
import { numbersToNoise } from './noisy-cells.js';
import { rowCounter } from './row-counter.js';

const codes = ['a', 'b', 'c', 'd', 'e', 'f'];
const columns: readonly Column[] = [category('party', codes), category('area', ['n', 's']), number('x', '0', '11')];
const names = ['party', 'area', 'x'];
const graph = (edges: readonly (readonly [number, number])[]): ColumnPairs => ({
  form: 'graph',
  missing: 'apart',
  size: 6,
  joined: codes.map((_, v) => edges.flatMap(([a, b]) => (a === v ? [b] : b === v ? [a] : []))),
});
const tree = graph([[0, 3], [3, 1], [3, 4], [2, 5]]); // biome-ignore format: one line
const star = graph([[2, 0], [2, 1], [2, 3], [2, 4]]); // biome-ignore format: one line
const ring = graph([[0, 1], [1, 2], [2, 0]]); // biome-ignore format: one line
const policyOf = (own: Record<string, ColumnPairs>, protect: object = {}): Policy =>
  samplePolicy(columns, {
    ...protect,
    pairs: { digest: 'abcd', columns: new Map(Object.entries(own)), declarations: [] } as Pairs,
  });
const same = (size: number): ColumnPairs => ({ form: 'same', missing: 'apart', size });
const bound = (policy: Policy, query: object) => bindBatch(parseBatch([query]), policy);
const forestIn = (measures: readonly Measure[]) => measures.find((m) => m.mechanism === 'ordered' && 'parent' in m.strategy);

type Row = readonly [number, number, number];
const cellsOf = ([p, a, x]: Row): readonly Cell[] => [p < 0 ? null : codes[p]!, a < 0 ? null : 'ns'[a]!, x < 0 ? null : x];
const count = (policy: Policy, measures: readonly Measure[], rows: readonly Row[]) => {
  const counter = rowCounter(measures, names, policy);
  const cells = rows.map(cellsOf);
  counter.add({ columns: names.map((_, c) => cells.map((row) => row[c]!)), rows: rows.length });
  return counter.totals();
};
const range = (n: number) => Array.from({ length: n }, (_, k) => k);
const allRows: readonly Row[] = [-1, ...range(6)].flatMap((p) =>
  [-1, 0, 1].flatMap((a) => [-1, 0, 5, 6, 11].map((x): Row => [p, a, x])),
);

const questions = [
  ['codes that are joined to trees', policyOf({ party: tree, area: same(2), x: same(12) }), { kind: 'ranges', column: 'party' }],
  ['a star', policyOf({ party: star, area: same(2), x: same(12) }), { kind: 'ranges', column: 'party' }],
  ['by a column in which rows agree', policyOf({ party: tree, area: same(2), x: same(12) }), { kind: 'ranges', column: 'party', by: ['area'] }],
  ['bins of numbers', policyOf({ party: same(6), area: same(2), x: { form: 'steps', steps: 1, missing: 'apart', size: 12 } }), { kind: 'ranges', column: 'x', by: ['area'] }],
  ['some rows', policyOf({ party: tree, area: same(2), x: same(12) }), { kind: 'ranges', column: 'party', where: [{ column: 'x', op: '>', value: 5 }] }],
] as const; // biome-ignore format: one line each

describe('cells that pairs join to a forest', () => {
  it.each(questions)('cells of a forest are computed from sums of which a pair changes one by one: %s', (_, policy, query) => {
    const { measures } = bound(policy, query);
    const measure = forestIn(measures)!;
    expect(measure).toBeDefined();
    const vectors = allRows.map((row) => numbersToNoise(measure as never, count(policy, [measure], [row])[0]!));
    const own = policy.protect.pairs!.columns;
    const near = (name: string, a: number, b: number): boolean => {
      const pairs = own.get(name)!;
      if (a === b) return true;
      if (pairs.form === 'same' || a < 0 || b < 0) return false;
      return pairs.form === 'graph' ? pairs.joined[a]!.includes(b) : pairs.form === 'steps' && Math.abs(a - b) <= pairs.steps;
    };
    let [most, full] = [0n, 0n];
    for (const [i, a] of allRows.entries())
      for (const [j, b] of allRows.entries()) {
        const far = vectors[i]!.reduce(
          (sum, v, k) => sum + (v < vectors[j]![k]! ? vectors[j]![k]! - v : v - vectors[j]![k]!),
          0n,
        );
        if (far > full) full = far;
        if (names.every((name, c) => near(name, a[c]!, b[c]!)) && far > most) most = far;
      }
    expect(most).toBe(1n);
    expect(measure.sensitivity.get(pairsClass('abcd'))).toEqual({ l1: 1n, l2squared: 1n });
    expect(measure.sensitivity.get(everyRecord)!.l1).toBeGreaterThanOrEqual(full);
    // Everything else that is read is public under the policy.
    for (const other of measures) if (other !== measure) expect(other.sensitivity.size).toBe(0);
  });

  it.each(questions)('the cells of a forest add up to the counts: %s', (_, policy, query) => {
    const { pick } = seededFuzz(7);
    const rows = Array.from({ length: 300 }, () => pick(allRows));
    const { measures, finish } = bound(policy, query);
    const answer = finish(
      count(policy, measures, rows).map((counts, k) => {
        const m = measures[k]!;
        return { noise: { kind: 'none' }, values: m.mechanism === 'ordered' ? numbersToNoise(m, counts) : counts };
      }),
    );
    const counted = bound(samplePolicy(columns), { ...query, kind: 'histogram' });
    const expected = counted
      .finish(count(samplePolicy(columns), counted.measures, rows).map((values) => ({ noise: { kind: 'none' }, values })))[0]!
      .rows.filter(({ keys }) => keys.at(-1) !== '(missing)');
    expect(answer[0]!.rows.map(({ value }) => value)).toEqual(expected.map(({ value }) => value));
  });

  it('the error of forest cells is that of a histogram times the root of a quarter of the number of neighbours', () => {
    const predicted = (policy: Policy, query: object) => {
      const { measures, expectedErrors } = bound(policy, query);
      const { mechanisms } = chooseNoise(measures, strangersOf(policy), one, nothingSpent)[0]!;
      return expectedErrors(mechanisms.map(({ distribution }) => inDoubles(distribution)))[0]!.standardError;
    };
    const policy = policyOf({ party: same(6), area: same(2), x: { form: 'steps', steps: 1, missing: 'apart', size: 12 } });
    const plain = predicted(policy, { kind: 'histogram', column: 'x' });
    expect(predicted(policy, { kind: 'ranges', column: 'x' }) / plain).toBeCloseTo(Math.SQRT1_2, 1);
  });

  it('cells are counted as usual where pairs form a cycle, records are tied, a pair leads out, or other queries use the column', () => {
    const query = { kind: 'ranges', column: 'party' };
    const by = { area: same(2), x: same(12) };
    expect(forestIn(bound(policyOf({ party: ring, ...by }), query).measures)).toBeUndefined();
    const tied = { ...policyOf({ party: tree, ...by }), dependence: [{ kind: 'groups' }] } as Policy;
    expect(forestIn(bound(tied, query).measures)).toBeUndefined();
    expect(forestIn(bound(policyOf({ party: { ...tree, missing: 'any' }, ...by }), query).measures)).toBeUndefined();
    const both = bindBatch(parseBatch([query, { kind: 'cdf', column: 'party' }]), policyOf({ party: tree, ...by }));
    expect(forestIn(both.measures)).toBeUndefined();
  });

  it('cells that no pair joins are public', () => {
    const blocks: ColumnPairs = { form: 'ranges', starts: range(11).map((k) => k + 1), missing: 'apart', size: 12 };
    const policy = policyOf({ party: same(6), area: same(2), x: blocks });
    for (const query of [
      { kind: 'ranges', column: 'x', by: ['area'] },
      { kind: 'ranges', column: 'party' },
    ]) {
      const { measures, finish } = bound(policy, query);
      expect(measures.map(({ sensitivity }) => sensitivity.size)).toEqual([0]);
      const [answer] = finish(count(policy, measures, allRows).map((values) => ({ noise: { kind: 'none' }, values })));
      expect(answer!.rows.reduce((sum, { value }) => sum + value!, 0)).toBe(
        allRows.filter(([p, , x]) => (query.column === 'x' ? x : p) >= 0).length,
      );
    }
  });

  it('the sensitivity of forest cells to a person is maxRows times that of a row', () => {
    const policy = policyOf({ party: tree, area: same(2), x: same(12) }, { secret: 'person', unit: 'id', maxRows: 3 });
    expect(forestIn(bound(policy, { kind: 'ranges', column: 'party' }).measures)!.sensitivity.get(pairsClass('abcd'))!.l1).toBe(
      3n,
    );
  });
});
