import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { category, multi, number, samplePolicy, weight } from '../../../test/sample-policy.js';
import { smallQueries } from '../../../test/small-queries.js';
import { one } from '../../base/exact/rational.js';
import type { Cell } from '../../data/engine/engine.js';
import type { ColumnPairs, Pairs } from '../../policy/pairs/pairs.js';
import type { Column, Policy } from '../../policy/policy.js';
import { everyRecord, paired, pairsClass } from '../../privacy/mechanism/record-class.js';
import type { Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import { bindBatch } from '../bind.js';
import { parseBatch } from '../parse.js';
import type { Measure } from './measure.js';
import { numbersToNoise } from './noisy-cells.js';
import { rowCounter } from './row-counter.js';
import { sumSensitivity } from './sensitivity.js';

/** A cell, and the position it is read at. */
interface Value {
  readonly cell: Cell;
  readonly at: number;
}
type Row = readonly Value[];

function valuesOf(column: Column): readonly Value[] {
  if (column.type === 'category') return [...column.values.map((cell, at) => ({ cell, at })), { cell: null, at: -1 }];
  if (column.type === 'multi') {
    let sets: string[][] = [[]];
    for (const value of column.values) sets = sets.flatMap((set) => [set, [...set, value]]);
    return sets.map((set, at) => ({ cell: set.join(column.separator), at }));
  }
  const low = Number(column.bounds[0].num) / Number(column.bounds[0].den);
  const high = Number(column.bounds[1].num) / Number(column.bounds[1].den);
  const step = Number(column.step.num) / Number(column.step.den);
  const count = Math.round((high - low) / step) + 1;
  return [...Array.from({ length: count }, (_, at) => ({ cell: low + at * step, at })), { cell: null, at: -1 }];
}
function allRows(columns: readonly Column[]): readonly Row[] {
  let rows: Row[] = [[]];
  for (const column of columns) rows = rows.flatMap((row) => valuesOf(column).map((value) => [...row, value]));
  return rows;
}

/** Pairs of a column, written independently from the words of the policy: shares no code with what is tested. */
function near(pairs: ColumnPairs | undefined, a: number, b: number): boolean {
  if (a === b || pairs === undefined) return true;
  if (a < 0 || b < 0) return pairs.missing === 'any';
  if (pairs.form === 'steps') return a - b <= pairs.steps && b - a <= pairs.steps;
  if (pairs.form === 'ranges') return !pairs.starts.some((start) => a < start !== b < start);
  if (pairs.form === 'blocks') return pairs.blockOf[a] === pairs.blockOf[b];
  return pairs.form === 'graph' && pairs.joined[a]!.includes(b);
}
const isPairOfRows = (pairs: Pairs, columns: readonly Column[]) => (a: Row, b: Row) =>
  columns.every(({ name }, j) => near(pairs.columns.get(name), a[j]!.at, b[j]!.at));

const nothing: Sensitivity = { l1: 0n, l2squared: 0n };
const most = (x: bigint, y: bigint) => (x > y ? x : y);
const differenceOf = (a: readonly bigint[], b: readonly bigint[]): Sensitivity =>
  a.reduce(({ l1, l2squared }, x, i) => {
    const d = x < b[i]! ? b[i]! - x : x - b[i]!;
    return { l1: l1 + d, l2squared: l2squared + d * d };
  }, nothing);

function exact(policy: Policy, measure: Measure, rows: readonly Row[], comparable: (a: Row, b: Row) => boolean): Sensitivity {
  const names = [...policy.columns.keys()];
  const vectors = rows.map((row) => {
    const counter = rowCounter([measure], names, policy);
    counter.add({ columns: row.map(({ cell }) => [cell]), rows: 1 });
    const counts = counter.totals()[0]!;
    return measure.mechanism === 'ordered' ? numbersToNoise(measure, counts) : counts;
  });
  let found = nothing;
  rows.forEach((a, i) => {
    for (let j = 0; j < i; j++)
      if (comparable(a, rows[j]!)) {
        const d = differenceOf(vectors[i]!, vectors[j]!);
        found = { l1: most(found.l1, d.l1), l2squared: most(found.l2squared, d.l2squared) };
      }
  });
  return found;
}

const digest = 'abcd';
const pairsOf = (columns: Record<string, ColumnPairs>): Pairs => ({
  digest,
  columns: new Map(Object.entries(columns)),
  declarations: [],
});
/** With ties, so that a measure that no pair changes still has classes. */
const tied = (columns: readonly Column[], pairs: Pairs): Policy => ({
  ...samplePolicy(columns, { pairs }),
  dependence: [{ kind: 'groups' }],
  design: { effect: 1 },
});
const measuresOf = (query: object, policy: Policy) => bindBatch(parseBatch(query), policy).measures;
const stated = (measure: Measure): Sensitivity => measure.sensitivity.get(pairsClass(digest)) ?? nothing;
const within = (a: Sensitivity, b: Sensitivity) => a.l1 <= b.l1 && a.l2squared <= b.l2squared;

const columns: readonly Column[] = [
  number('x', '-1', '4'),
  category('party', ['a', 'b', 'c']),
  multi('media', ['p', 'q']),
  weight('w', '0.5', '1.5', '0.5'),
];
const missing = fc.constantFrom<'any' | 'apart'>('any', 'apart');
const onPositions = (size: number): fc.Arbitrary<ColumnPairs | undefined> =>
  fc.oneof(
    fc.constant(undefined),
    fc.constant<ColumnPairs>({ form: 'same', missing: 'apart', size }),
    fc.record({
      form: fc.constant('steps' as const),
      steps: fc.integer({ min: 1, max: size }),
      missing,
      size: fc.constant(size),
    }),
  );
const ofNumber = (size: number): fc.Arbitrary<ColumnPairs | undefined> =>
  fc.oneof(
    onPositions(size),
    fc.record({
      form: fc.constant('ranges' as const),
      starts: fc.subarray(Array.from({ length: size - 1 }, (_, p) => p + 1)),
      missing,
      size: fc.constant(size),
    }),
  );
const ofCodes = (size: number): fc.Arbitrary<ColumnPairs | undefined> =>
  fc.oneof(
    onPositions(size),
    fc.record({
      form: fc.constant('blocks' as const),
      blockOf: fc.array(fc.nat({ max: 1 }), { minLength: size, maxLength: size }),
      missing,
      size: fc.constant(size),
    }),
    fc.record({
      form: fc.constant('graph' as const),
      joined: fc.constantFrom([[1], [0], []], [[1], [0, 2], [1]], [[], [2], [1]]),
      missing,
      size: fc.constant(size),
    }),
  );
const declaredPairs = (all: Record<string, ColumnPairs | undefined>): Pairs =>
  pairsOf(Object.fromEntries(Object.entries(all).filter(([, own]) => own !== undefined)) as Record<string, ColumnPairs>);
const anyPairs: fc.Arbitrary<Pairs> = fc
  .record({
    x: ofNumber(6),
    party: ofCodes(3),
    media: fc.constantFrom<ColumnPairs | undefined>(undefined, { form: 'same', missing: 'apart', size: 4 }),
    w: ofNumber(3),
  })
  .map(declaredPairs);

const queries = [
  ...smallQueries,
  { kind: 'count', where: [{ column: 'x', op: '>', value: 1 }] },
  { kind: 'count', where: [{ column: 'x', op: 'missing' }] },
  { kind: 'histogram', column: 'x' },
];
/** Those that read only the columns they need, to keep the rows few. */
const readBy = (query: object): readonly Column[] => columns.filter(({ name }) => JSON.stringify(query).includes(`"${name}"`));

describe('the sensitivity to replacing a row along a pair', () => {
  const check = (query: object, pairs: Pairs, own: (m: Measure) => Sensitivity): boolean => {
    const schema = readBy(query);
    const policy = tied(schema, pairs);
    const rows = allRows(schema);
    return measuresOf(query, policy).every((m) => within(exact(policy, m, rows, isPairOfRows(pairs, schema)), own(m)));
  };

  it.each(queries.map((query) => [JSON.stringify(query), query] as const))(
    'the stated sensitivity along a pair is at least the exact one: %s',
    (_, query) => {
      fc.assert(
        fc.property(anyPairs, (pairs) => check(query, pairs, stated)),
        { numRuns: 25 },
      );
    },
  );

  it('the stated sensitivity along a pair is exact for tables, and for moments without weights and filters', () => {
    const claimed = queries.filter(
      (q) =>
        !('weight' in q) && !('where' in q) && !(q.kind === 'sum' && q.by?.includes('x')) && !JSON.stringify(q).includes('media'),
    );
    expect(claimed.length).toBeGreaterThan(7);
    for (const query of claimed)
      fc.assert(
        fc.property(anyPairs, (pairs) => {
          const schema = readBy(query);
          const policy = tied(schema, pairs);
          const rows = allRows(schema);
          for (const m of measuresOf(query, policy))
            expect([query, m.name, stated(m)]).toEqual([query, m.name, exact(policy, m, rows, isPairOfRows(pairs, schema))]);
        }),
        { numRuns: 30 },
      );
  });

  it('the stated sensitivity along a pair is exact for counts with filters', () => {
    const claimed = queries.filter((q) => q.kind === 'count' && 'where' in q && !JSON.stringify(q).includes('media'));
    expect(claimed).toHaveLength(3);
    for (const query of claimed)
      fc.assert(
        fc.property(anyPairs, (pairs) => {
          const schema = readBy(query);
          const policy = tied(schema, pairs);
          const [m] = measuresOf(query, policy);
          expect([query, stated(m!)]).toEqual([query, exact(policy, m!, allRows(schema), isPairOfRows(pairs, schema))]);
        }),
        { numRuns: 40 },
      );
  });

  it('the sensitivity along a pair never exceeds that of any replacement, which stays the same and is recorded', () => {
    fc.assert(
      fc.property(fc.constantFrom(...queries), anyPairs, (query, pairs) => {
        const plain = measuresOf(query, { ...samplePolicy(columns), design: { effect: 1 } });
        return measuresOf(query, tied(columns, pairs)).every((m, k) => {
          const full = m.sensitivity.get(everyRecord)!;
          // The strategy of ordered counts depends on the pairs.
          const known = m.mechanism === 'ordered' ? full : plain[k]!.sensitivity.get(everyRecord);
          expect([full, m.sensitivity.get(paired(digest))]).toEqual([known, full]);
          return within(stated(m), full);
        });
      }),
      { numRuns: 200 },
    );
  });

  it('a sensitivity with shorter pairs, with one moving column at a time, or without missing answers is detected', () => {
    const shorter = (pairs: ColumnPairs): ColumnPairs => (pairs.form === 'steps' ? { ...pairs, steps: pairs.steps - 1 } : pairs);
    const forgotten = (pairs: ColumnPairs): ColumnPairs => ({ ...pairs, missing: 'apart' });
    for (const wrong of [shorter, forgotten])
      expect(() =>
        fc.assert(
          fc.property(anyPairs, (pairs) => {
            const less = { ...pairs, columns: new Map([...pairs.columns].map(([name, own]) => [name, wrong(own)])) };
            const lesser = (m: Measure): Sensitivity => {
              const twin = measuresOf({ kind: 'sum', column: 'x' }, tied(readBy({ x: 'x' }), less)).find(
                (o) => o.name === m.name,
              );
              return stated(twin!);
            };
            return check({ kind: 'sum', column: 'x' }, pairs, lesser);
          }),
          { numRuns: 200 },
        ),
      ).toThrow();
    const query = { kind: 'sum', column: 'x', weight: 'w' };
    const schema = readBy(query);
    const steps = (size: number): ColumnPairs => ({ form: 'steps', steps: 1, missing: 'apart', size });
    const pairs = pairsOf({ x: steps(6), w: steps(3) });
    const policy = tied(schema, pairs);
    const [m] = measuresOf(query, policy);
    const rows = allRows(schema);
    const all = isPairOfRows(pairs, schema);
    const oneAtATime = exact(policy, m!, rows, (a, b) => all(a, b) && a.filter((v, j) => v.at !== b[j]!.at).length === 1);
    expect(within(exact(policy, m!, rows, all), oneAtATime)).toBe(false);
    expect(check(query, pairs, stated)).toBe(true);
  });
});

describe('the sensitivity along pairs of merged columns', () => {
  const schema = [category('p', ['a', 'b', 'c']), category('q', ['a', 'b', 'c'])];
  const key = (column: string) => ({
    kind: 'code' as const,
    column,
    groups: [['a'], ['b', 'c']],
    missing: 'cell' as const,
    size: 3,
  });
  const support = [
    [0, 0],
    [1, 0],
    [2, 1],
  ];
  it('the stated sensitivity along pairs of merged columns is at least the exact one', () => {
    fc.assert(
      fc.property(fc.record({ p: ofCodes(3), q: ofCodes(3) }).map(declaredPairs), (pairs) => {
        const policy = tied(schema, pairs);
        const counting = {
          filter: [],
          keys: [{ kind: 'joint' as const, keys: [key('p'), key('q')], support, size: 4 }],
          value: { kind: 'one' as const },
        };
        const sensitivity = sumSensitivity(policy, counting);
        const measure: Measure = {
          mechanism: 'additive',
          name: 'm',
          cells: support.map(() => []),
          grid: one,
          sensitivity,
          counting,
        };
        return within(exact(policy, measure, allRows(schema), isPairOfRows(pairs, schema)), stated(measure));
      }),
      { numRuns: 60 },
    );
  });
});

describe('a measure that no pair changes', () => {
  const blocks: ColumnPairs = { form: 'blocks', blockOf: [0, 0, 1], missing: 'apart', size: 3 };
  const strangers = (pairs: Pairs) => samplePolicy(columns, { pairs });
  const grouped = { kind: 'count', where: [{ column: 'party', op: 'in', values: ['a', 'b'] }] };

  it('a measure that no pair changes has no class without ties, and needs noise for what ties carry', () => {
    const pairs = pairsOf({ party: blocks });
    expect([...measuresOf(grouped, strangers(pairs))[0]!.sensitivity]).toEqual([]);
    expect([...measuresOf(grouped, tied(columns, pairs))[0]!.sensitivity.keys()]).toEqual([everyRecord, paired(digest)]);
    expect(measuresOf({ kind: 'count', by: ['party'] }, strangers(pairs))[0]!.sensitivity.get(pairsClass(digest))).toEqual({
      l1: 2n,
      l2squared: 2n,
    });
  });

  it('a measure that no pair changes is noised as usual under secret answers', () => {
    const [m] = measuresOf(grouped, samplePolicy(columns, { secret: 'answer', pairs: pairsOf({ party: blocks }) }));
    expect([m!.sensitivity.has(everyRecord), m!.sensitivity.has(paired(digest))]).toEqual([true, false]);
  });

  it('a measure without a class has the same value for every two rows of a pair', () => {
    fc.assert(
      fc.property(fc.constantFrom(...queries), anyPairs, (query, pairs) => {
        const schema = readBy(query);
        const policy = samplePolicy(schema, { pairs });
        const rows = allRows(schema);
        return measuresOf(query, policy).every(
          (m) => m.sensitivity.size > 0 || exact(policy, m, rows, isPairOfRows(pairs, schema)).l1 === 0n,
        );
      }),
      { numRuns: 200 },
    );
  });
});

describe('the sensitivity of the penalties of a quantile along pairs', () => {
  const schema = [number('x', '0', '3'), category('party', ['a', 'b', 'c'])];
  const row = fc.tuple(fc.integer({ min: -1, max: 3 }), fc.integer({ min: -1, max: 2 }));
  const cellsOf = ([x, p]: readonly [number, number]): readonly Cell[] => [x < 0 ? null : x, p < 0 ? null : ['a', 'b', 'c'][p]!];
  it('the sensitivity of the penalties along pairs is never exceeded, and is attained where the candidates change', () => {
    const reached = new Set<bigint>();
    fc.assert(
      fc.property(
        fc.record({ x: ofNumber(4), party: ofCodes(3) }).map(declaredPairs),
        fc.constantFrom([], ['party']),
        fc.constantFrom(0.5, 0.25, 0.9),
        fc.array(fc.tuple(fc.array(row, { maxLength: 6 }), row, row), { minLength: 40, maxLength: 40 }),
        (pairs, by, at, tables) => {
          const policy = tied(schema, pairs);
          const [measure] = measuresOf({ kind: 'quantile', column: 'x', at: [at], by }, policy);
          if (measure?.mechanism !== 'exponential') throw new Error('not a selection');
          const width = measure.candidates.length;
          const penalties = (rows: readonly (readonly [number, number])[]): bigint[][] => {
            const counter = rowCounter([measure], ['x', 'party'], policy);
            const cells = rows.map(cellsOf);
            counter.add({ columns: [0, 1].map((j) => cells.map((r) => r[j]!)), rows: rows.length });
            const counts = counter.totals()[0]!;
            return measure.cells.map((_, g) => measure.penalties(counts.slice(g * width, (g + 1) * width)));
          };
          return tables.every(([others, a, b]) => {
            if (!near(pairs.columns.get('x'), a[0], b[0]) || !near(pairs.columns.get('party'), a[1], b[1])) return true;
            const [p, q] = [penalties([...others, a]), penalties([...others, b])];
            const moves = p.map((list, g) => list.reduce((m, x, k) => most(m, differenceOf([x], [q[g]![k]!]).l1), 0n));
            const found = differenceOf(
              moves,
              moves.map(() => 0n),
            );
            if (found.l1 > 0n && found.l1 === stated(measure).l1) reached.add(found.l1);
            return within(found, stated(measure));
          });
        },
      ),
      { numRuns: 120 },
    );
    expect(reached.size).toBeGreaterThan(2);
  });
});
