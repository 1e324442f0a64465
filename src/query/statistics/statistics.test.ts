import { describe, expect, it } from 'vitest';
import { policy, population } from '../../../experiments/coverage/people.js';
import { boundWithNoise, counted, type Data, released, seeded, truthOf } from '../../../experiments/coverage/world.js';
import { number, samplePolicy } from '../../../test/sample-policy.js';
import { bindBatch } from '../bind.js';
import type { AnswerTable } from '../bound.js';
import { parseBatch } from '../parse.js';
import { nearestCorrelations } from './correlation.js';
import { eigenDecomposition } from './matrix.js';

const people = population(400);
const loud = { noise: 'laplace', amount: 1 } as const;
const exact = (query: object, data: Data = people, own = policy): AnswerTable => {
  const ask = boundWithNoise(own, query, loud);
  return truthOf(ask, counted(own, ask, data))[0]!;
};
const at = (table: AnswerTable, ...keys: string[]) =>
  table.rows.find((row) => keys.every((key, k) => row.keys[k] === key))!.value!;

/** Least squares by the residuals' own conditions: they are orthogonal to every column. */
function residuals(table: AnswerTable, weights?: readonly number[]): readonly number[] {
  const n = people.age!.length;
  const left = Array.from({ length: n }, (_, i) => {
    const fit =
      at(table, '(intercept)') +
      at(table, 'age') * Number(people.age![i]) +
      (people.sex![i] === 'f' ? at(table, 'sex f, not m') : 0) +
      (people.region![i] === 'south' ? at(table, 'region south, not north') : 0) +
      (people.region![i] === 'west' ? at(table, 'region west, not north') : 0);
    return (Number(people.income![i]) - fit) * (weights?.[i] ?? 1);
  });
  const columns = [
    () => 1,
    (i: number) => Number(people.age![i]),
    (i: number) => Number(people.sex![i] === 'f'),
    (i: number) => Number(people.region![i] === 'south'),
    (i: number) => Number(people.region![i] === 'west'),
  ];
  return columns.map((column) => left.reduce((sum, x, i) => sum + x * column(i), 0));
}

describe('a regression without noise', () => {
  const query = { kind: 'regression', outcome: 'income', on: ['age', 'sex', 'region'] };
  it('the fit equals least squares, with numbers, categories and weights', () => {
    for (const sum of residuals(exact(query))) expect(sum).toBeCloseTo(0, 4);
    const weights = people.w!.map(Number);
    for (const sum of residuals(exact({ ...query, weight: 'w' }), weights)) expect(sum).toBeCloseTo(0, 4);
  });

  it('a regression by groups fits each group, and fine grids are read correctly', () => {
    const by = exact({ kind: 'regression', outcome: 'income', on: ['age'], by: ['sex'] });
    const own = exact({ kind: 'regression', outcome: 'income', on: ['age'], where: [{ column: 'sex', op: '=', value: 'm' }] });
    expect(at(by, 'm', 'age')).toBeCloseTo(at(own, 'age'), 9);
    const fine = samplePolicy([number('x', '0', '1000', '0.0001'), number('y', '0', '1000', '0.0001')]);
    const x = Array.from({ length: 50 }, (_, i) => 20 * i);
    const line = exact({ kind: 'regression', outcome: 'y', on: ['x'] }, { x, y: x.map((v) => 3 + v / 2) }, fine);
    expect(at(line, 'x')).toBeCloseTo(0.5, 4);
    expect(at(line, '(intercept)')).toBeCloseTo(3, 1);
  });
});

describe('a regression with much noise', () => {
  it('a regression whose sums cannot be solved says so, and has no interval', () => {
    const ask = boundWithNoise(
      policy,
      { kind: 'regression', outcome: 'income', on: ['age', 'education'] },
      { noise: 'laplace', amount: 0.05 },
    );
    const counts = counted(policy, ask, people);
    const random = seeded(4);
    const tables = Array.from({ length: 40 }, () => released(ask, counts, random)[0]!);
    const mended = tables.filter(({ note }) => note?.includes('penalty'));
    expect(mended.length).toBeGreaterThan(5);
    for (const { rows } of mended) for (const { low, high } of rows) expect([low, high]).toEqual([null, null]);
    for (const { rows } of tables)
      for (const { value, low, high } of rows)
        expect(value === null || low === null || (low <= value && value <= high!)).toBe(true);
  });

  it('a regression whose sums cannot be solved returns a finite penalised fit', () => {
    const ask = boundWithNoise(
      policy,
      { kind: 'regression', outcome: 'income', on: ['age', 'region'] },
      { noise: 'gaussian', amount: 0.0005 },
    );
    const random = seeded(5);
    for (let k = 0; k < 20; k++)
      for (const { value } of released(ask, counted(policy, ask, people), random)[0]!.rows)
        expect(value === null || Number.isFinite(value)).toBe(true);
  });
});

describe('correlations', () => {
  it('correlations equal those of the rows', () => {
    const table = exact({ kind: 'correlation', columns: ['age', 'education', 'income'] });
    expect(table.rows.map(({ keys }) => keys.join())).toEqual(['age,education', 'age,income', 'education,income']);
    const [a, b] = [people.age!.map(Number), people.income!.map(Number)];
    const mean = (list: readonly number[]) => list.reduce((s, x) => s + x, 0) / list.length;
    const [ma, mb] = [mean(a), mean(b)];
    const c = mean(a.map((x, i) => (x - ma) * (b[i]! - mb)));
    const r = c / Math.sqrt(mean(a.map((x) => (x - ma) ** 2)) * mean(b.map((x) => (x - mb) ** 2)));
    expect(at(table, 'age', 'income')).toBeCloseTo(r, 9);
  });

  it('inconsistent correlations are replaced by the nearest consistent ones', () => {
    const pairs = [
      [1, 2],
      [1, 3],
      [2, 3],
    ] as const;
    const { values, moved } = nearestCorrelations(3, pairs, [0.9, 0.9, -0.9]);
    expect(moved).toBe(true);
    const [a, b, c] = values as number[];
    const least = Math.min(
      ...eigenDecomposition([Float64Array.of(1, a!, b!), Float64Array.of(a!, 1, c!), Float64Array.of(b!, c!, 1)]).values,
    );
    expect(least).toBeGreaterThan(-1e-9);
    expect(nearestCorrelations(3, pairs, [0.5, 0.4, 0.3])).toEqual({ values: [0.5, 0.4, 0.3], moved: false });
  });
});

describe('estimates for the population', () => {
  const income = people.income!.map(Number);
  const meanWhere = (holds: (i: number) => boolean, weight: (i: number) => number = () => 1) => {
    const chosen = income.map((_, i) => i).filter(holds);
    return chosen.reduce((s, i) => s + weight(i) * income[i]!, 0) / chosen.reduce((s, i) => s + weight(i), 0);
  };
  it('an estimate weighs strata by their sizes and rows by their weights, and gives totals', () => {
    const sizes = new Map([
      ['north', 1000],
      ['south', 3000],
      ['west', 6000],
    ]);
    const design = { effect: 1, population: 10_000, strata: { column: 'region', sizes } };
    const table = exact({ kind: 'estimate', column: 'income' }, people, { ...policy, design });
    const mean = ['north', 'south', 'west'].reduce(
      (s, region) => s + (sizes.get(region)! / 10_000) * meanWhere((i) => people.region![i] === region),
      0,
    );
    expect(at(table, 'mean')).toBeCloseTo(mean, 9);
    expect(at(table, 'total')).toBeCloseTo(10_000 * mean, 5);
    const weighted = exact({ kind: 'estimate', column: 'income', weight: 'w' });
    expect(at(weighted, 'mean')).toBeCloseTo(
      meanWhere(
        () => true,
        (i) => Number(people.w![i]),
      ),
      9,
    );
    const w = people.w!.map(Number);
    const [sum, squares] = [w.reduce((s, x) => s + x, 0), w.reduce((s, x) => s + x * x, 0)];
    expect(at(weighted, 'worth people')).toBeCloseTo(sum ** 2 / squares, 6);
  });

  it('an estimate for part of the strata is refused, since the size of the part is not declared', () => {
    const sizes = new Map(['north', 'south', 'west'].map((region, k) => [region, 1000 * (k + 1)]));
    const design = { effect: 1, strata: { column: 'region', sizes } };
    const ask = (more: object) => exact({ kind: 'estimate', column: 'income', ...more }, people, { ...policy, design });
    const rich = { where: [{ column: 'income', op: '>', value: 30 }] };
    expect(() => ask(rich)).toThrow('Of a part of the population');
    expect(() => ask({ column: 'region', values: ['north'] })).toThrow('is declared');
    expect(ask({ ...rich, by: ['region'] }).rows.length).toBeGreaterThan(0);
    expect(ask({ ...rich, weight: 'w' }).rows.length).toBeGreaterThan(0);
  });

  it('an estimate has no sampling error for a full census, and a larger one for clusters', () => {
    const error = (design: object) =>
      exact({ kind: 'estimate', column: 'income' }, people, { ...policy, design: { effect: 1, ...design } }).rows[0]!
        .withSampling!.standardError;
    expect(error({ population: 400 })).toBe(0);
    expect(error({ population: 800 }) / error({})).toBeCloseTo(Math.SQRT1_2, 9);
    expect(error({ effect: 4 }) / error({})).toBeCloseTo(2, 9);
  });

  it('an estimate with shrunken weights lies on the way to the unweighted mean, with less noise', () => {
    const derive = { calm: { op: '+', of: [{ op: '*', of: [0.7, 'w'] }, 0.3] } };
    const value = (more: object) => at(exact({ kind: 'estimate', column: 'income', ...more }), 'mean');
    const [plain, weighted, calm] = [value({}), value({ weight: 'w' }), value({ weight: 'calm', derive })];
    const mean = people.w!.map(Number).reduce((s, x) => s + x, 0) / 400;
    const part = 0.3 / (0.7 * mean + 0.3);
    expect(calm).toBeCloseTo(weighted + part * (plain - weighted), 9);
    const effect = (more: object) => {
      const [measure] = bindBatch(parseBatch({ kind: 'sum', column: 'income', ...more }), policy).measures;
      return (
        Number(measure!.mechanism === 'additive' && measure!.sensitivity.get('*' as never)!.l1) *
        (measure!.mechanism === 'additive' ? Number(measure!.grid.num) / Number(measure!.grid.den) : 1)
      );
    };
    expect(effect({ weight: 'calm', derive }) / effect({ weight: 'w' })).toBeCloseTo((0.7 * 2.5 + 0.3) / 2.5, 9);
  });
});

describe('queries that are refused before any data is read', () => {
  const bad: readonly [object, string][] = [
    [{ kind: 'regression', outcome: 'sex', on: ['age'] }, 'QUERY_INVALID'],
    [{ kind: 'regression', outcome: 'income', on: ['income'] }, 'QUERY_INVALID'],
    [{ kind: 'regression', outcome: 'income', on: ['agee'] }, 'COLUMN_UNKNOWN'],
    [{ kind: 'regression', outcome: 'income', on: [] }, 'QUERY_INVALID'],
    [{ kind: 'correlation', columns: ['age'] }, 'QUERY_INVALID'],
    [{ kind: 'correlation', columns: ['age', 'sex'] }, 'QUERY_INVALID'],
    [{ kind: 'independence', columns: ['sex', 'sex'] }, 'QUERY_INVALID'],
    [{ kind: 'independence', columns: ['sex', 'vote'], weight: 'w' }, 'QUERY_UNSUPPORTED'],
    [{ kind: 'compare', column: 'sex', between: 'region' }, 'QUERY_INVALID'],
    [{ kind: 'compare', column: 'income', between: 'region', groups: ['north', 'north'] }, 'QUERY_INVALID'],
    [{ kind: 'compare', column: 'income', between: 'region', groups: ['north', 'east'] }, 'VALUE_UNKNOWN'],
    [{ kind: 'mean', column: 'income', weight: 'below', derive: { below: { op: '-', of: ['w', 1] } } }, 'QUERY_UNSUPPORTED'],
  ];
  it.each(bad.map(([query, code]) => [JSON.stringify(query), query, code] as const))(
    'the query is refused before any data is read: %s',
    (_, query, code) => {
      expect(() => bindBatch(parseBatch(query), policy)).toThrow(expect.objectContaining({ code }));
    },
  );

  it('a test over persons with several rows is refused', () => {
    const several = { ...policy, protect: { ...policy.protect, secret: 'person', maxRows: 3 } } as typeof policy;
    expect(() => bindBatch(parseBatch({ kind: 'independence', columns: ['sex', 'vote'] }), several)).toThrow(/several rows/);
  });
});

describe('a mean that noise moved beyond its bounds', () => {
  it('the mean is clamped to the bound, also where the bounds are not symmetric', () => {
    const own = samplePolicy([number('yes', '0', '1'), number('x', '-3', '2')]);
    for (const [column, low, high] of [['yes', 0, 1], ['x', -3, 2]] as const) // biome-ignore format: one line
      for (const [by, end] of [
        [-1n, low],
        [1n, high],
      ] as const) {
        // biome-ignore format: one line
        const { measures, finish } = bindBatch(parseBatch({ kind: 'estimate', column }), own);
        const noise = { kind: 'laplace', scale: { num: 20n, den: 1n } } as never;
        const [table] = finish(measures.map(({ name }) => ({ noise, values: [name.startsWith('count') ? 10n : by * 900n] })));
        const [mean] = table!.rows;
        expect([column, mean!.value]).toEqual([column, end]);
        expect(mean!.low).toBeGreaterThanOrEqual(low);
        expect(mean!.high).toBeLessThanOrEqual(high);
      }
  });
});
