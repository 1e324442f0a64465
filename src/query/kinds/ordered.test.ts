import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { category, number, samplePolicy } from '../../../test/sample-policy.js';
import { rational } from '../../base/exact/rational.js';
import type { ColumnPairs } from '../../policy/pairs/pairs.js';
import type { Policy } from '../../policy/policy.js';
import { additiveMechanism } from '../../privacy/mechanism/additive.js';
import { pure, zcdp } from '../../privacy/mechanism/budget-share.js';
import { inDoubles } from '../../privacy/mechanism/distribution.js';
import { standardDeviation } from '../../privacy/mechanism/half-width.js';
import { combinedHalfWidth, noiseBar } from '../../privacy/mechanism/noise-sum.js';
import { Payment } from '../../privacy/mechanism/payment.js';
import { everyRecord, pairsClass } from '../../privacy/mechanism/record-class.js';
import { bindBatch } from '../bind.js';
import type { AnswerTable } from '../bound.js';
import type { OrderedMeasure } from '../count/measure.js';
import { numbersToNoise } from '../count/noisy-cells.js';
import { parseBatch } from '../parse.js';

const size = 200;
const digest = 'abcd';
const steps = (n: number): ColumnPairs => ({ form: 'steps', steps: n, missing: 'apart', size });
const policyWith = (x?: ColumnPairs): Policy =>
  samplePolicy(
    [number('x', '1', String(size)), category('party', ['a', 'b'])],
    x ? { pairs: { digest, columns: new Map([['x', x]]), declarations: [] } } : {},
  );
/** A hill on the left and a longer one on the right. */
const counts = Array.from({ length: size }, (_, p) =>
  BigInt(Math.round(40 * Math.exp(-((p - 50) ** 2) / 200) + 12 * Math.exp(-((p - 130) ** 2) / 900))),
);
const before = [0];
for (const x of counts) before.push(before.at(-1)! + Number(x));

function released(query: object, policy: Policy, noise: 'pure' | 'zcdp'): AnswerTable {
  const bound = bindBatch(parseBatch(query), policy);
  const measure = bound.measures[0] as OrderedMeasure;
  const own = policy.protect.pairs ? pairsClass(digest) : everyRecord;
  const budgetShare = noise === 'pure' ? pure(rational(1, 4)) : zcdp(rational(1, 128));
  const mechanism = additiveMechanism(
    { name: 'm', cells: measure.cells.length, sensitivity: measure.sensitivity },
    budgetShare,
    (c) => c === own,
  );
  const values = mechanism.prepare(new Payment([mechanism]))(numbersToNoise(measure, counts));
  return bound.finish([{ noise: inDoubles(mechanism.distribution), values }])[0]!;
}
const ranges = Array.from({ length: 40 }, (_, k) => [1 + ((k * 37) % 150), 151 + ((k * 13) % 50)] as const);
const times = Number(process.env.FUGU_COVERAGE ?? 20);
/** All numbers of one release go wrong together, so this far from 95 % may be chance. */
const least = 0.95 - 1 / Math.sqrt(times);
/** Share of true values in the interval, and in one a third as wide, and the root mean square of errors over standard errors. */
function coverage(query: object, truth: (i: number) => number, policy: Policy, noise: 'pure' | 'zcdp') {
  let [inside, near, all, squares] = [0, 0, 0, 0];
  for (let n = 0; n < times; n++)
    for (const [i, { value, low, high, standardError }] of released(query, policy, noise).rows.entries()) {
      const [real, middle] = [truth(i), (low! + high!) / 2];
      all++;
      if (low! <= real && real <= high!) inside++;
      if (Math.abs(real - middle) <= (high! - low!) / 6) near++;
      if (standardError) squares += ((value! - real) / standardError) ** 2;
    }
  return { covered: inside / all, near: near / all, ratio: Math.sqrt(squares / all) };
}

describe('intervals of distributions', () => {
  const policies = [
    ['no pairs', policyWith()],
    ['pairs one apart', policyWith(steps(1))],
    ['pairs twelve apart', policyWith(steps(12))],
  ] as const;
  const cases = policies.flatMap(([name, policy]) => (['pure', 'zcdp'] as const).map((noise) => [name, noise, policy] as const));
  it.each(cases)(
    '%s, %s: intervals cover 95 in 100 prefixes and ranges, and intervals a third as wide do not',
    (_, noise, policy) => {
      const cdf = coverage({ kind: 'cdf', column: 'x' }, (i) => before[i + 1]!, policy, noise);
      const range = coverage(
        { kind: 'ranges', column: 'x', ranges },
        (i) => before[ranges[i]![1]]! - before[ranges[i]![0] - 1]!,
        policy,
        noise,
      );
      // The monotone fit is closer than least squares, so errors stay below the stated ones.
      for (const { covered, near, ratio } of [cdf, range]) {
        if (process.env.FUGU_COVERAGE)
          process.stdout.write(`${covered.toFixed(4)} covered, error ${ratio.toFixed(3)} of what is stated\n`);
        expect(covered).toBeGreaterThan(least);
        expect(near).toBeLessThan(least);
        expect(ratio).toBeLessThan(1 + 2 / Math.sqrt(times));
      }
    },
  );

  it('intervals cover 95 % of quantiles and of shares', () => {
    const at = [0.1, 0.25, 0.5, 0.75, 0.9];
    const all = before.at(-1)!;
    const quantiles = at.map((part) => before.findIndex((x) => x >= part * all));
    for (const policy of [policyWith(), policyWith(steps(3))]) {
      const { covered } = coverage({ kind: 'cdf', column: 'x', at }, (i) => quantiles[i]!, policy, 'pure');
      if (process.env.FUGU_COVERAGE) process.stdout.write(`${covered.toFixed(4)} of quantiles covered\n`);
      expect(covered).toBeGreaterThan(least);
      const parts = released({ kind: 'cdf', column: 'x' }, policy, 'pure').rows.map(({ share }) => share!);
      const inside = parts.filter(({ low, high }, i) => low <= before[i + 1]! / all && before[i + 1]! / all <= high).length;
      expect(inside / parts.length).toBeGreaterThan(0.7);
    }
  });

  it('intervals are wide enough for sums of Laplace noises in any proportion', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }), (factors) => {
        const noise = { kind: 'laplace', scale: 1000 } as const;
        const parts = factors.map((factor) => ({ factor, noise }));
        const half = combinedHalfWidth(parts, 0.05);
        return half <= noiseBar(noise) * Math.hypot(...factors) * 1.001;
      }),
      { numRuns: 500 },
    );
    expect(noiseBar({ kind: 'laplace', scale: 1000 }) / standardDeviation({ kind: 'laplace', scale: 1000 })).toBeCloseTo(
      2.118,
      3,
    );
    expect(noiseBar({ kind: 'gaussian', variance: 1e6 })).toBeCloseTo(1960, 0);
  });
});

describe('the distribution query', () => {
  const exact = (query: object, policy = policyWith()) => {
    const bound = bindBatch(parseBatch(query), policy);
    const measure = bound.measures[0] as OrderedMeasure;
    return bound.finish([{ noise: { kind: 'none' }, values: numbersToNoise(measure, counts) }])[0]!;
  };
  it('a distribution has monotone counts up to each value, with quantiles and ranges', () => {
    const { columns, rows } = exact({ kind: 'cdf', column: 'x' });
    expect(columns).toEqual(['x', 'rows up to it']);
    expect(rows[49]).toMatchObject({ keys: ['50'], low: rows[49]!.value, high: rows[49]!.value });
    expect(rows[49]!.value).toBeCloseTo(before[50]!, 6);
    expect(rows[199]!.share).toEqual({ value: 1, low: 1, high: 1 });
    const half = before.findIndex((x) => x >= before.at(-1)! / 2);
    expect(exact({ kind: 'cdf', column: 'x', at: [0.5] }).rows[0]).toMatchObject({
      keys: ['0.5'],
      value: half,
      low: half,
      high: half,
    });
    const some = exact({
      kind: 'ranges',
      column: 'x',
      ranges: [
        [11, 20],
        [1, 200],
      ],
    });
    expect(some.rows.map(({ keys, value }) => [keys[0], Math.round(value!)])).toEqual([
      ['11 to 20', before[20]! - before[10]!],
      ['1 to 200', before.at(-1)],
    ]);
    const noisy = released({ kind: 'cdf', column: 'x' }, policyWith(steps(1)), 'pure').rows;
    noisy.forEach(({ value }, i) => {
      expect(value).toBeGreaterThanOrEqual(noisy[i - 1]?.value ?? 0);
    });
  });

  it.each([undefined, ['party']])('ranges of a column used by no other query have independent noise on each bin, by %j', (by) => {
    const query = { kind: 'ranges', column: 'x', ...(by && { by }) };
    const alone = bindBatch(parseBatch(query), policyWith());
    const combined = bindBatch(parseBatch([query, { kind: 'cdf', column: 'x', ...(by && { by }) }]), policyWith());
    expect([alone, combined].map(({ measures }) => measures.map(({ mechanism }) => mechanism))).toEqual([
      ['additive'],
      ['ordered'],
    ]);
    const errorOf = ({ measures, expectedErrors }: typeof alone) =>
      expectedErrors(
        measures.map(({ sensitivity, cells }) =>
          inDoubles(
            additiveMechanism({ name: 'm', cells: cells.length, sensitivity }, pure(rational(1, 4)), () => true).distribution,
          ),
        ),
      )[0]!.standardError;
    expect(errorOf(alone)).toBeLessThan(0.8 * errorOf(combined));
    // Bins in their order, group by group; rows without an answer are in none of them.
    const { measures, finish } = alone;
    const groups = by ? 3 : 1;
    const each = measures[0]!.cells.length / groups;
    const { rows } = finish([
      { noise: { kind: 'none' }, values: Array.from({ length: measures[0]!.cells.length }, (_, k) => BigInt(k)) },
    ])[0]!;
    const shown = rows.length / groups;
    expect(each - shown).toBe(1);
    expect(rows.map(({ value }) => value)).toEqual(rows.map((_, i) => Math.floor(i / shown) * each + (i % shown)));
    expect(rows.map(({ keys }) => keys.at(-1))).toContain('1 to 20');
  });

  it('a distribution and its ranges are one measure, counted and paid for once', () => {
    const both = [
      { kind: 'cdf', column: 'x' },
      { kind: 'ranges', column: 'x' },
      { kind: 'cdf', column: 'x', at: [0.5] },
    ];
    expect(bindBatch(parseBatch(both), policyWith()).measures).toHaveLength(1);
  });

  it('ranges of a category follow the order of its codes; weights, quantiles of categories and reversed ranges are refused', () => {
    const bind = (query: object) => bindBatch(parseBatch(query), policyWith());
    expect(bind({ kind: 'ranges', column: 'party', ranges: [['a', 'b']] }).measures[0]!.counting.keys[0]).toMatchObject({
      size: 2,
    });
    const code = (query: object) => {
      try {
        bind(query);
        return 'none';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(code({ kind: 'cdf', column: 'x', weight: 'w' })).toBe('QUERY_UNSUPPORTED');
    expect(code({ kind: 'cdf', column: 'party', at: [0.5] })).toBe('QUERY_INVALID');
    expect(code({ kind: 'ranges', column: 'x', ranges: [[20, 11]] })).toBe('QUERY_INVALID');
    expect(code({ kind: 'ranges', column: 'party', ranges: [['b', 'a']] })).toBe('QUERY_INVALID');
    expect(code({ kind: 'ranges', column: 'party', ranges: [['c', 'a']] })).toBe('VALUE_UNKNOWN');
  });
});
