import { describe, expect, it } from 'vitest';
import { category, number, sampleColumns, samplePolicy } from '../../test/sample-policy.js';
import { surveyBatch } from '../analysis/survey/query.js';
import { Fault } from '../base/errors.js';
import type { Cell } from '../data/engine/engine.js';
import type { Policy } from '../policy/policy.js';
import type { AdditiveDistribution } from '../privacy/mechanism/distribution.js';
import { noiseScale } from '../privacy/mechanism/half-width.js';
import { bindBatch } from './bind.js';
import type { AnswerTable, BoundBatch, NoisyMeasure } from './bound.js';
import { numbersToNoise } from './count/noisy-cells.js';
import { rowCounter } from './count/row-counter.js';
import { parseBatch } from './parse.js';
import { parseSql } from './sql/sql.js';

const policy = samplePolicy(sampleColumns);
const bind = (query: unknown, p: Policy = policy) => bindBatch(parseBatch(query), p);
const fault = (query: unknown): Fault => {
  try {
    bind(query);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('accepted');
};

type Row = Readonly<Record<string, Cell>>;
function exactCounts(bound: BoundBatch, rows: readonly Row[], p: Policy = policy): bigint[][] {
  const names = [...p.columns.keys()];
  const counter = rowCounter(bound.measures, names, p);
  counter.add({ columns: names.map((name) => rows.map((row) => row[name] ?? null)), rows: rows.length });
  return counter.totals();
}
const quiet: AdditiveDistribution<number> = { kind: 'none' };
/** The answers without any noise. */
function plainAnswers(query: unknown, rows: readonly Row[], p: Policy = policy): readonly AnswerTable[] {
  const bound = bind(query, p);
  const counts = exactCounts(bound, rows, p);
  return bound.finish(
    bound.measures.map((measure, i): NoisyMeasure => {
      if (measure.mechanism === 'additive') return { noise: quiet, values: counts[i]! };
      if (measure.mechanism === 'ordered') return { noise: quiet, values: numbersToNoise(measure, counts[i]!) };
      const width = measure.candidates.length;
      const chosen = measure.cells.map((_, g) => {
        const penalties = measure.penalties(counts[i]!.slice(g * width, (g + 1) * width));
        return penalties.indexOf([...penalties].sort((a, b) => Number(a - b))[0]!);
      });
      return { noise: { kind: 'selection', sharpness: Number.POSITIVE_INFINITY }, chosen };
    }),
  );
}
const values = (table: AnswerTable | undefined) => table!.rows.map((row) => row.value);

const people: readonly Row[] = [
  { age: 20, income: 1.5, party: 'dem', media: 'tv;web', w: 1 },
  { age: 30, income: -1, party: 'dem', media: 'web', w: 2 },
  { age: 61, income: 0.25, party: 'rep', media: 'radio', w: 3 },
  { age: 200, income: 99, party: 'rep', media: null, w: null },
  { age: 99, income: null, party: 'refused', media: 'paper', w: 1 },
];

describe('answers without noise', () => {
  it('answers without noise equal plain statistics of the clamped values', () => {
    const [count, sum, mean, variance, population, share] = plainAnswers(
      [
        { kind: 'count' },
        { kind: 'sum', column: 'age' },
        { kind: 'mean', column: 'age' },
        { kind: 'variance', column: 'age' },
        { kind: 'variance', column: 'age', population: true },
        { kind: 'share', column: 'party', values: ['dem'] },
      ],
      people,
    );
    const ages = [20, 30, 61, 90];
    const average = ages.reduce((a, b) => a + b) / 4;
    const squares = ages.reduce((s, a) => s + (a - average) ** 2, 0);
    expect(values(count)).toEqual([5]);
    expect(values(sum)).toEqual([201]);
    expect(values(mean)[0]).toBeCloseTo(average, 10);
    expect(values(variance)[0]).toBeCloseTo(squares / 3, 9);
    expect(values(population)[0]).toBeCloseTo(squares / 4, 9);
    expect(values(share)).toEqual([0.5]);
  });

  it('groups, weights, histograms, crosstabs and quantiles are answered correctly without noise', () => {
    const [byParty, weighted, media, cross, median, weightedMean] = plainAnswers(
      [
        { kind: 'mean', column: 'income', by: ['party'] },
        { kind: 'count', weight: 'w', by: ['party'] },
        { kind: 'histogram', column: 'media' },
        { kind: 'crosstab', columns: ['party', 'grade'] },
        { kind: 'quantile', column: 'age', at: [0.5] },
        { kind: 'mean', column: 'income', weight: 'w', where: [{ column: 'party', op: '=', value: 'dem' }] },
      ],
      people,
    );
    expect(byParty!.rows.map((row) => row.keys[0])).toEqual(['dem', 'rep', 'other', '(missing)']);
    expect(values(byParty)[0]).toBeCloseTo(0.25, 10);
    expect(values(byParty)[1]).toBeCloseTo((0.25 + 7.25) / 2, 10);
    expect(values(byParty)[2]).toBeNull();
    expect(values(weighted)).toEqual([3, 3, 0, 1]);
    expect(values(media)).toEqual([1, 2, 1, 2]);
    expect(cross!.rows).toHaveLength(16);
    expect([30, 61]).toContain(values(median)[0]!);
    expect(values(weightedMean)[0]).toBeCloseTo((1.5 - 2) / 3, 10);
  });

  it('answers carry the names of their columns and queries', () => {
    const [table] = plainAnswers({ kind: 'mean', column: 'age', by: ['party'] }, people);
    expect(table).toMatchObject({ name: 'mean of age by party', columns: ['party', 'mean of age'], error: 'propagated' });
    const [named] = plainAnswers({ kind: 'count', name: 'n' }, people);
    expect(named).toMatchObject({ name: 'n', columns: ['n'], error: 'exact' });
  });
});

describe('measures of a batch', () => {
  it('the queries of a batch share their measures', () => {
    const sql = 'SELECT party, COUNT(*), SUM(age), AVG(age), VARIANCE(age), COUNT(age) FROM data GROUP BY party';
    const { measures } = bindBatch(parseSql(sql, policy), policy);
    expect(measures.map((m) => m.name).sort()).toEqual(['count', 'sum of age', 'sum of age squared']);
    const two = bindBatch(parseSql('SELECT party, COUNT(*), AVG(age) FROM data GROUP BY party', policy), policy).measures;
    expect(two).toHaveLength(2);
    const separate = bindBatch(parseSql('SELECT COUNT(*), AVG(age) FROM data', policy), policy).measures;
    expect(separate).toHaveLength(3);
    const compared = bindBatch(
      parseSql('SELECT party, COUNT(*), AVG(age), COUNT(age) FROM data WHERE age > 30 GROUP BY party', policy),
      policy,
    );
    expect(compared.measures.map((m) => m.name).sort()).toEqual(['count', 'sum of age']);
    expect(compared.measures.every((m) => m.cells.length === 4)).toBe(true);
  });

  it('shared measures give the same answers as separate ones', () => {
    const sql = parseSql('SELECT party, COUNT(*), SUM(age), AVG(age) FROM data GROUP BY party', policy).queries;
    const together = plainAnswers(sql, people).map(values);
    const alone = sql.map((query) => values(plainAnswers(query, people)[0]));
    together.forEach((list, i) => {
      list.forEach((value, j) => {
        if (value === null) expect(alone[i]![j]).toBeNull();
        else expect(value).toBeCloseTo(alone[i]![j]!, 9);
      });
    });
  });

  it('a measure has a label for every cell that it counts', () => {
    for (const measure of bindBatch(surveyBatch(policy), policy).measures)
      expect(measure.cells).toHaveLength(measure.counting.keys.reduce((n, key) => n * key.size, 1));
  });
});

describe('the quantile query', () => {
  it('a quantile of public columns needs no noise and has no rank error', () => {
    const open = samplePolicy([number('age', '0', '9', '1', { public: true })], { secret: 'answer' });
    const bound = bind({ kind: 'quantile', column: 'age', at: [0.5] }, open);
    expect(bound.measures[0]!.sensitivity.size).toBe(0);
    expect(bound.expectedErrors([quiet])[0]).toMatchObject({ error: 'rank', halfWidth: 0 });
    const [table] = bound.finish([{ noise: quiet, chosen: [4] }]);
    expect(table!.rows[0]).toMatchObject({ value: 4, rankError: 0 });
  });

  it('the penalty of a candidate is zero exactly at the quantiles of the rows', () => {
    const [measure] = bind({ kind: 'quantile', column: 'age', at: [0.25] }).measures;
    if (measure?.mechanism !== 'exponential') throw new Error('not a selection');
    expect(measure.penalties([1n, 0n, 2n, 1n])).toEqual([0n, 0n, 0n, 8n]);
    expect(measure.penalties([0n, 0n, 0n, 0n])).toEqual([0n, 0n, 0n, 0n]);
    expect(measure.candidates).toHaveLength(74);
    const [fine] = bind({ kind: 'quantile', column: 'x', at: [0.5] }, samplePolicy([number('x', '0', '1000', '0.01')])).measures;
    if (fine?.mechanism !== 'exponential') throw new Error('not a selection');
    expect(fine.candidates.length).toBeLessThanOrEqual(10_000);
  });
});

describe('the survey of a policy', () => {
  it('a survey has one histogram per declared column, about ten bins per number, and none for weights', () => {
    const { queries } = surveyBatch(policy);
    expect(queries.map((q) => 'column' in q && q.column)).toEqual(['age', 'income', 'party', 'grade', 'media']);
    const [age] = bindBatch(surveyBatch(policy), policy).measures;
    expect(age!.cells).toHaveLength(9);
    expect([age!.cells[0], age!.cells[7]]).toEqual([['17 to 26'], ['87 to 90']]);
  });
  it('a survey uses declared bins, and single values where they are few', () => {
    const p = samplePolicy([
      number('likert', '1', '5'),
      number('age', '0', '99', '1', {
        bins: [
          { num: 18n, den: 1n },
          { num: 65n, den: 1n },
        ],
      }),
    ]);
    const [likert, age] = bindBatch(surveyBatch(p), p).measures;
    expect(likert!.cells.flat()).toEqual(['1', '2', '3', '4', '5', '(missing)']);
    expect(age!.cells.flat()).toEqual(['0 to 17', '18 to 64', '65 to 99', '(missing)']);
  });
});

describe('a query that does not fit the policy', () => {
  it('the fault for an unknown column suggests the name that was meant', () => {
    expect(fault({ kind: 'mean', column: 'aeg' })).toMatchObject({ code: 'COLUMN_UNKNOWN', hint: 'Did you mean "age"?' });
    expect(fault({ kind: 'count', by: ['partys'] }).hint).toContain('party');
  });
  it('the fault for an undeclared value names the value', () => {
    const unknown = fault({ kind: 'count', where: [{ column: 'party', op: '=', value: 'demm' }] });
    expect(unknown).toMatchObject({ code: 'VALUE_UNKNOWN', hint: 'Did you mean "dem"?' });
    expect(unknown.message).toContain('"demm"');
    expect(fault({ kind: 'share', column: 'media', values: ['radio'] }).code).toBe('VALUE_UNKNOWN');
  });
  it('the fault for a column of the wrong type names the type that is needed', () => {
    expect(fault({ kind: 'mean', column: 'party' }).message).toContain('declared as category');
    expect(fault({ kind: 'share', column: 'age', values: ['1'] }).message).toContain('declared as integer');
    expect(fault({ kind: 'count', weight: 'age' }).message).toContain('needs a weight');
    expect(fault({ kind: 'count', by: ['w'] }).message).toContain('weight');
    expect(fault({ kind: 'count', where: [{ column: 'party', op: '<', value: 'dem' }] }).message).toContain('no order');
    expect(fault({ kind: 'count', where: [{ column: 'age', op: '<', value: 'old' }] }).code).toBe('QUERY_INVALID');
    expect(fault({ kind: 'count', by: ['party', 'party'] }).message).toContain('twice');
    expect(fault({ kind: 'quantile', column: 'age', at: [0.5], weight: 'w' }).code).toBe('QUERY_UNSUPPORTED');
  });
  it('a query with more cells than any budget could fill is refused', () => {
    const codes = Array.from({ length: 200 }, (_, i) => `c${i}`);
    const p = samplePolicy(['a', 'b', 'c'].map((name) => category(name, codes)));
    expect(() => bind({ kind: 'count', by: ['a', 'b', 'c'] }, p)).toThrow(/cells/);
  });
});

describe('error bars', () => {
  /** Discrete Laplace by inverting a uniform: good enough to check coverage, and the same every time. */
  const sampler = (seed: number) => {
    let state = seed;
    const uniform = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state + 0.5) / 2 ** 32;
    };
    const geometric = (scale: number) => Math.floor(Math.log(uniform()) / (-1 / scale));
    const laplace = (scale: number) => BigInt(geometric(scale) - geometric(scale));
    return laplace;
  };
  const rows: Row[] = Array.from({ length: 400 }, (_, i) => ({
    age: 20 + ((i * 37) % 60),
    income: ((i * 13) % 80) / 20,
    party: i % 3 === 0 ? 'dem' : 'rep',
    w: 1,
  }));

  it.each([
    ['count', { kind: 'count' }, 'exact'],
    ['sum', { kind: 'sum', column: 'age' }, 'exact'],
    ['mean', { kind: 'mean', column: 'age' }, 'propagated'],
    ['variance', { kind: 'variance', column: 'income', population: true }, 'propagated'],
    ['share', { kind: 'share', column: 'party', values: ['dem'] }, 'propagated'],
    [
      'sum beside a mean',
      [
        { kind: 'sum', column: 'age' },
        { kind: 'mean', column: 'age' },
      ],
      'combined',
    ],
  ] as const)('error bars of a %s cover the plain answer in 95 of 100 draws, and are no wider than stated', (_, query, error) => {
    const bound = bind(query);
    const counts = exactCounts(bound, rows);
    const truth = plainAnswers(query, rows)[0]!.rows[0]!.value!;
    const laplace = sampler(99);
    const noise = bound.measures.map(
      (m): AdditiveDistribution<number> => ({ kind: 'laplace', scale: Number([...m.sensitivity.values()][0]!.l1) * 4 }),
    );
    const draws = 2000;
    let covered = 0;
    let squared = 0;
    let answered = 0;
    for (let d = 0; d < draws; d++) {
      const noisy = bound.measures.map(
        (_m, i): NoisyMeasure => ({ noise: noise[i]!, values: counts[i]!.map((x) => x + laplace(noiseScale(noise[i]!))) }),
      );
      const [table] = bound.finish(noisy);
      expect(table!.error).toBe(error);
      const row = table!.rows[0]!;
      if (row.low! <= truth && truth <= row.high!) covered += 1;
      squared += (row.value! - truth) ** 2;
      answered += row.standardError! ** 2;
    }
    expect(covered / draws).toBeGreaterThan(0.935);
    expect(covered / draws).toBeLessThan(0.965);
    expect(Math.sqrt(squared / answered)).toBeGreaterThan(0.85);
    expect(Math.sqrt(squared / answered)).toBeLessThan(1.15);
    const [expected] = bound.expectedErrors(noise);
    const per = expected!.perRow ? rows.length : 1;
    expect(expected!.standardError / per).toBeGreaterThanOrEqual(Math.sqrt(answered / draws) * 0.95);
  });

  it('error bars of whole numbers end at whole numbers', () => {
    const bound = bind({ kind: 'count' });
    const scale = 11.3;
    const [table] = bound.finish([{ noise: { kind: 'laplace', scale }, values: [1034n] }]);
    const { low, high } = table!.rows[0]!;
    const half = Math.ceil(scale * Math.log(20)); // A whole number that is passed less often than in one of twenty.
    expect(low! + high!).toBe(2 * 1034);
    expect(Number.isInteger(low)).toBe(true);
    expect(Math.abs(high! - 1034 - half)).toBeLessThanOrEqual(1);
  });

  it('error bars stay within the public bounds when the noise is larger than the count', () => {
    const bound = bind({ kind: 'mean', column: 'age' });
    const wide: AdditiveDistribution<number> = { kind: 'laplace', scale: 1e6 };
    const [table] = bound.finish(bound.measures.map(() => ({ noise: wide, values: [-5n] })));
    expect(table!.rows[0]).toEqual({ keys: [], value: null, standardError: null, low: 17, high: 90 });
  });
});

describe('an answer with too many cells', () => {
  const codes = (letter: string, n: number) => Array.from({ length: n }, (_, k) => `${letter}${k}`);
  const large = samplePolicy([
    category('x', codes('x', 9_999)),
    ...['a', 'b', 'c'].map((name) => category(name, codes(name, 999))),
    category('y', codes('y', 9_999)),
  ]);
  const refused = (query: unknown) => {
    const before = process.memoryUsage().heapUsed;
    expect(() => bind(query, large)).toThrow(expect.objectContaining({ code: 'DOMAIN_EXCEEDED' }));
    return process.memoryUsage().heapUsed - before;
  };

  it('a table of 100,000,000 cells is refused before it is allocated', () => {
    expect(refused({ kind: 'crosstab', columns: ['x', 'y'] })).toBeLessThan(50e6);
  });

  it('a batch is refused when each table fits but all of them together do not', () => {
    const pair = (by: string, and: string) => ({ kind: 'crosstab', columns: [by, and] });
    expect(bind({ queries: [pair('a', 'b')] }, large).measures).toHaveLength(1);
    refused({ queries: [pair('a', 'b'), pair('b', 'c'), pair('c', 'a')] });
  });
});
