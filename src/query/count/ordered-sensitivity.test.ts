import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { category, number, samplePolicy } from '../../../test/sample-policy.js';
import type { Cell } from '../../data/engine/engine.js';
import type { ColumnPairs, Pairs } from '../../policy/pairs/pairs.js';
import type { Policy } from '../../policy/policy.js';
import { prefixEstimator } from '../../privacy/mechanism/ordered/prefix-estimator.js';
import { noisedCount, type Strategy } from '../../privacy/mechanism/ordered/strategy.js';
import { everyRecord, pairsClass } from '../../privacy/mechanism/record-class.js';
import type { Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import type { Counting, GroupKey, OrderedMeasure } from './measure.js';
import { numbersToNoise } from './noisy-cells.js';
import { orderedSensitivity } from './ordered-sensitivity.js';
import { rowCounter } from './row-counter.js';
import type { LeafTest as RowTest } from './row-test.js';
import { strategyFor } from './strategies.js';

/** Two columns: positions on a grid, read two steps at a time or one by one, and groups. */
const last = 11;
const columns = [number('x', '0', String(last)), category('party', ['a', 'b'])];
type Row = readonly [x: number, party: number];
const rows: readonly Row[] = Array.from({ length: last + 2 }, (_, x) => [-1, 0, 1].map((p): Row => [x - 1, p])).flat();
const cells = ([x, p]: Row): readonly Cell[] => [x < 0 ? null : x, p < 0 ? null : ['a', 'b'][p]!];

const missing = fc.constantFrom<'any' | 'apart'>('any', 'apart');
const ofX: fc.Arbitrary<ColumnPairs | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constant<ColumnPairs>({ form: 'same', missing: 'apart', size: last + 1 }),
  fc.record({
    form: fc.constant('steps' as const),
    steps: fc.integer({ min: 1, max: 12 }),
    missing,
    size: fc.constant(last + 1),
  }),
  fc.record({
    form: fc.constant('ranges' as const),
    starts: fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    missing,
    size: fc.constant(last + 1),
  }),
);
const ofParty = fc.constantFrom<ColumnPairs | undefined>(
  undefined,
  { form: 'same', missing: 'apart', size: 2 },
  { form: 'blocks', blockOf: [0, 1], missing: 'any', size: 2 },
);
/** Pairs, written independently from the words of a policy: shares no code with what is tested. */
function near(pairs: ColumnPairs | undefined, a: number, b: number): boolean {
  if (a === b || pairs === undefined) return true;
  if (a < 0 || b < 0) return pairs.missing === 'any';
  if (pairs.form === 'steps') return Math.abs(a - b) <= pairs.steps;
  if (pairs.form === 'ranges') return !pairs.starts.some((start) => a < start !== b < start);
  return false;
}
const digest = 'abcd';
const pairsOf = (x: ColumnPairs | undefined, party: ColumnPairs | undefined): Pairs => ({
  digest,
  columns: new Map([...(x ? [['x', x] as const] : []), ...(party ? [['party', party] as const] : [])]),
  declarations: [],
});
const tied = (pairs: Pairs): Policy => ({ ...samplePolicy(columns, { pairs }), dependence: [{ kind: 'groups' }] });

const group: GroupKey = { kind: 'code', column: 'party', groups: [['a'], ['b']], missing: 'cell', size: 3 };
const filters: readonly (readonly RowTest[])[] = [
  [],
  [{ kind: 'missing', column: 'x', negate: true }],
  [{ kind: 'range', column: 'x', from: 3, to: 8, negate: false }],
  [{ kind: 'code', column: 'party', codes: ['a'], negate: false }],
];
interface Case {
  readonly counting: Counting;
  readonly strategy: Strategy;
}
const anyCase: fc.Arbitrary<Case> = fc
  .record({
    width: fc.constantFrom(1, 2),
    inner: fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    arity: fc.integer({ min: 2, max: 4 }),
    prefix: fc.integer({ min: 1, max: 3 }),
    tree: fc.integer({ min: 0, max: 2 }),
    filter: fc.constantFrom(...filters),
    grouped: fc.boolean(),
  })
  .map(({ width, inner, arity, prefix, tree, filter, grouped }) => {
    const size = (last + 1) / width;
    const all = Array.from({ length: size }, (_, k) => k + 1);
    const ends = tree === 0 ? all : [...inner.filter((end) => end < size), size];
    const keys: GroupKey[] = [...(grouped ? [group] : []), { kind: 'grid', column: 'x', width, size }];
    return { counting: { filter, keys, value: { kind: 'one' as const } }, strategy: { size, ends, arity, prefix, tree } };
  });

const nothing: Sensitivity = { l1: 0n, l2squared: 0n };
const more = (a: bigint, b: bigint) => (a > b ? a : b);
function exactOver(policy: Policy, { counting, strategy }: Case, comparable: (a: Row, b: Row) => boolean): Sensitivity {
  const groups = counting.keys.length > 1 ? 3 : 1;
  const measure: OrderedMeasure = {
    mechanism: 'ordered',
    name: 'm',
    cells: new Array<string[]>(groups * noisedCount(strategy)).fill([]),
    strategy,
    sensitivity: new Map(),
    counting,
  };
  const vectors = rows.map((row) => {
    const counter = rowCounter([measure], ['x', 'party'], policy);
    counter.add({ columns: cells(row).map((cell) => [cell]), rows: 1 });
    return numbersToNoise(measure, counter.totals()[0]!);
  });
  let found = nothing;
  vectors.forEach((a, i) => {
    for (let j = 0; j < i; j++) {
      if (!comparable(rows[i]!, rows[j]!)) continue;
      let [l1, l2squared] = [0n, 0n];
      a.forEach((x, k) => {
        const d = x - vectors[j]![k]!;
        l1 += d < 0n ? -d : d;
        l2squared += d * d;
      });
      found = { l1: more(found.l1, l1), l2squared: more(found.l2squared, l2squared) };
    }
  });
  return found;
}
const within = (a: Sensitivity, b: Sensitivity) => a.l1 <= b.l1 && a.l2squared <= b.l2squared;
const alongIn = (policy: Policy, { counting, strategy }: Case): Sensitivity =>
  orderedSensitivity(policy, counting, strategy).get(pairsClass(digest)) ?? nothing;
const isPair = (pairs: Pairs) => (a: Row, b: Row) =>
  near(pairs.columns.get('x'), a[0], b[0]) && near(pairs.columns.get('party'), a[1], b[1]);

describe('the sensitivity of ordered counts', () => {
  const holds = (bound: typeof alongIn) =>
    fc.property(anyCase, ofX, ofParty, (one, x, party) => {
      const pairs = pairsOf(x, party);
      const policy = tied(pairs);
      const full = orderedSensitivity(policy, one.counting, one.strategy).get(everyRecord) ?? nothing;
      return (
        within(
          exactOver(policy, one, () => true),
          full,
        ) &&
        within(exactOver(policy, one, isPair(pairs)), bound(policy, one)) &&
        within(bound(policy, one), full)
      );
    });
  it('the stated sensitivity of ordered counts is at least the exact one, for any two rows, any pairs and any strategy', () => {
    fc.assert(holds(alongIn), { numRuns: Number(process.env.FUGU_CASES ?? 100) });
  });

  it('the stated sensitivity is exact where prefixes are noised among rows that all have a position', () => {
    for (const steps of [1, 2, 5, 11, 12]) {
      const pairs = pairsOf(
        { form: 'steps', steps, missing: 'apart', size: last + 1 },
        { form: 'same', missing: 'apart', size: 2 },
      );
      const policy = tied(pairs);
      const counting: Counting = {
        filter: [],
        keys: [{ kind: 'grid', column: 'x', width: 1, size: 12 }],
        value: { kind: 'one' },
      };
      const ends = Array.from({ length: 12 }, (_, k) => k + 1);
      const prefixes = { counting, strategy: { size: 12, ends, arity: 2, prefix: 1, tree: 0 } };
      const crossed = BigInt(Math.min(11, steps));
      expect(alongIn(policy, prefixes)).toEqual({ l1: crossed, l2squared: crossed });
      expect(exactOver(policy, prefixes, isPair(pairs))).toEqual({ l1: crossed, l2squared: crossed });
      // A prefix at every third position, and the three positions between: the ordered hierarchical strategy of He et al. 2014.
      const blocks = { counting, strategy: { size: 12, ends: [3, 6, 9, 12], arity: 3, prefix: 2, tree: 1 } };
      const over = BigInt(Math.min(3, Math.ceil(steps / 3)));
      expect(alongIn(policy, blocks)).toEqual({ l1: 2n * over + 2n, l2squared: 4n * over + 2n });
      expect(exactOver(policy, blocks, isPair(pairs))).toEqual(alongIn(policy, blocks));
    }
  });

  it('a sensitivity that omits a block end within a pair, or a pair leading out of the filter, is detected', () => {
    const less =
      (by: (stated: Sensitivity, one: Case) => Sensitivity): typeof alongIn =>
      (policy, one) =>
        by(alongIn(policy, one), one);
    const forgotten = less(({ l1, l2squared }, { strategy: { prefix } }) => ({
      l1: l1 > 0n ? l1 - BigInt(prefix) : 0n,
      l2squared,
    }));
    const staying: typeof alongIn = (policy, { counting, strategy }) =>
      alongIn(policy, { counting: { ...counting, filter: [] }, strategy });
    for (const wrong of [forgotten, staying]) expect(() => fc.assert(holds(wrong), { numRuns: 250 })).toThrow();
  });
});

describe('the strategy of ordered counts', () => {
  const policyFor = (size: number, x?: ColumnPairs, more: Partial<Policy> = {}): Policy => ({
    ...samplePolicy(
      [number('x', '0', String(size - 1))],
      x ? { pairs: { digest, columns: new Map([['x', x]]), declarations: [] } } : {},
    ),
    ...more,
  });
  const counting = (size: number): Counting => ({
    filter: [],
    keys: [{ kind: 'grid', column: 'x', width: 1, size }],
    value: { kind: 'one' },
  });
  const steps = (size: number, n: number, missing: 'any' | 'apart' = 'apart'): ColumnPairs => ({
    form: 'steps',
    steps: n,
    missing,
    size,
  });
  const shape = (policy: Policy, size: number) => {
    const { ends, arity, tree } = strategyFor(policy, counting(size));
    return { blocks: ends.length, arity: tree === 0 ? 0 : arity };
  };
  it('the strategy is prefixes for short pairs, blocks with trees for longer ones, and one tree without pairs', () => {
    expect(shape(policyFor(512, steps(512, 1)), 512)).toEqual({ blocks: 512, arity: 0 });
    expect(shape(policyFor(512, steps(512, 40)), 512).blocks).toBeGreaterThan(4);
    expect(shape(policyFor(512, steps(512, 40)), 512).blocks).toBeLessThan(60);
    expect(shape(policyFor(512), 512)).toEqual({ blocks: 1, arity: 23 });
  });
  it('the strategy is one tree where the presence of an answer is secret, or records are tied', () => {
    expect(shape(policyFor(512, steps(512, 1, 'any')), 512).blocks).toBe(1);
    expect(shape(policyFor(512, steps(512, 1), { dependence: [{ kind: 'groups' }] as Policy['dependence'] }), 512).blocks).toBe(
      1,
    );
  });
  it('the strategy needs less than a tenth of the noise of the best tree over 4,096 values with neighbouring pairs, and less with pairs of a hundred', () => {
    const error = (x?: ColumnPairs) => {
      const policy = policyFor(4096, x);
      const strategy = strategyFor(policy, counting(4096));
      const sensitivity = orderedSensitivity(policy, counting(4096), strategy);
      return (
        Math.sqrt(2 * prefixEstimator(strategy).meanVariance()) *
        Number((sensitivity.get(pairsClass(digest)) ?? sensitivity.get(everyRecord)!).l1)
      );
    };
    const tree = error();
    expect(tree).toBeLessThan(29.6);
    expect(error(steps(4096, 1)) / tree).toBeLessThan(0.07);
    expect(error(steps(4096, 100)) / tree).toBeLessThan(0.65);
  });
  it('the strategy ends its blocks at the ends of a partition, which no pair crosses', () => {
    const policy = policyFor(100, { form: 'ranges', starts: [30, 65], missing: 'apart', size: 100 });
    const found = strategyFor(policy, counting(100));
    expect(found.ends).toEqual([30, 65, 100]);
    expect(found.prefix / found.tree).toBeGreaterThan(4);
  });
  it('the strategy has deeper trees for Gaussian noise', () => {
    const gaussian = { budget: { ...policyFor(512).budget, delta: { num: 1n, den: 100n } } };
    expect([shape(policyFor(4096), 4096).arity, shape(policyFor(4096, undefined, gaussian), 4096).arity]).toEqual([16, 2]);
  });
});
