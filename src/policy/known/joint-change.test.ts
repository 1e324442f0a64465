import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownAmong } from '../../../test/known-policy.js';
import { category, number } from '../../../test/sample-policy.js';
import { largestJointChange, type TotalsOfRow } from './joint-change.js';

/** Moves between kinds, as many as a change takes at most, by trying every list of up to `most` moves. */
function longest(kinds: readonly TotalsOfRow[], most: number): number {
  const moves = [
    ...new Map(
      kinds.flatMap((a) => kinds.map((b) => b.map((x, d) => x - a[d]!))).map((move) => [move.join(), move] as const),
    ).values(),
  ].filter((move) => move.some((x) => x !== 0n));
  const isZero = (v: TotalsOfRow) => v.every((x) => x === 0n);
  let found = 1;
  const grow = (from: number, length: number, parts: readonly TotalsOfRow[]): void => {
    for (let m = from; m < moves.length; m++) {
      const sums = [moves[m]!, ...parts.map((part) => part.map((x, d) => x + moves[m]![d]!))];
      const zeros = sums.filter(isZero).length;
      // The last sum is that of all moves.
      if (zeros === 1 && isZero(sums.at(-1)!)) found = Math.max(found, length + 1);
      if (zeros === 0 && length + 1 < most) grow(m, length + 1, [...parts, ...sums]);
    }
  };
  grow(0, 0, []);
  return found;
}

/**
 * The policy graph of He et al. 2014 for counts that exclude each other, over a list of kinds of rows: a count each and two ends; an arc wherever replacing a row lowers one count (or none: from the
 * first end) and lifts another (or none: to the second). The longest simple cycle, or path from end to end.
 */
function policyGraph(kinds: readonly TotalsOfRow[], counts: number): number {
  const [start, stop] = [counts, counts + 1];
  const of = (kind: TotalsOfRow, end: number) => (kind.includes(1n) ? kind.indexOf(1n) : end);
  const arcs = new Map<number, Set<number>>();
  for (const a of kinds)
    for (const b of kinds) {
      const [from, to] = [of(a, start), of(b, stop)];
      if (from === to || (a.join() === b.join() && a.includes(1n))) continue;
      arcs.set(from, (arcs.get(from) ?? new Set()).add(to));
    }
  let most = 1;
  const walk = (first: number, at: number, seen: ReadonlySet<number>, length: number): void => {
    for (const to of arcs.get(at) ?? []) {
      if (to === first || to === stop) {
        if (to === first || first === start) most = Math.max(most, length + 1);
      } else if (!seen.has(to)) walk(first, to, new Set([...seen, to]), length + 1);
    }
  };
  for (const first of arcs.keys()) walk(first, first, new Set([first]), 0);
  return most;
}

const bits = fc.constantFrom(0n, 1n);
const distinct = (kinds: readonly TotalsOfRow[]): readonly TotalsOfRow[] => [
  ...new Map(kinds.map((k) => [k.join(), k])).values(),
];

describe('the largest joint change', () => {
  it('the largest joint change equals the one found by trying every change, for counts of any kind', () => {
    const some = fc
      .integer({ min: 1, max: 2 })
      .chain((d) => fc.array(fc.tuple(...Array.from({ length: d }, () => bits)), { minLength: 1, maxLength: 4 }));
    fc.assert(
      fc.property(some, (drawn) => {
        const kinds = distinct(drawn);
        const found = largestJointChange(kinds)!;
        expect(found.most).toBe(longest(kinds, found.most + 2));
      }),
      { numRuns: 60 },
    );
    const three = fc.array(fc.tuple(bits, bits, bits), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(three, (drawn) => {
        const kinds = distinct(drawn);
        const found = largestJointChange(kinds)!;
        expect(found.most).toBe(longest(kinds, Math.min(6, found.most + 1)));
      }),
      { numRuns: 25 },
    );
  });

  it('the largest joint change of disjoint counts is the longest cycle or path of the policy graph', () => {
    const kinds = fc.integer({ min: 1, max: 5 }).chain((counts) =>
      fc.record({
        counts: fc.constant(counts),
        rest: fc.boolean(),
        held: fc.subarray(
          Array.from({ length: counts }, (_, k) => k),
          { minLength: 1 },
        ),
      }),
    );
    fc.assert(
      fc.property(kinds, ({ counts, rest, held }) => {
        const made = held.map((k): TotalsOfRow => Array.from({ length: counts }, (_, d) => (d === k ? 1n : 0n)));
        const all = rest ? [...made, Array.from({ length: counts }, () => 0n)] : made;
        const found = largestJointChange(all)!;
        expect(found).toEqual({ most: policyGraph(all, counts), singles: true });
        if (all.length <= 4) expect(found.most).toBe(longest(all, all.length + 1));
      }),
      { numRuns: 60 },
    );
  });

  it('the largest joint change of a sum over a range D has 2 D - 1 records', () => {
    for (const top of [1, 2, 3, 4]) {
      const kinds = Array.from({ length: top + 1 }, (_, x): TotalsOfRow => [BigInt(3 * x)]);
      expect(largestJointChange(kinds)!.most).toBe(top === 1 ? 2 : 2 * top - 1);
      expect(longest(kinds, 2 * top)).toBe(top === 1 ? 2 : 2 * top - 1);
    }
    expect(largestJointChange(Array.from({ length: 41 }, (_, x): TotalsOfRow => [BigInt(x)]))!.most).toBe(79);
  });

  it('the largest joint change is independent of the unit, and undefined for differences too fine for doubles', () => {
    const kinds = (unit: bigint, end = 0n): readonly TotalsOfRow[] => [[0n], [3n * unit], [5n * unit + end]];
    expect(largestJointChange(kinds(2n ** 60n))).toEqual(largestJointChange(kinds(1n)));
    expect(largestJointChange(kinds(1n))!.most).toBe(longest(kinds(1n), 9));
    // The last two kinds differ from a multiple by one part in 2^60, which a double does not hold: no result.
    expect(largestJointChange(kinds(2n ** 58n, 1n))).toBeUndefined();
  });

  it('the largest joint change of several margins is undefined when the search takes too long', () => {
    const kinds = [0, 1, 2].flatMap((a) =>
      [0, 1, 2].map((b): TotalsOfRow => [0, 1, 2, 3, 4, 5].map((d) => (d === a || d === 3 + b ? 1n : 0n))),
    );
    expect(largestJointChange(kinds, 100_000)).toBeUndefined();
  });
});

describe('known totals in a policy', () => {
  const columns = [
    category('region', ['n', 's']),
    category('sex', ['f', 'm']),
    number('age', '0', '9', '1', { bins: [{ num: 5n, den: 1n }] }),
  ];
  it('known totals are one margin if all of them follow from it', () => {
    const { together, margin, singles } = knownAmong(columns, [
      { margin: ['region', 'age'] },
      { margin: 'region' },
      { count: { where: { region: 'n', age: [5, 9] } } },
    ]);
    // Two regions and none, two bins and none.
    expect([together, margin?.map((cut) => cut.column), singles]).toEqual([9, ['region', 'age'], true]);
  });
  it('known totals that cut a bin are analysed as they are, and refused if a change takes too many records', () => {
    expect(knownAmong(columns, [{ count: { where: { age: [3, 4] } } }])).toMatchObject({ together: 2, singles: true });
    expect(() => knownAmong(columns, [{ margin: ['region', 'sex'] }, { margin: 'age' }])).toThrow(
      'Nothing but noise for everybody',
    );
    expect(knownAmong(columns, [{ count: { where: { region: 'n' } } }, { count: { where: { sex: 'f' } } }])).toMatchObject({
      together: 4,
      singles: false,
    });
  });
  it('known totals have a published number for every value, or for none', () => {
    expect(knownAmong(columns, [{ margin: 'region', values: { n: 3, s: 4 } }]).totals[0]!.values).toEqual([3n, 4n, 0n]);
    expect(() => knownAmong(columns, [{ margin: 'region', values: { n: 3 } }])).toThrow('No number is published for s.');
    expect(() => knownAmong(columns, [{ count: { where: { sex: 'f' } }, value: 1.5 }])).toThrow(
      'no total of what this policy counts',
    );
  });
});
