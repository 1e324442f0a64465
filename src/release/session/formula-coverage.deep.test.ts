import { afterAll, describe, expect, it, vi } from 'vitest';
import { category, number, samplePolicy } from '../../../test/sample-policy.js';
import { seededBits } from '../../../test/seeded-bits.js';
import { rational } from '../../base/exact/rational.js';
import { type AdditiveDistribution, inDoubles } from '../../privacy/mechanism/distribution.js';
import { gaussianSampler } from '../../privacy/noise/discrete-gaussian.js';
import { laplaceSampler } from '../../privacy/noise/discrete-laplace.js';
import { bindBatch } from '../../query/bind.js';
import type { AnswerRow } from '../../query/bound.js';
import { rowCounter } from '../../query/count/row-counter.js';
import { parseSql } from '../../query/sql/sql.js';

/** More draws, and the table of coverages: FUGU_COVERAGE=10000 npx vitest run src/release/session/formula-coverage.deep.test.ts */
const requestedDraws = Number(process.env.FUGU_COVERAGE ?? 0);
const draws = requestedDraws || 200;
if (requestedDraws) vi.setConfig({ testTimeout: 3_600_000 });

const policy = {
  ...samplePolicy([number('cost', '0', '50'), number('hours', '1', '8'), category('party', ['dem', 'rep', 'other'])]),
  data: { source: '/data/survey.csv' },
};
const sql = `SELECT party,
  SUM(cost) - 2 * SUM(hours) AS difference,
  SUM(cost) / SUM(hours) AS ratio,
  100.0 * SUM(CASE WHEN cost > 20 THEN 1 ELSE 0 END) / COUNT(*) AS percent,
  100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS part,
  AVG(cost) - AVG(hours) AS gap,
  AVG(cost * hours) AS product,
  STDDEV(cost) AS deviation
  FROM survey GROUP BY party`;

const rowsOf = (n: number): readonly (readonly (number | string)[])[] =>
  Array.from({ length: n }, (_, i) => [(i * 37) % 51, 1 + ((i * 5) % 8), ['dem', 'rep', 'dem', 'other', 'dem'][i % 5]!]);

const shown: string[] = [];
afterAll(() => {
  if (requestedDraws) console.log(shown.join('\n'));
});

function coverages(
  n: number,
  distribution: (l1: bigint, l2squared: bigint) => AdditiveDistribution,
  narrow = 1,
): ReadonlyMap<string, number> {
  const bound = bindBatch(parseSql(sql, policy), policy);
  const names = [...policy.columns.keys()];
  const counter = rowCounter(bound.measures, names, policy);
  const rows = rowsOf(n);
  counter.add({ columns: names.map((_, j) => rows.map((row) => row[j]!)), rows: n });
  const exact = counter.totals();
  const truth = bound.finish(exact.map((values) => ({ noise: { kind: 'none' as const }, values })));
  const bits = seededBits(n);
  const distributions = bound.measures.map(({ sensitivity }) => {
    const [{ l1, l2squared }] = [...sensitivity.values()] as [{ l1: bigint; l2squared: bigint }];
    return distribution(l1, l2squared);
  });
  const draw = distributions.map((own) =>
    own.kind === 'laplace'
      ? laplaceSampler(own.scale, bits)
      : own.kind === 'gaussian'
        ? gaussianSampler(own.variance, bits)
        : () => 0n,
  );
  const noise = distributions.map((own) => inDoubles(own) as AdditiveDistribution<number>);
  const held = new Map<string, number>();
  const holds = ({ value, low, high }: AnswerRow, true_: number): boolean => {
    const [from, to] = [low ?? Number.NEGATIVE_INFINITY, high ?? Number.POSITIVE_INFINITY];
    const middle = value ?? 0;
    return middle - (middle - from) * narrow <= true_ && true_ <= middle + (to - middle) * narrow;
  };
  for (let d = 0; d < draws; d++) {
    const tables = bound.finish(exact.map((values, k) => ({ noise: noise[k]!, values: values.map((x) => x + draw[k]!()) })));
    for (const [t, table] of tables.entries()) {
      const name = table.columns.at(-1)!;
      // The largest group: two in five, and one that a fifth belongs to.
      for (const r of [0, 2])
        if (holds(table.rows[r]!, truth[t]!.rows[r]!.value!)) held.set(name, (held.get(name) ?? 0) + 1 / (2 * draws));
    }
  }
  return held;
}
const laplace = (l1: bigint): AdditiveDistribution => ({ kind: 'laplace', scale: rational(l1) });
const gaussian = (_: bigint, l2squared: bigint): AdditiveDistribution => ({
  kind: 'gaussian',
  variance: rational(l2squared * 64n),
});

describe('95 % confidence intervals of formulas over aggregates', () => {
  it.each([
    [300, 'Laplace', laplace],
    [3_000, 'Laplace', laplace],
    [3_000, 'Gaussian', gaussian],
    [100_000, 'Gaussian', gaussian],
  ] as const)(
    'confidence intervals of formulas cover the true value in 93 to 98 of 100 draws: %d rows, %s',
    (n, name, distribution) => {
      const held = coverages(n, distribution);
      for (const [what, part] of held) shown.push(`${name} ${n} ${what} ${(100 * part).toFixed(1)} %`);
      // Standard deviations of small groups have wider intervals than needed (privacy/mechanism/quotient.proof.md, 5).
      const wrong = [...held].filter(([what, part]) => part < 0.93 || (part > 0.98 && !(what === 'deviation' && n < 3000)));
      expect(wrong).toEqual([]);
      expect(held.size).toBe(7);
    },
  );

  it('confidence intervals of formulas at half the width do not reach the coverage', () => {
    for (const [what, part] of coverages(3_000, laplace, 0.5)) expect([what, part < 0.93]).toEqual([what, true]);
  });
});
