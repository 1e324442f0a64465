import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairTablesOfJoint } from '../../../../test/pair-tables-of-joint.js';
import { rational, toNumber } from '../../../base/exact/rational.js';
import { leastTabularScale, tabularLoss } from '../../../evaluate/papers/correlated-columns/tabular-loss.js';
import { answersTo, everyRecord } from '../../mechanism/record-class.js';
import { pairwiseAmplifier } from './amplifier.js';
import { commonAnswers, largestPairwiseBase, pairwiseLeakage, pairwiseSpread } from './leakage.js';

/** Joints of several kinds: dense, sparse, latent class, near copies. */
const joints = fc
  .tuple(
    fc.array(fc.integer({ min: 2, max: 3 }), { minLength: 2, maxLength: 4 }),
    fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
    fc.constantFrom('dense', 'sparse', 'latent', 'copies'),
  )
  .map(([sizes, stream, kind]) => {
    const next = () => stream.next().value;
    const states = sizes.reduce((p, v) => p * v, 1);
    const weights = new Float64Array(states);
    const classes = Array.from({ length: 2 }, () => sizes.map((v) => Array.from({ length: v }, () => next() ** 3 + 1e-9)));
    for (let s = 0; s < states; s++) {
      let left = s;
      const at = sizes.map((_, k) => {
        const v = sizes[sizes.length - 1 - k]!;
        const value = left % v;
        left = Math.floor(left / v);
        return value;
      });
      at.reverse();
      if (kind === 'dense') weights[s] = next() + 0.01;
      else if (kind === 'sparse') weights[s] = next() < 0.5 ? 0 : next() + 1e-6;
      else if (kind === 'latent') weights[s] = classes.reduce((sum, c) => sum + at.reduce((p, v, j) => p * c[j]![v]!, 1), 0);
      else weights[s] = new Set(at.map((v) => v % 2)).size === 1 ? 1 : 1e-3 * next();
    }
    weights[0]! += 1e-9;
    return { sizes, weights };
  });

describe('the pairwise bound', () => {
  it('the pairwise bound is never below the exact loss', () => {
    fc.assert(
      fc.property(joints, fc.double({ min: 0.01, max: 3, noNaN: true }), ({ sizes, weights }, base) => {
        const spread = pairwiseSpread([pairTablesOfJoint(sizes.map(String), sizes, weights)]);
        const exact = tabularLoss(
          weights,
          sizes,
          sizes.map(() => base),
          'uninformed',
        ).loss;
        expect(exact).toBeLessThanOrEqual(pairwiseLeakage(spread, base) + 1e-9);
      }),
      { numRuns: 600 },
    );
  });

  it("the pairwise bound lies between the cost of the answer's own column and composition, and grows with the base", () => {
    fc.assert(
      fc.property(joints, fc.double({ min: 0.001, max: 2, noNaN: true }), ({ sizes, weights }, base) => {
        const spread = pairwiseSpread([pairTablesOfJoint(sizes.map(String), sizes, weights)]);
        const leak = pairwiseLeakage(spread, base);
        expect(leak).toBeLessThanOrEqual(base * sizes.length * (1 + 1e-12));
        expect(leak).toBeGreaterThanOrEqual(base);
        expect(pairwiseLeakage(spread, base * 1.01)).toBeGreaterThanOrEqual(leak);
      }),
      { numRuns: 200 },
    );
  });

  it('the pairwise bound of independent columns is the cost of one column, and its largest base meets epsilon', () => {
    const spread = pairwiseSpread([pairTablesOfJoint(['a', 'b', 'c'], [2, 2, 2], new Array(8).fill(1))]);
    expect(pairwiseLeakage(spread, 1e-3) / 1e-3).toBeCloseTo(1, 2);
    const base = largestPairwiseBase(spread, 0.1);
    expect(pairwiseLeakage(spread, base)).toBeLessThanOrEqual(0.1);
    expect(pairwiseLeakage(spread, base * 1.001)).toBeGreaterThan(0.1);
  });

  it('the pairwise bound gives Monty Hall a finite scale between the exact one and composition', () => {
    const weights: number[] = [];
    for (let p = 0; p < 3; p++)
      for (let c = 0; c < 3; c++) for (let o = 0; o < 3; o++) weights.push(o === p || o === c ? 0 : p === c ? 1 : 2);
    const scale = 2 / largestPairwiseBase(pairwiseSpread([pairTablesOfJoint(['p', 'c', 'o'], [3, 3, 3], weights)]), 1);
    expect(scale).toBeGreaterThanOrEqual(leastTabularScale(weights, [3, 3, 3], 1, 'uninformed'));
    expect(scale).toBeLessThanOrEqual(6);
  });

  it('the pairwise bound grows with the confidence radius, more so with fewer rows', () => {
    const tables = (rows: number) => pairTablesOfJoint(['a', 'b', 'c'], [2, 2, 2], new Array(8).fill(rows / 8));
    const base = (rows: number) => largestPairwiseBase(pairwiseSpread([tables(rows)], { confidence: 0.95 }), 0.1);
    const plain = largestPairwiseBase(pairwiseSpread([tables(1000)]), 0.1);
    expect(base(1000)).toBeLessThan(base(100_000));
    expect(base(100_000)).toBeLessThan(plain);
    expect(pairwiseLeakage(pairwiseSpread([tables(1)], { confidence: 0.95 }), 0.1)).toBeCloseTo(0.3, 9);
  });

  it('the pairwise bound treats an answer that nobody gave as if it determined every other', () => {
    const spread = pairwiseSpread([pairTablesOfJoint(['a', 'b'], [3, 2], [1, 1, 1, 1, 0, 0])]);
    expect(pairwiseLeakage(spread, 0.2)).toBeCloseTo(0.4, 9);
  });

  it('the pairwise bound with its radius covers the population in far more than 95 % of samples', () => {
    const distribution = [5, 1, 2, 4, 1, 7, 3, 1].map((w) => w / 24);
    const truth = pairwiseSpread([pairTablesOfJoint(['a', 'b', 'c'], [2, 2, 2], distribution)]);
    let state = 12345;
    const uniform = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    let uncovered = 0;
    let plainUncovered = 0;
    for (let trial = 0; trial < 200; trial++) {
      const counts = new Array<number>(8).fill(0);
      for (let r = 0; r < 400; r++) {
        let u = uniform();
        let cell = 0;
        while (cell < 7 && u >= distribution[cell]!) u -= distribution[cell++]!;
        counts[cell]!++;
      }
      const tables = pairTablesOfJoint(['a', 'b', 'c'], [2, 2, 2], counts);
      const widened = pairwiseSpread([tables], { confidence: 0.95 });
      const plain = pairwiseSpread([tables]);
      if (widened.tilts.some((t, k) => t.spread < truth.tilts[k]!.spread)) uncovered++;
      if (plain.tilts.some((t, k) => t.spread < truth.tilts[k]!.spread)) plainUncovered++;
    }
    expect(uncovered).toBeLessThanOrEqual(10);
    expect(plainUncovered).toBeGreaterThan(20);
  });

  it('the pairwise bound covers grouped secrets: the exact loss between groups, with the other columns at full resolution', () => {
    fc.assert(
      fc.property(joints, fc.double({ min: 0.05, max: 2, noNaN: true }), ({ sizes, weights }, base) => {
        if (sizes[0] !== 3) return;
        const tables = pairTablesOfJoint(sizes.map(String), sizes, weights);
        const secrets = sizes.map((v, c) => (c === 0 ? [[0], [1, 2]] : [Array.from({ length: v }, (_, a) => a)]));
        const spread = pairwiseSpread([tables], { secrets });
        // merge levels 1 and 2 of the first column; the loss about that column is then the loss between the groups
        const rest = weights.length / 3;
        const merged = new Float64Array(2 * rest);
        weights.forEach((w, s) => {
          merged[(s < rest ? 0 : rest) + (s % rest)]! += w;
        });
        const grouped = [2, ...sizes.slice(1)];
        const exact = tabularLoss(
          merged,
          grouped,
          grouped.map(() => base),
          'uninformed',
        );
        if (exact.worst?.column === 0) expect(exact.loss).toBeLessThanOrEqual(pairwiseLeakage(spread, base) + 1e-9);
      }),
      { numRuns: 300 },
    );
  });

  it('rare answers are grouped until every secret is common, and a column without two common answers has no secret', () => {
    const tables = pairTablesOfJoint(['a', 'b'], [4, 3], [40, 0, 0, 5, 0, 0, 3, 0, 0, 52, 0, 0]);
    expect(commonAnswers(tables, () => 0.1)[1]).toEqual([[0, 1, 2]]);
    const [first] = commonAnswers(tables, () => 0.05);
    expect(first!.flat().sort()).toEqual([0, 1, 2, 3]);
    for (const group of first!) expect(group.reduce((sum, a) => sum + [40, 5, 3, 52][a]!, 0)).toBeGreaterThanOrEqual(5);
  });

  it('a question of one form only has no secret on the other form', () => {
    const onForm = pairTablesOfJoint(['q', 'r'], [3, 2], [30, 30, 30, 30, 0, 0]);
    const skipped = pairTablesOfJoint(['q', 'r'], [3, 2], [0, 0, 0, 0, 60, 60]);
    const cautious = pairwiseSpread([onForm, skipped]);
    const known = pairwiseSpread([onForm, skipped], { forms: true });
    expect(pairwiseLeakage(cautious, 0.1)).toBeCloseTo(0.2, 9);
    expect(pairwiseLeakage(known, 0.1)).toBeLessThan(0.11);
    expect(known.forms).toBe(true);
  });

  it('the pairwise amplifier covers factored releases and states its assumptions', () => {
    const spread = pairwiseSpread([pairTablesOfJoint(['a', 'b'], [2, 2], [4, 1, 1, 4])], { confidence: 0.95 });
    const amplifier = pairwiseAmplifier(spread, { kind: 'unpaid' }, { columns: new Map(), digest: 'of a and b' });
    const base = amplifier.largestBase(rational(1, 10));
    expect(amplifier.leakage(base)).toBeLessThanOrEqual(0.1);
    expect(toNumber(base)).toBeGreaterThanOrEqual(0.0499);
    expect(amplifier.factoredOnly).toBe(true);
    expect(amplifier.assumptions.join(' ')).toMatch(/not paid for/);
    expect(amplifier.scope(answersTo('a'))).toBe(true);
    expect(amplifier.scope(everyRecord)).toBe(false);
    expect(amplifier.whatIf(base)[0]!.leakage).toBeGreaterThanOrEqual(amplifier.leakage(base));
  });
});
