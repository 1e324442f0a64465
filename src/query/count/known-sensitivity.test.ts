import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownPolicy } from '../../../test/known-policy.js';
import { category, number, samplePolicy } from '../../../test/sample-policy.js';
import type { Cell } from '../../data/engine/engine.js';
import type { Column, NumberColumn, Policy } from '../../policy/policy.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import type { Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import { bindBatch } from '../bind.js';
import { parseBatch } from '../parse.js';
import { publishedCells } from './margin-cells.js';
import type { CategoryKey, Counting, Measure } from './measure.js';
import { numbersToNoise } from './noisy-cells.js';
import { rowCounter } from './row-counter.js';
import { sumSensitivity } from './sensitivity.js';

type Row = readonly Cell[];
const nothing: Sensitivity = { l1: 0n, l2squared: 0n };

function valuesOf(column: Column): readonly Cell[] {
  if (column.type === 'category') return [...column.values, null];
  const [low, high] = (column as NumberColumn).bounds.map((b) => Number(b.num)) as [number, number];
  return [...Array.from({ length: high - low + 1 }, (_, k) => low + k), null];
}
const allRows = (columns: readonly Column[]): readonly Row[] =>
  columns.reduce<Row[]>((rows, column) => rows.flatMap((row) => valuesOf(column).map((v) => [...row, v])), [[]]);

const measuresOf = (query: object, policy: Policy) => bindBatch(parseBatch(query), policy).measures;
function vectorsOf(policy: Policy, measure: Measure, rows: readonly Row[]): readonly (readonly bigint[])[] {
  return rows.map((row) => {
    const counter = rowCounter([measure], [...policy.columns.keys()], policy);
    counter.add({ columns: row.map((cell) => [cell]), rows: 1 });
    return counter.totals()[0]!;
  });
}

/** Publicly known totals, written independently of the product: the summands of each row. */
type Adds = (row: Record<string, Cell>) => readonly number[];

/** All changes of at most so many records that keep the totals and contain no smaller such change. Shares no code with what is tested. */
function* changes(
  rows: readonly Row[],
  adds: readonly (readonly number[])[],
  most: number,
): Iterable<readonly (readonly [number, number])[]> {
  const moves = rows.flatMap((_, a) => rows.flatMap((__, b) => (a === b ? [] : [[a, b] as const])));
  const shift = moves.map(([a, b]) => adds[b]!.map((x, d) => x - adds[a]![d]!));
  const add = (x: readonly number[], y: readonly number[]) => x.map((v, d) => v + y[d]!);
  const isZero = (x: readonly number[]) => x.every((v) => v === 0);
  function* grow(
    from: number,
    chosen: readonly number[],
    parts: readonly (readonly number[])[],
    total: readonly number[],
  ): Iterable<readonly number[]> {
    for (let m = from; m < moves.length; m++) {
      const sums = [shift[m]!, ...parts.map((part) => add(part, shift[m]!))];
      const after = add(total, shift[m]!);
      const zeros = sums.filter(isZero).length;
      if (zeros > 0) {
        if (zeros === 1 && isZero(after)) yield [...chosen, m];
      } else if (chosen.length + 1 < most) yield* grow(m, [...chosen, m], [...parts, ...sums], after);
    }
  }
  for (const chosen of grow(
    0,
    [],
    [],
    shift[0]!.map(() => 0),
  ))
    yield chosen.map((m) => moves[m]!);
}

function exact(vectors: readonly (readonly bigint[])[], all: Iterable<readonly (readonly [number, number])[]>): Sensitivity {
  let { l1, l2squared } = nothing;
  for (const change of all) {
    const moved = vectors[0]!.map((_, c) => change.reduce((sum, [a, b]) => sum + vectors[b]![c]! - vectors[a]![c]!, 0n));
    const one = moved.reduce((s, x) => s + (x < 0n ? -x : x), 0n);
    const two = moved.reduce((s, x) => s + x * x, 0n);
    if (one > l1) l1 = one;
    if (two > l2squared) l2squared = two;
  }
  return { l1, l2squared };
}
const stated = (m: Measure): Sensitivity => m.sensitivity.get(everyRecord) ?? nothing;

const columns: readonly Column[] = [category('region', ['n', 's']), category('party', ['a', 'b'])];
const named = (row: Row) => ({ region: row[0]!, party: row[1]! });
const cellOf = (list: readonly Cell[], v: Cell) => list.map((x) => (x === v ? 1 : 0));
const regions: readonly Cell[] = ['n', 's', null];

const queries = [
  { kind: 'count' },
  { kind: 'count', by: ['party'] },
  { kind: 'count', where: [{ column: 'party', op: '=', value: 'a' }] },
  { kind: 'count', where: [{ column: 'region', op: '=', value: 'n' }], by: ['party'] },
  { kind: 'count', where: [{ column: 'region', op: 'present' }], by: ['party'] },
  { kind: 'count', by: ['region'] },
  { kind: 'crosstab', columns: ['region', 'party'] },
  { kind: 'share', column: 'party', values: ['a'], by: ['region'] },
];

describe('the sensitivity under known totals', () => {
  const rows = allRows(columns);
  const check = (entry: unknown, adds: Adds, most: number) => {
    const policy = knownPolicy(columns, entry);
    const all = [
      ...changes(
        rows,
        rows.map((r) => adds(named(r))),
        most,
      ),
    ];
    return queries.map((query) => ({
      query,
      found: measuresOf(query, policy).map((m) => [stated(m), exact(vectorsOf(policy, m, rows), all)] as const),
    }));
  };

  it('the sensitivity under a known margin is exact, and zero for what follows from the margin', () => {
    const found = check([{ margin: ['region'] }], ({ region }) => cellOf(regions, region!), 3);
    for (const { query, found: pairs } of found)
      for (const [declared, real] of pairs) expect([query, declared]).toEqual([query, real]);
    // Three kinds of region, counting a missing answer: three rows change at once, two cells each.
    expect(found.map(({ found: f }) => f[0]![0].l1)).toEqual([0n, 6n, 3n, 2n, 4n, 0n, 6n, expect.anything()]);
    expect(found[6]!.found[0]![0].l2squared).toBe(6n);
    expect(found[1]!.found[0]![0].l2squared).toBe(18n);
  });

  it('the sensitivity under disjoint known counts is at least the exact one, and zero for those counts', () => {
    const found = check(
      [{ count: { where: { region: 'n', party: 'a' } } }, { count: { where: { region: 's' } } }],
      ({ region, party }) => [region === 'n' && party === 'a' ? 1 : 0, region === 's' ? 1 : 0],
      3,
    );
    for (const { query, found: pairs } of found)
      for (const [declared, real] of pairs)
        expect([query, real.l1 <= declared.l1 && real.l2squared <= declared.l2squared]).toEqual([query, true]);
    expect(found[1]!.found[0]).toEqual([
      { l1: 6n, l2squared: 18n },
      { l1: 4n, l2squared: 8n },
    ]);
    const policy = knownPolicy(columns, [{ count: { where: { region: 'n', party: 'a' } } }]);
    const question = {
      kind: 'count',
      where: [
        { column: 'party', op: '=', value: 'a' },
        { column: 'region', op: '=', value: 'n' },
      ],
    };
    expect(measuresOf(question, policy)[0]!.sensitivity.size).toBe(0);
  });

  it('the sensitivity under overlapping known counts is at least the exact one', () => {
    const found = check(
      [{ count: { where: { region: 'n' } } }, { count: { where: { party: 'a' } } }],
      ({ region, party }) => [region === 'n' ? 1 : 0, party === 'a' ? 1 : 0],
      4,
    );
    for (const { query, found: pairs } of found)
      for (const [declared, real] of pairs)
        expect([query, real.l1 <= declared.l1 && real.l2squared <= declared.l2squared]).toEqual([query, true]);
    expect(found[0]!.found[0]![0].l1).toBe(4n);
  });

  it('the sensitivity under a known sum is at least the exact one, and zero for the sum', () => {
    const own = [number('x', '0', '2'), category('party', ['a', 'b'])];
    const all = allRows(own);
    const policy = knownPolicy(own, [{ sum: 'x' }]);
    expect(policy.known!.together).toBe(3);
    const found = [
      ...changes(
        all,
        all.map(([x]) => [Number(x ?? 0)]),
        3,
      ),
    ];
    for (const query of [
      { kind: 'count', by: ['party'] },
      { kind: 'count', by: ['x'] },
      { kind: 'mean', column: 'x' },
      { kind: 'sum', column: 'x', by: ['party'] },
    ])
      for (const m of measuresOf(query, policy)) {
        const real = exact(vectorsOf(policy, m, all), found);
        expect([query, real.l1 <= stated(m).l1 && real.l2squared <= stated(m).l2squared]).toEqual([query, true]);
      }
    expect(measuresOf({ kind: 'sum', column: 'x' }, policy)[0]!.sensitivity.size).toBe(0);
  });

  it('the sensitivity of a distribution under a known margin is at least the exact one, and a distribution that follows is refused', () => {
    const own = [category('region', ['n', 's']), number('age', '0', '5')];
    const policy = knownPolicy(own, [{ margin: ['region'] }]);
    const all = allRows(own);
    const found = [
      ...changes(
        all.filter(([region]) => region !== null),
        all.filter(([region]) => region !== null).map(([region]) => cellOf(regions, region!)),
        2,
      ),
    ];
    const kept = all.filter(([region]) => region !== null);
    const inRegion = { where: [{ column: 'region', op: '=', value: 'n' }] };
    for (const query of [
      { kind: 'cdf', column: 'age' },
      { kind: 'cdf', column: 'age', by: ['region'] },
      { kind: 'cdf', column: 'age', ...inRegion },
      { kind: 'ranges', column: 'age', ranges: [[1, 3]] },
    ])
      for (const m of measuresOf(query, policy)) {
        if (m.mechanism !== 'ordered') throw new RangeError('no distribution');
        const vectors = vectorsOf(policy, m, kept).map((counts) => numbersToNoise(m, counts));
        const real = exact(vectors, found);
        expect(real.l1).toBeGreaterThan(0n);
        expect([query, real.l1 <= stated(m).l1 && real.l2squared <= stated(m).l2squared]).toEqual([query, true]);
      }
    expect(() => measuresOf({ kind: 'cdf', column: 'age' }, knownPolicy(own, [{ margin: ['age'] }]))).toThrow('everybody knows');
  });

  it('the sensitivity of one record is too small under known totals: a model with single-row neighbours is detected', () => {
    const all = [
      ...changes(
        rows,
        rows.map((r) => cellOf(regions, named(r).region)),
        3,
      ),
    ];
    const twin = samplePolicy(columns);
    const short = queries.filter((query) =>
      measuresOf(query, twin).some((m) => exact(vectorsOf(twin, m, rows), all).l1 > stated(m).l1),
    );
    expect(short.map((q) => q.kind)).toEqual(['count', 'count', 'count', 'crosstab', 'share']);
  });

  it('the sensitivity is exact for margins of small columns and every query over them', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 3 }), fc.boolean(), (r, p, numbers) => {
        const own = [
          category('region', ['n', 's'].slice(0, r)),
          numbers ? number('party', '0', `${p - 1}`) : category('party', ['a', 'b', 'c'].slice(0, p)),
        ];
        const policy = knownPolicy(own, [{ margin: 'region' }]);
        const all = allRows(own);
        const found = [
          ...changes(
            all,
            all.map(([region]) => valuesOf(own[0]!).map((v) => (v === region ? 1 : 0))),
            r + 1,
          ),
        ];
        for (const query of [
          { kind: 'count', by: ['party'] },
          { kind: 'crosstab', columns: ['party', 'region'] },
        ])
          for (const m of measuresOf(query, policy))
            expect([query, stated(m)]).toEqual([query, exact(vectorsOf(policy, m, all), found)]);
      }),
      { numRuns: 8 },
    );
  });
});

describe('published numbers', () => {
  const own = [number('x', '-1', '2'), category('region', ['n', 's']), category('only', ['a'])];
  const all = allRows(own);
  const data = all.filter((_, k) => k % 3 !== 1);
  const withPublished = (entry: object, adds: (row: Row) => readonly number[]): Policy => {
    const policy = knownPolicy(own, [entry]);
    const known = policy.known!;
    const values = data.map(adds).reduce((a, b) => a.map((v, k) => v + b[k]!));
    return { ...policy, known: { ...known, totals: known.totals.map((total) => ({ ...total, values: values.map(BigInt) })) } };
  };
  const counted = (policy: Policy, m: Measure): readonly bigint[] => {
    const vectors = vectorsOf(policy, m, data);
    return vectors.reduce((a, b) => a.map((v, k) => v + b[k]!));
  };
  const numbers = valuesOf(own[0]!);
  const noOne = [{ column: 'only', op: '!=', value: 'a' }];
  const byNumber = withPublished({ margin: ['x'] }, ([x]) => cellOf(numbers, x!));
  const bySum = withPublished({ sum: 'x' }, ([x]) => [Number(x ?? 0)]);

  it('a query that follows from published numbers returns them where the data agrees', () => {
    let answered = 0;
    for (const [policy, queries] of [
      [
        byNumber,
        [
          { kind: 'count', by: ['x'] },
          { kind: 'count', where: [{ column: 'x', op: 'present' }] },
          { kind: 'sum', column: 'x' },
          { kind: 'sum', column: 'x', by: ['x'] },
          { kind: 'mean', column: 'x' },
          { kind: 'variance', column: 'x' },
          { kind: 'count', by: ['x'], where: noOne },
        ],
      ],
      [
        bySum,
        [
          { kind: 'sum', column: 'x' },
          { kind: 'sum', column: 'x', where: noOne },
        ],
      ],
    ] as const)
      for (const query of queries)
        for (const m of measuresOf(query, policy)) {
          if (m.mechanism !== 'additive' || !m.published) throw new RangeError(`nothing published of ${m.name}`);
          expect([query, m.published]).toEqual([query, counted(policy, m)]);
          answered++;
        }
    expect(answered).toBe(12);
  });

  it('published numbers of merged columns are returned by combination', () => {
    const policy = withPublished({ margin: ['region', 'only'] }, ([, region, only]) =>
      regions.flatMap((r) => ['a', null].map((o) => (r === region && o === only ? 1 : 0))),
    );
    const code = (column: string, codes: readonly string[]): CategoryKey => ({
      kind: 'code',
      column,
      groups: codes.map((c) => [c]),
      missing: 'cell',
      size: codes.length + 1,
    });
    const keys = [code('region', ['n', 's']), code('only', ['a'])];
    const support = [
      [0, 0],
      [2, 1],
    ];
    const counting: Counting = { filter: [], keys: [{ kind: 'joint', keys, support, size: 3 }], value: { kind: 'one' } };
    const sensitivity = sumSensitivity(policy, counting);
    expect(sensitivity.size).toBe(0);
    const m = {
      mechanism: 'additive',
      name: 'm',
      cells: [[], [], []],
      grid: { num: 1n, den: 1n },
      sensitivity,
      counting,
    } as const;
    expect(publishedCells(policy, counting)).toEqual(counted(policy, m));
  });

  it('a quantile that follows from published numbers is refused, since it would reveal the data', () => {
    expect(() => measuresOf({ kind: 'quantile', column: 'x', at: [0.5] }, byNumber)).toThrow('everybody knows');
    expect(() => measuresOf({ kind: 'quantile', column: 'x', at: [0.5] }, bySum)).not.toThrow();
  });
});
