import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { category, multi, number, samplePolicy, weight } from '../../../test/sample-policy.js';
import { smallQueries as queries } from '../../../test/small-queries.js';
import { Fault } from '../../base/errors.js';
import type { Cell } from '../../data/engine/engine.js';
import { readingsOf, slicingsOf } from '../../data/ties/slicings.js';
import type { Column, Policy, Protect } from '../../policy/policy.js';
import {
  answersTo,
  boxIn,
  columnsIn,
  everyRecord,
  isSlice,
  recordClassKind,
  type Slicing,
  sliced,
} from '../../privacy/mechanism/record-class.js';
import type { Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import type { ValueSet } from '../../privacy/mechanism/slices.js';
import { includesValue, valuesIn } from '../../release/accountant/by-slice.js';
import { bindBatch } from '../bind.js';
import { parseBatch } from '../parse.js';
import type { Measure, SumMeasure } from './measure.js';
import { numbersToNoise } from './noisy-cells.js';
import { publicSteps } from './public-steps.js';
import { rowCounter } from './row-counter.js';
import { sensitivityOverSteps } from './running-count.js';

type Row = readonly Cell[];
type Vector = readonly bigint[];

/** All rows that the policy can distinguish. */
function allRows(columns: readonly Column[]): readonly Row[] {
  const cellsOf = (column: Column): readonly Cell[] => {
    if (column.type === 'category') return [...column.values, null];
    if (column.type === 'multi') {
      let sets: string[][] = [[]];
      for (const value of column.values) sets = sets.flatMap((set) => [set, [...set, value]]);
      return sets.map((set) => set.join(column.separator));
    }
    const [low, high] = column.bounds.map((x) => Number(x.num) / Number(x.den)) as [number, number];
    const step = Number(column.step.num) / Number(column.step.den);
    return [...Array.from({ length: Math.round((high - low) / step) + 1 }, (_, p) => low + p * step), null];
  };
  let rows: Cell[][] = [[]];
  for (const column of columns) rows = rows.flatMap((row) => cellsOf(column).map((cell) => [...row, cell]));
  return rows;
}

const count = (policy: Policy, measure: Measure, rows: readonly Row[]): Vector => {
  const names = [...policy.columns.keys()];
  const counter = rowCounter([measure], names, policy);
  counter.add({ columns: names.map((_, j) => rows.map((row) => row[j]!)), rows: rows.length });
  const counts = counter.totals()[0]!;
  return measure.mechanism === 'ordered' ? numbersToNoise(measure, counts) : counts;
};

const largest = (list: readonly bigint[]): bigint => [...list].sort((a, b) => Number(b - a))[0] ?? 0n;
const farther = (a: Sensitivity, b: Sensitivity): Sensitivity => ({
  l1: largest([a.l1, b.l1]),
  l2squared: largest([a.l2squared, b.l2squared]),
});
const nothing: Sensitivity = { l1: 0n, l2squared: 0n };
function differenceOf(a: Vector, b: Vector): Sensitivity {
  let l1 = 0n;
  let l2squared = 0n;
  a.forEach((x, i) => {
    const d = x - b[i]!;
    l1 += d < 0n ? -d : d;
    l2squared += d * d;
  });
  return { l1, l2squared };
}

/** Sums add up over rows, so the other rows cancel: the two farthest rows (or none at all) give the exact sensitivity. */
function exactSensitivity(
  policy: Policy,
  measure: Measure,
  rows: readonly Row[],
  comparable: (a: Row, b: Row) => boolean,
  absent: boolean,
) {
  const vectors = rows.map((row) => count(policy, measure, [row]));
  const none = count(policy, measure, []);
  let most = nothing;
  rows.forEach((a, i) => {
    if (absent) most = farther(most, differenceOf(vectors[i]!, none));
    for (let j = 0; j < i; j++) if (comparable(a, rows[j]!)) most = farther(most, differenceOf(vectors[i]!, vectors[j]!));
  });
  return most;
}

const small: readonly Column[] = [
  number('x', '-1', '2'),
  category('party', ['a', 'b']),
  multi('media', ['p', 'q']),
  weight('w', '0.5', '1.5', '0.5'),
];
/** With a design, so that measures for the sampling error are included. */
const under = (columns: readonly Column[], protect: Partial<Protect>): Policy => ({
  ...samplePolicy(columns, protect),
  design: { effect: 1 },
});
const within = (exact: Sensitivity, stated: Sensitivity) => exact.l1 <= stated.l1 && exact.l2squared <= stated.l2squared;

describe('the sensitivity to replacing a row', () => {
  const policy = under(small, {});
  const rows = allRows(small);
  it.each(queries.map((query) => [JSON.stringify(query), query] as const))(
    'the stated sensitivity to replacing a row is at least the exact one: %s',
    (_, query) => {
      for (const measure of bindBatch(parseBatch(query), policy).measures) {
        const stated = measure.sensitivity.get(everyRecord) ?? nothing;
        const exact = exactSensitivity(policy, measure, rows, () => true, true);
        expect(
          within(exact, stated),
          `${measure.name}: exact ${exact.l1}, ${exact.l2squared}; stated ${stated.l1}, ${stated.l2squared}`,
        ).toBe(true);
      }
    },
  );

  it('the stated sensitivity to replacing a row is exact for the basic kinds', () => {
    const basic = queries.filter(
      (query) => !('where' in query) && !(query.kind === 'sum' && query.by?.some((name) => name !== 'party')),
    );
    const loose = basic.flatMap((query) =>
      bindBatch(parseBatch(query), policy).measures.flatMap((measure) => {
        const stated = measure.sensitivity.get(everyRecord)!;
        const exact = exactSensitivity(policy, measure, rows, () => true, true);
        return stated.l1 === exact.l1 && stated.l2squared === exact.l2squared ? [] : [[query, measure.name, exact, stated]];
      }),
    );
    expect(loose).toEqual([]);
  });

  it("the stated sensitivity to adding or removing a row is that row's contribution, exactly for the basic kinds", () => {
    const present = under(small, { neighbours: 'add-remove' });
    for (const query of queries)
      for (const measure of bindBatch(parseBatch(query), present).measures) {
        const stated = measure.sensitivity.get(everyRecord) ?? nothing;
        const exact = exactSensitivity(present, measure, rows, () => false, true);
        expect([query, within(exact, stated)]).toEqual([query, true]);
        if (!('where' in query) && !(query.kind === 'sum' && query.by?.some((name) => name !== 'party')))
          expect([query, stated]).toEqual([query, exact]);
      }
    const l1 = (query: object) => bindBatch(parseBatch(query), present).measures[0]!.sensitivity.get(everyRecord)!.l1;
    expect([l1({ kind: 'count', by: ['party'] }), l1({ kind: 'histogram', column: 'media' })]).toEqual([1n, 2n]);
  });

  it('a sensitivity that is one too small is detected', () => {
    for (const query of queries.slice(0, 3)) {
      const [measure] = bindBatch(parseBatch(query), policy).measures;
      const stated = measure!.sensitivity.get(everyRecord)!;
      const exact = exactSensitivity(policy, measure!, rows, () => true, true);
      expect(within(exact, { ...stated, l1: stated.l1 - 1n })).toBe(false);
    }
  });
});

describe('the sensitivity to replacing an answer', () => {
  const policy = under(small, { secret: 'answer' });
  const rows = allRows(small);
  const names = small.map((column) => column.name);
  const differOnly = (j: number) => (a: Row, b: Row) => a.every((cell, k) => k === j || cell === b[k]);
  it.each(queries.map((query) => [JSON.stringify(query), query] as const))(
    'the stated sensitivity to replacing an answer is at least the exact one, column by column: %s',
    (_, query) => {
      for (const measure of bindBatch(parseBatch(query), policy).measures)
        names.forEach((name, j) => {
          const stated = measure.sensitivity.get(answersTo(name)) ?? nothing;
          const exact = exactSensitivity(policy, measure, rows, differOnly(j), false);
          expect(
            within(exact, stated),
            `${name} in ${measure.name}: exact ${exact.l1}, ${exact.l2squared}; stated ${stated.l1}`,
          ).toBe(true);
        });
    },
  );

  it.each([
    { kind: 'share', column: 'media', values: ['p'], by: ['media'] },
    {
      kind: 'count',
      by: ['media', 'has'],
      derive: { has: { cases: [{ when: { column: 'media', op: '=', value: 'p' }, value: 1 }], otherwise: 0 } },
    },
  ])(
    'the stated sensitivity to replacing an answer is at least the exact one where two keys use the same options: %j',
    (query) => {
      const three = [multi('media', ['p', 'q', 'r'])];
      const own = under(three, { secret: 'answer' });
      for (const measure of bindBatch(parseBatch(query), own).measures) {
        const stated = measure.sensitivity.get(answersTo('media'))!;
        const exact = exactSensitivity(own, measure, allRows(three), () => true, false);
        expect(exact.l1).toBe(5n);
        expect([exact, within(exact, stated)]).toEqual([exact, true]);
      }
    },
  );

  it('the stated sensitivity is exact where one answer is a number and its own weight', () => {
    const weighed = [number('x', '5', '7'), weight('w', '1', '1', '1')];
    const own = under(weighed, { secret: 'answer' });
    const query = { kind: 'sum', column: 'x', weight: 'heavy', derive: { heavy: { op: '-', of: ['x', 'w'] } } };
    const [measure] = bindBatch(parseBatch(query), own).measures;
    const exact = exactSensitivity(own, measure!, allRows(weighed), (a, b) => a[1] === b[1], false);
    expect(measure!.sensitivity.get(answersTo('x'))).toEqual(exact);
  });

  it('a number of rows and a public column have no class under secret answers', () => {
    const [measure] = bindBatch(parseBatch({ kind: 'count' }), policy).measures;
    expect([...measure!.sensitivity]).toEqual([]);
    const open = under([category('form', ['1', '2'], { public: true }), ...small], { secret: 'answer' });
    const [byForm] = bindBatch(parseBatch({ kind: 'count', by: ['form', 'party'] }), open).measures;
    expect([...byForm!.sensitivity.keys()]).toEqual(['party', '*']);
  });

  it('the sensitivity to replacing an answer is two for a histogram and the width of the bounds for a mean', () => {
    const [histogram] = bindBatch(parseBatch({ kind: 'histogram', column: 'party' }), policy).measures;
    expect([...histogram!.sensitivity]).toEqual([
      ['party', { l1: 2n, l2squared: 2n }],
      ['*', { l1: 2n, l2squared: 2n }],
    ]);
    const [sum] = bindBatch(parseBatch({ kind: 'mean', column: 'x' }), policy).measures;
    expect(sum!.sensitivity.get(answersTo('x'))).toEqual({ l1: 3n, l2squared: 9n });
  });
});

describe('the sensitivity on random schemas', () => {
  const schema = fc.record({
    low: fc.integer({ min: -4, max: 3 }),
    width: fc.integer({ min: 1, max: 5 }),
    codes: fc.integer({ min: 1, max: 3 }),
    options: fc.integer({ min: 1, max: 3 }),
    weight: fc.boolean(),
    by: fc.subarray(['party', 'media', 'x']),
    kind: fc.constantFrom('count', 'sum', 'mean', 'variance', 'histogram'),
    secret: fc.constantFrom('row', 'answer'),
  });
  it('the stated sensitivity is never below the difference of the two farthest rows', () => {
    fc.assert(
      fc.property(schema, (s) => {
        const columns = [
          number('x', `${s.low}`, `${s.low + s.width}`),
          category('party', ['a', 'b', 'c'].slice(0, s.codes)),
          multi('media', ['p', 'q', 'r'].slice(0, s.options)),
          ...(s.weight ? [weight('w', '0', '1', '0.5')] : []),
        ];
        const policy = under(columns, { secret: s.secret as 'row' | 'answer' });
        const by = s.kind === 'histogram' ? s.by.filter((name) => name !== 'x') : s.by;
        const query = { kind: s.kind, by, ...(s.kind !== 'count' && { column: 'x' }), ...(s.weight && { weight: 'w' }) };
        const rows = allRows(columns);
        for (const measure of bindBatch(parseBatch(query), policy).measures)
          if (s.secret === 'row') {
            const exact = exactSensitivity(policy, measure, rows, () => true, true);
            if (!within(exact, measure.sensitivity.get(everyRecord) ?? nothing)) return false;
          } else
            for (const [j, column] of columns.entries()) {
              const same = (a: Row, b: Row) => a.every((cell, k) => k === j || cell === b[k]);
              if (
                !within(
                  exactSensitivity(policy, measure, rows, same, false),
                  measure.sensitivity.get(answersTo(column.name)) ?? nothing,
                )
              )
                return false;
            }
        return true;
      }),
      { numRuns: 25, seed: 7 },
    );
  });
});

describe('the sensitivity to replacing a person', () => {
  const tiny = [number('x', '0', '2'), category('party', ['a', 'b'])];
  it('the stated sensitivity covers a change of up to maxRows rows at once, and is attained', () => {
    const maxRows = 2;
    const policy = under(tiny, { secret: 'person', unit: 'who', maxRows });
    const rows = allRows(tiny);
    const persons = [[], ...rows.map((a) => [a]), ...rows.flatMap((a) => rows.map((b) => [a, b]))];
    for (const query of [{ kind: 'count' }, { kind: 'count', by: ['party'] }, { kind: 'sum', column: 'x', by: ['party'] }]) {
      const [measure] = bindBatch(parseBatch(query), policy).measures;
      const vectors = persons.map((person) => count(policy, measure!, person));
      let exact = nothing;
      for (const a of vectors) for (const b of vectors) exact = farther(exact, differenceOf(a, b));
      expect(measure!.sensitivity.get(everyRecord)).toEqual(exact);
    }
  });
});

describe('the sensitivity of the number of different values, or of persons', () => {
  const columns = [number('x', '0', '2'), category('party', ['a', 'b'])];
  const rows = allRows(columns);
  const some = fc.array(fc.constantFrom(...rows), { maxLength: 5 });
  const questions = [
    { kind: 'distinct', column: 'x' },
    { kind: 'distinct', column: 'x', by: ['party'] },
    {
      kind: 'distinct',
      column: 'party',
      where: [
        {
          any: [
            { column: 'x', op: '<', value: 2 },
            { column: 'x', op: 'missing' },
          ],
        },
      ],
    },
  ];
  it.each(questions)(
    'the sensitivity of a distinct count is never exceeded, whatever the other rows, and is attained: %j',
    (query) => {
      for (const [protect, most] of [
        [{}, 1],
        [{ secret: 'person', unit: 'who', maxRows: 2 }, 2],
      ] as const) {
        const policy = under(columns, protect);
        const [measure] = bindBatch(parseBatch(query), policy).measures;
        const own = fc.array(fc.constantFrom(...rows), { maxLength: most });
        let exact = nothing;
        fc.assert(
          fc.property(some, own, own, (others, a, b) => {
            exact = farther(
              exact,
              differenceOf(count(policy, measure!, [...others, ...a]), count(policy, measure!, [...others, ...b])),
            );
          }),
          { numRuns: 3000, seed: 5 },
        );
        const stated = measure!.sensitivity.get(everyRecord)!;
        expect(within(exact, stated)).toBe(true);
        expect(exact.l1).toBe(stated.l1);
      }
    },
  );

  /** Persons in each cell, counted by hand: their names are not in the chunks of a stream. */
  const persons = (list: readonly { readonly who: string; readonly row: Row }[]): Vector =>
    ['a', 'b', null].map((party) => BigInt(new Set(list.filter(({ row }) => row[1] === party).map(({ who }) => who)).size));
  it.each([1, 2, 3])('the sensitivity of a count of persons with up to %d rows is never exceeded, and is attained', (maxRows) => {
    const policy = under(columns, { secret: 'person', unit: 'who', maxRows });
    const [measure] = bindBatch(parseBatch({ kind: 'distinct', column: 'who', by: ['party'] }), policy).measures;
    const own = fc.array(fc.constantFrom(...rows), { maxLength: maxRows });
    let exact = nothing;
    fc.assert(
      fc.property(own, own, own, (other, a, b) => {
        const named = (who: string, list: readonly Row[]) => list.map((row) => ({ who, row }));
        const otherMeasure = named('other', other);
        exact = farther(
          exact,
          differenceOf(persons([...otherMeasure, ...named('one', a)]), persons([...otherMeasure, ...named('one', b)])),
        );
      }),
      { numRuns: 3000, seed: 5 },
    );
    expect(measure!.sensitivity.get(everyRecord)).toEqual(exact);
  });
});

describe('the sensitivity of the penalties of a quantile', () => {
  const columns = [number('x', '0', '3'), category('party', ['a', 'b'])];
  const table = fc.array(fc.tuple(fc.constantFrom<Cell>(0, 1, 2, 3, null), fc.constantFrom<Cell>('a', 'b', null)), {
    maxLength: 7,
  });
  const one = fc.option(fc.tuple(fc.constantFrom<Cell>(0, 1, 2, 3, null), fc.constantFrom<Cell>('a', 'b', null)));
  it.each([0.5, 0.25, 0.9])('the sensitivity of the penalties is never exceeded and is attained at %d', (at) => {
    for (const by of [[], ['party']]) {
      const policy = under(columns, {});
      const [measure] = bindBatch(parseBatch({ kind: 'quantile', column: 'x', at: [at], by }), policy).measures;
      if (measure?.mechanism !== 'exponential') throw new Error('not a selection');
      const width = measure.candidates.length;
      const penalties = (rows: readonly Row[]): bigint[][] => {
        const counts = count(policy, measure, rows);
        return measure.cells.map((_, g) => measure.penalties(counts.slice(g * width, (g + 1) * width)));
      };
      let most = nothing;
      fc.assert(
        fc.property(table, one, one, (others, a, b) => {
          const [p, q] = [a, b].map((row) => penalties(row ? [...others, row] : others)) as [bigint[][], bigint[][]];
          const moves = p.map((list, g) => largest(list.map((x, k) => differenceOf([x], [q[g]![k]!]).l1)));
          most = farther(
            most,
            differenceOf(
              moves,
              moves.map(() => 0n),
            ),
          );
        }),
        { numRuns: 3000, seed: 11 },
      );
      expect(measure.sensitivity.get(everyRecord)).toEqual(most);
    }
  });
});

describe('the sensitivity of the penalties of a quantile to one answer', () => {
  const columns = [number('x', '0', '3'), category('party', ['a', 'b'])];
  const policy = under(columns, { secret: 'answer' });
  const cell = fc.constantFrom<Cell>(0, 1, 2, 3, null);
  const code = fc.constantFrom<Cell>('a', 'b', null);
  it('the sensitivity of the penalties to one answer is never exceeded', () => {
    const [measure] = bindBatch(parseBatch({ kind: 'quantile', column: 'x', at: [0.25], by: ['party'] }), policy).measures;
    if (measure?.mechanism !== 'exponential') throw new Error('not a selection');
    const width = measure.candidates.length;
    const moved = (a: readonly Row[], b: readonly Row[]): bigint => {
      const [p, q] = [a, b].map((rows) => count(policy, measure, rows)) as [Vector, Vector];
      return measure.cells.reduce((sum, _, g) => {
        const [u, v] = [p, q].map((counts) => measure.penalties(counts.slice(g * width, (g + 1) * width))) as [
          bigint[],
          bigint[],
        ];
        return sum + largest(u.map((x, k) => differenceOf([x], [v[k]!]).l1));
      }, 0n);
    };
    const most: Record<string, bigint> = { x: 0n, party: 0n };
    const raise = (name: string, by: bigint) => {
      if (by > most[name]!) most[name] = by;
    };
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, code), { maxLength: 7 }), cell, cell, code, code, (others, x, y, p, q) => {
        raise('x', moved([...others, [x, p]], [...others, [y, p]]));
        raise('party', moved([...others, [x, p]], [...others, [x, q]]));
      }),
      { numRuns: 3000, seed: 13 },
    );
    expect(most.x).toBe(measure.sensitivity.get(answersTo('x'))!.l1);
    expect(most.party).toBe(measure.sensitivity.get(answersTo('party'))!.l1);
  });
});

describe('the sensitivity by values of a public column', () => {
  const columns = [
    number('week', '2', '5', '1', { public: true, missing: ['4'] }),
    category('form', ['x', 'y', 'z'], { public: true }),
    category('party', ['a', 'b']),
  ];
  const policy = under(columns, {});
  // Beyond the bounds, between the steps, and undeclared codes.
  const rows = allRows(columns).flatMap((row) => [row, [99, ...row.slice(1)], [2.5, ...row.slice(1)], [row[0]!, 'w', row[2]!]]);
  const tests = fc.oneof(
    fc.record({
      column: fc.constant('week'),
      op: fc.constantFrom('=', '!=', '<', '<=', '>', '>='),
      value: fc.integer({ min: 0, max: 7 }),
    }),
    fc.record({ column: fc.constant('week'), op: fc.constantFrom('missing', 'present') }),
    fc.record({ column: fc.constant('form'), op: fc.constantFrom('=', '!='), value: fc.constantFrom('x', 'y', 'z') }),
    fc.record({ column: fc.constant('form'), op: fc.constant('in'), values: fc.subarray(['x', 'y', 'z'], { minLength: 1 }) }),
    fc.record({ column: fc.constant('form'), op: fc.constant('missing') }),
  );
  const leaves = fc.oneof(
    tests,
    fc.record({ column: fc.constant('party'), op: fc.constant('='), value: fc.constantFrom('a', 'b') }),
    fc.record({ column: fc.constant('late'), op: fc.constantFrom('=', '<', '!='), value: fc.integer({ min: 0, max: 4 }) }),
    fc.record({ column: fc.constant('other'), op: fc.constantFrom('=', '!='), value: fc.constantFrom('x', 'y') }),
    fc.record({ column: fc.constantFrom('late', 'other'), op: fc.constantFrom('missing', 'present') }),
  );
  const { trees } = fc.letrec<{ trees: unknown }>((tie) => ({
    trees: fc.oneof(
      { maxDepth: 3 },
      leaves,
      fc.record({ any: fc.array(tie('trees'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ all: fc.array(tie('trees'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ not: tie('trees') }),
    ),
  }));
  const questions = fc.record({
    kind: fc.constant('histogram'),
    column: fc.constantFrom('party', 'form'),
    where: fc.array(trees, { minLength: 1, maxLength: 3 }),
    derive: fc.constant({
      late: { op: 'floor', of: [{ op: '/', of: [{ op: '+', of: ['week', 1] }, 2] }] },
      other: { cases: [{ when: { column: 'late', op: '>', value: 2 }, value: { text: 'x' } }], otherwise: 'form' },
    }),
  });
  const slicings = slicingsOf(policy);
  /** True if rows outside the stated values of a public column add nothing to any measure. */
  const holds = (query: object, stated: (m: Measure, slicing: Slicing) => ValueSet): boolean =>
    bindBatch(parseBatch(query), policy).measures.every((measure) =>
      slicings.every((by) => {
        const paying = stated(measure, by.slicing);
        const at = columns.findIndex(({ name }) => name === by.column.name);
        const others = rows.filter((row) => !includesValue(paying, by.read(row[at]!)));
        return count(policy, measure, others).every((x) => x === 0n);
      }),
    );

  it('rows whose public value the filter excludes have sensitivity zero, whatever the query does with the column', () => {
    fc.assert(
      fc.property(questions, (query) => holds(query, (m, slicing) => valuesIn(m.sensitivity, slicing))),
      { numRuns: 300 },
    );
  });

  it('a slice that leaves out a passing value is detected', () => {
    const short = (m: Measure, slicing: Slicing): ValueSet => {
      const { ranges, missing } = valuesIn(m.sensitivity, slicing);
      return { ranges: ranges.map(({ from, to }) => ({ from, to: Number.isFinite(to) ? to - 1 : from + 1 })), missing };
    };
    const some = (m: Measure, slicing: Slicing): ValueSet => ({ ...valuesIn(m.sensitivity, slicing), missing: false });
    for (const wrong of [short, some])
      expect(() =>
        fc.assert(
          fc.property(questions, (query) => holds(query, wrong)),
          { numRuns: 300 },
        ),
      ).toThrow();
  });

  const tables = [
    { kind: 'count', by: ['week'] },
    { kind: 'histogram', column: 'form' },
    { kind: 'histogram', column: 'party', by: ['week'] },
    { kind: 'histogram', column: 'party' },
    { kind: 'crosstab', columns: ['form', 'week'] },
    { kind: 'count', by: ['form'], where: [{ column: 'week', op: '>', value: 2 }] },
    { kind: 'count', by: ['week'], where: [{ column: 'party', op: '=', value: 'a' }] },
    { kind: 'sum', column: 'x', by: ['week'] },
    { kind: 'sum', column: 'x', by: ['week', 'party'] },
    { kind: 'mean', column: 'x', by: ['form'] },
    { kind: 'sum', column: 'week', by: ['form'] },
    { kind: 'share', column: 'form', values: ['x'] },
    { kind: 'histogram', column: 'media', by: ['form'] },
  ];
  const wider = under([...columns, number('x', '-1', '2'), multi('media', ['p', 'q'])], {});
  const known = slicingsOf(wider);
  const all = rows.flatMap((row) => [-1, 2, null].flatMap((x) => ['', 'p', 'p;q'].map((media) => [...row, x, media])));
  const [everybody, some] = [all, all.filter((_, k) => k % 7 === 0)];
  const placeOf = (row: Row): readonly number[] =>
    known.map(({ column, read }) => read(row[[...wider.columns.keys()].indexOf(column.name)]!));
  /** Stated sensitivity for a row of these values, in the reading of one public column or of all together. */
  const statedFor = ({ sensitivity }: Measure, reading: Slicing, at: readonly number[]): Sensitivity => {
    if (!sensitivity.has(sliced(reading))) return sensitivity.get(everyRecord) ?? nothing;
    const pays = (box: ReturnType<typeof boxIn>['box']) =>
      box.every(
        (ends, k) =>
          ends === undefined || (Number.isNaN(at[k]!) ? Number.isNaN(ends.from) : ends.from <= at[k]! && at[k]! <= ends.to),
      );
    const own = [...sensitivity].filter(([name]) => isSlice(name) && boxIn(name).of === reading && pays(boxIn(name).box));
    expect(own.length).toBeLessThanOrEqual(1);
    return own[0]?.[1] ?? nothing;
  };
  /** Largest change of a measure when a row is replaced by one with the same values of a reading's columns, or removed, by those values. */
  const farthest = (
    measure: Measure,
    reading: Slicing,
    rows: readonly Row[],
  ): readonly { readonly place: readonly number[]; readonly exact: Sensitivity }[] => {
    const groups = new Map<string, Row[]>();
    const placeIn = (row: Row) =>
      columnsIn(reading).map((column) => placeOf(row)[known.findIndex((by) => by.slicing === column)]!);
    for (const row of rows) groups.set(placeIn(row).join(), [...(groups.get(placeIn(row).join()) ?? []), row]);
    return [...groups.values()].map((own) => ({
      place: placeIn(own[0]!),
      exact: exactSensitivity(wider, measure, own, () => true, true),
    }));
  };
  const measuresOf = (query: object) => bindBatch(parseBatch(query), wider).measures;
  const covers = (measure: Measure, rows: readonly Row[], times = (e: Sensitivity) => e): boolean =>
    readingsOf(wider).every((reading) =>
      farthest(measure, reading, rows).every(({ place, exact }) => within(exact, times(statedFor(measure, reading, place)))),
    );

  it.each(tables.map((query) => [JSON.stringify(query), query] as const))(
    'a slice covers rows that keep their values of its own columns, and of no others: %s',
    (_, query) => {
      for (const measure of measuresOf(query)) expect(covers(measure, some)).toBe(true);
    },
  );

  it('the sensitivity of a slice is half the full one in a table by public columns only, at most the full one in others, and detected when smaller', () => {
    const l1 = (query: object): readonly bigint[] => {
      const [{ sensitivity }] = measuresOf(query) as [Measure];
      const own = [...sensitivity].filter(([name]) => isSlice(name)).map(([, bound]) => bound.l1);
      return [sensitivity.get(everyRecord)!.l1, ...new Set(own)];
    };
    expect(l1(tables[0]!)).toEqual([2n, 1n]);
    // A row that keeps only one of the two values may move to another cell through the other.
    expect(l1(tables[4]!)).toEqual([2n, 1n]);
    expect(l1(tables[5]!)).toEqual([2n, 2n, 1n]);
    expect(l1(tables[2]!)).toEqual([2n]);
    expect(l1({ kind: 'sum', column: 'x', by: ['week'] })).toEqual([4n, 3n]);
    const halved = ({ l1, l2squared }: Sensitivity): Sensitivity => ({ l1: l1 / 2n, l2squared: l2squared / 2n });
    for (const query of [tables[0]!, tables[7]!, { kind: 'count', where: [{ column: 'week', op: '=', value: 3 }] }])
      expect(measuresOf(query).every((m) => covers(m, everybody, halved))).toBe(false);
  });

  it('the sensitivity of a running count covers all steps up to the horizon, and is detected when the horizon is shorter', () => {
    const steps = publicSteps(wider, 'week', 1);
    const overTwo = (query: object, stated: number): Measure => {
      const [measure] = measuresOf(query) as [SumMeasure];
      const { filter, keys, value } = measure.counting;
      const inside = { kind: 'range', column: 'week', from: 0, to: 1, negate: false } as const;
      return {
        ...measure,
        sensitivity: sensitivityOverSteps(wider, measure, steps, stated),
        counting: { filter: [...filter, inside], keys: [{ kind: 'grid', column: 'week', width: 1, size: 2 }, ...keys], value },
      };
    };
    for (const query of [{ kind: 'count' }, { kind: 'histogram', column: 'party' }, { kind: 'sum', column: 'x', by: ['form'] }]) {
      const measure = overTwo(query, 2);
      expect(covers(measure, some)).toBe(true);
      expect(
        within(
          exactSensitivity(wider, measure, some, () => true, true),
          measure.sensitivity.get(everyRecord)!,
        ),
      ).toBe(true);
      expect(covers(overTwo(query, 1), some)).toBe(false);
    }
  });

  it('costs are charged by values of the columns in the filter, and for rows and steps only', () => {
    const query = { kind: 'count', where: [{ column: 'week', op: '>=', value: 3 }] };
    const classes = (protect: Partial<Protect>) =>
      bindBatch(parseBatch(query), under(columns, protect)).measures.map((m) =>
        [...m.sensitivity.keys()].map((name) => recordClassKind(name)),
      );
    expect(classes({})).toEqual([['every', 'sliced', 'slice', 'sliced', 'slice']]);
    expect(classes({ secret: 'step' })).toEqual([['every', 'sliced', 'slice', 'sliced', 'slice']]);
    expect(classes({ secret: 'person', unit: 'id', maxRows: 3 })).toEqual([['every']]);
    expect(classes({ secret: 'answer' })).toEqual([[]]);
  });

  it('a slicing keeps its name when the last declared value moves, and a slice that reaches that value has no upper end', () => {
    const query = (op: string) => ({ kind: 'count', where: [{ column: 'week', op, value: 5 }] });
    const kinds = (high: string, op: string) => [
      ...bindBatch(
        parseBatch(query(op)),
        under([number('week', '2', high, '1', { public: true })], {}),
      ).measures[0]!.sensitivity.keys(),
    ];
    expect(kinds('5', '=')).toEqual(['*', expect.stringMatching(/^sliced:week#/), expect.stringMatching(/:5\.\.$/)]);
    expect(kinds('9', '=')).toEqual(['*', kinds('5', '=')[1], expect.stringMatching(/:5$/)]);
    expect(kinds('9', '<')).toEqual(kinds('5', '<'));
  });
});

describe('sums that could overflow', () => {
  it('a sum that could overflow is refused before anything is counted', () => {
    const wide = under([number('x', '0', '1000000000'), weight('w', '0', '1000000', '0.001')], {});
    expect(() => bindBatch(parseBatch({ kind: 'variance', column: 'x', weight: 'w' }), wide)).toThrow(Fault);
    expect(() => bindBatch(parseBatch({ kind: 'variance', column: 'x' }), wide)).not.toThrow();
  });

  it('a sum is refused for its factors even if a weight that is always 0 makes their product small', () => {
    const column = number('x', '1/1000000000039', '1', '1/999999999989');
    const fine = under([column, weight('w', '0', '0', '1')], {});
    expect(() => bindBatch(parseBatch({ kind: 'sum', column: 'x', weight: 'w' }), fine)).toThrow(/too fine/);
  });

  it('a policy that protects ties of a relation refuses to count rows', () => {
    expect(() => bindBatch(parseBatch({ kind: 'count' }), under(small, { secret: 'edge' }))).toThrow(/ties of a relation/);
  });
});
