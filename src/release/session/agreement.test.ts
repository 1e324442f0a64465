import { describe, expect, it } from 'vitest';
import { knownPolicy } from '../../../test/known-policy.js';
import { category } from '../../../test/sample-policy.js';
import { rational } from '../../base/exact/rational.js';
import { laplaceSampler } from '../../privacy/noise/discrete-laplace.js';
import { bindBatch } from '../../query/bind.js';
import type { NoisyVector } from '../../query/count/noisy-cells.js';
import { parseBatch } from '../../query/parse.js';
import { type Agreement, agreementOf } from './agreement.js';
import { finishBatch } from './batch.js';

const columns = [category('region', ['n', 's']), category('party', ['a', 'b', 'c', 'd'])];
const policy = knownPolicy(columns, [{ margin: 'region' }]);
const boundTo = (query: object) => {
  const own = bindBatch(parseBatch(query), policy);
  const unchanged: Agreement = { measures: own.measures, agree: (values) => values };
  return { ...own, ...(agreementOf(policy, own.measures) ?? unchanged) };
};

describe('answers under known totals', () => {
  it('answers agree with the margin cell by cell, in whole numbers, and stay unchanged where they agreed', () => {
    const { agree, measures } = boundTo({ kind: 'crosstab', columns: ['region', 'party'] });
    expect(measures).toHaveLength(2);
    const margin = [10n, 20n, 0n];
    const [table] = agree([[6n, 3n, 3n, 0n, 3n, 4n, 4n, 4n, 4n, 4n, 1n, -1n, 0n, 0n, 0n], margin]);
    expect(table!.slice(0, 5)).toEqual([5n, 2n, 2n, -1n, 2n]);
    expect(table!.slice(5)).toEqual([4n, 4n, 4n, 4n, 4n, 0n, 0n, 0n, 0n, 0n]);
  });

  it('answers agree with the margin in their sum when they go by other columns or select a part of it', () => {
    const sum = (bound: ReturnType<typeof boundTo>) =>
      bound
        .agree([
          [9n, 9n, 9n, 9n, 9n],
          [10n, 20n, 0n],
        ])[0]!
        .reduce((a, b) => a + b);
    expect(sum(boundTo({ kind: 'histogram', column: 'party' }))).toBe(30n);
    const some = { kind: 'histogram', column: 'party', where: [{ column: 'region', op: '=', value: 's' }] };
    expect(sum(boundTo(some))).toBe(20n);
  });

  it('answers stay unchanged where other columns decide who is counted', () => {
    const some = boundTo({ kind: 'count', by: ['region'], where: [{ column: 'party', op: '=', value: 'a' }] });
    expect(some.measures).toHaveLength(1);
    expect(some.agree([[1n, 2n, 3n]])).toEqual([[1n, 2n, 3n]]);
  });

  it('answers stay unchanged where a derived column decides who is counted, and agree where it only gives the cell', () => {
    const derive = { first: { cases: [{ when: { column: 'party', op: '=', value: 'a' }, value: 1 }], otherwise: 0 } };
    for (const where of [
      [{ column: 'first', op: '=', value: 1 }],
      [
        {
          any: [
            { column: 'first', op: '=', value: 1 },
            { column: 'region', op: '=', value: 'n' },
          ],
        },
      ],
    ]) {
      const some = boundTo({ kind: 'count', by: ['region'], where, derive });
      expect(some.measures).toHaveLength(1);
      expect(some.agree([[1n, 2n, 3n]])).toEqual([[1n, 2n, 3n]]);
    }
    const cells = boundTo({ kind: 'crosstab', columns: ['region', 'first'], derive });
    expect(cells.measures).toHaveLength(2);
    expect(
      cells.agree([
        [1n, 2n, 3n, 1n, 2n, 3n, 0n, 0n, 0n],
        [12n, 6n, 0n],
      ])[0],
    ).toEqual([3n, 4n, 5n, 1n, 2n, 3n, 0n, 0n, 0n]);
  });
});

/** Distribution of discrete Laplace noise on -far .. far. */
function distribution(scale: number): { readonly far: number; readonly at: Float64Array } {
  const far = Math.ceil(16 * scale) + 4;
  const at = Float64Array.from({ length: 2 * far + 1 }, (_, k) => Math.exp(-Math.abs(k - far) / scale));
  const sum = at.reduce((a, b) => a + b);
  return { far, at: at.map((p) => p / sum) };
}

/** Probability that |t N_1 - (N_1 + .. + N_t)| is beyond `most`, N of this distribution: exact except for the tails. */
function beyond(scale: number, t: number, most: number): number {
  const { far, at } = distribution(scale);
  let others = Float64Array.from([1]);
  for (let k = 1; k < t; k++) {
    const next = new Float64Array(others.length + 2 * far);
    for (let i = 0; i < others.length; i++)
      if (others[i]! > 1e-18) for (let j = 0; j < at.length; j++) next[i + j]! += others[i]! * at[j]!;
    others = next;
  }
  const middle = (others.length - 1) / 2;
  let inside = 0;
  for (let i = 0; i < at.length; i++) {
    const own = (t - 1) * (i - far);
    for (let j = 0; j < others.length; j++) if (Math.abs(own - (j - middle)) <= most) inside += at[i]! * others[j]!;
  }
  return 1 - inside;
}

describe('intervals of answers that were made to agree', () => {
  it('confidence intervals of adjusted answers have 95 % coverage for any scale and number of cells', () => {
    for (const scale of [0.3, 0.7, 1, 2, 6])
      for (const t of [2, 3, 5, ...(scale <= 2 ? [12] : [])]) {
        const { far, at } = distribution(scale);
        let half = 0;
        let rest = 1 - at[far]!;
        while (rest > 0.05) rest -= 2 * at[far + ++half]!;
        // The half width is an integer, so an error within it stays within it after rounding.
        expect([scale, t, beyond(scale, t, t * half) <= 0.05 + 1e-9]).toEqual([scale, t, true]);
      }
  });

  it('confidence intervals cover in finished tables, and cells have smaller errors than before', () => {
    const truth = [
      [40n, 30n, 20n, 10n, 0n],
      [9n, 8n, 7n, 6n, 5n],
      [0n, 0n, 0n, 0n, 0n],
    ];
    const margin = truth.map((row) => row.reduce((a, b) => a + b));
    const bound = boundTo({ kind: 'crosstab', columns: ['region', 'party'] });
    const exact = truth.flat();
    for (const scale of [1, 6]) {
      let [held, cells, plain, agreed] = [0, 0, 0, 0];
      const draw = laplaceSampler(rational(scale));
      for (let run = 0; run < 400; run++) {
        const noisy = exact.map((x) => x + draw());
        const measures: NoisyVector[] = [
          { noise: { kind: 'laplace', scale: `${scale}` }, values: noisy.map(String) },
          { noise: { kind: 'none' }, values: margin.map(String) },
        ];
        const [table] = finishBatch(bound, { measures }, false);
        table!.rows.forEach(({ value, low, high }, c) => {
          // The last region is empty: exact.
          if (c >= 10) return;
          cells++;
          const x = Number(exact[c]);
          if (low! <= x && x <= high!) held++;
          plain += (Number(noisy[c]) - x) ** 2;
          agreed += (value! - x) ** 2;
        });
      }
      expect(held / cells).toBeGreaterThan(0.95);
      expect(agreed / plain).toBeLessThan(scale === 1 ? 0.95 : 0.86);
    }
  });
});
