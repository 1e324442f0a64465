import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { category, multi, number, samplePolicy } from '../../../test/sample-policy.js';
import { bindBatch } from '../bind.js';
import type { RowCondition } from '../form.js';
import { parseBatch } from '../parse.js';
import { parseSql } from '../sql/sql.js';
import { canonicalCount, reorderCells } from './canonical-count.js';

const policy = samplePolicy([
  category('c', ['a', 'b', 'd']),
  category('e', ['u', 'v']),
  number('x', '0', '9'),
  number('y', '0', '3'),
  multi('o', ['p', 'q']),
]);
const countedIn = (question: unknown) => {
  const { measures, views } = bindBatch(parseBatch(question), policy);
  return measures.map((measure, k) => canonicalCount(measure, policy, views[k]));
};
const texts = (question: unknown) =>
  countedIn(question)
    .map(({ of }) => of)
    .sort();
const ofSql = (sql: string) => texts(parseSql(sql, policy));

/** Rows with all values of the columns that the conditions below distinguish; null for no answer. */
interface Row {
  readonly c: string | null;
  readonly e: string | null;
  readonly x: number | null;
  readonly o: readonly string[] | null;
}
const rows: readonly Row[] = ['a', 'b', 'd', null].flatMap((c) =>
  ['u', 'v', null].flatMap((e) =>
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, null].flatMap((x) => [['p'], ['q'], ['p', 'q'], null].map((o) => ({ c, e, x, o }))),
  ),
);
/** Three-valued logic of SQL: true, false or unknown. Shares no code with what is tested. */
function holds(condition: RowCondition, row: Row): boolean | undefined {
  if ('not' in condition) {
    const inner = holds(condition.not, row);
    return inner === undefined ? undefined : !inner;
  }
  if ('any' in condition || 'all' in condition) {
    const ends = 'any' in condition;
    const parts = (ends ? condition.any : condition.all).map((part) => holds(part, row));
    return parts.includes(ends) ? ends : parts.includes(undefined) ? undefined : !ends;
  }
  const { column, op } = condition as { column: keyof Row; op: string };
  const cell = row[column];
  if (op === 'missing') return cell === null;
  if (op === 'present') return cell !== null;
  if (cell === null) return undefined;
  const named = ('values' in condition ? condition.values : 'value' in condition ? [condition.value] : []) as (string | number)[];
  const found = Array.isArray(cell) ? cell.some((one) => named.includes(one)) : named.includes(cell as string | number);
  if (op === '=' || op === 'in') return found;
  if (op === '!=' || op === 'not in') return !found;
  const [a, b] = [cell as unknown as number, named[0] as number];
  return op === '<' ? a < b : op === '<=' ? a <= b : op === '>' ? a > b : a >= b;
}
const passing = (where: readonly RowCondition[], among = rows) =>
  among.map((row) => where.every((one) => holds(one, row) === true)).join();

const leaf: fc.Arbitrary<RowCondition> = fc.oneof(
  fc.record({ column: fc.constant('c'), op: fc.constantFrom('=', '!='), value: fc.constantFrom('a', 'b', 'd') }),
  fc.record({ column: fc.constant('c'), op: fc.constantFrom('in', 'not in'), values: fc.uniqueArray(fc.constantFrom('a', 'b', 'd'), { minLength: 1 }) }), // biome-ignore format: one line
  fc.record({ column: fc.constant('e'), op: fc.constantFrom('=', '!='), value: fc.constantFrom('u', 'v') }),
  fc.record({ column: fc.constant('x'), op: fc.constantFrom('<', '<=', '>', '>=', '=', '!='), value: fc.integer({ min: -1, max: 10 }) }), // biome-ignore format: one line
  fc.record({ column: fc.constant('o'), op: fc.constantFrom('=', '!='), value: fc.constantFrom('p', 'q') }),
  fc.record({ column: fc.constantFrom('c', 'e', 'x', 'o'), op: fc.constantFrom('missing', 'present') }),
) as fc.Arbitrary<RowCondition>;
const { condition } = fc.letrec<{ condition: RowCondition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    fc.record({ not: tie('condition') }),
    fc.record({ any: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ all: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
  ) as fc.Arbitrary<RowCondition>,
}));

/** Equivalent condition in other words, chosen by `pick`. */
function reworded(of: RowCondition, pick: (n: number) => number, other: RowCondition): RowCondition {
  const next = (part: RowCondition) => reworded(part, pick, other);
  if ('not' in of) return pick(2) === 0 ? { not: next(of.not) } : { not: { not: { not: next(of.not) } } };
  if ('any' in of || 'all' in of) {
    const kind = 'any' in of ? 'any' : 'all';
    const parts = ('any' in of ? of.any : of.all).map(next);
    const turned = [...parts.slice(1), parts[0]!];
    if (pick(3) === 0)
      return { not: { [kind === 'any' ? 'all' : 'any']: turned.map((part) => ({ not: part })) } } as unknown as RowCondition;
    return { [kind]: [...turned, parts[0]!] } as unknown as RowCondition;
  }
  if ('values' in of && of.op === 'in') return { any: [...of.values].reverse().map((value) => ({ column: of.column, op: '=', value })) } as RowCondition; // biome-ignore format: one line
  if ('value' in of && of.column === 'x') {
    const at = Number(of.value);
    const [least, most] = [{ column: 'x', op: '>=', value: at }, { column: 'x', op: '<=', value: at }] as const; // biome-ignore format: one line
    if (of.op === '=') return { all: [most, least] };
    if (of.op === '>') return { column: 'x', op: '>=', value: at + 1 };
    if (of.op === '<') return { not: least };
  }
  // An absorbed condition changes nothing.
  return pick(2) === 0 ? of : { any: [of, { all: [other, of] }] };
}

describe('the canonical form of conditions', () => {
  it('conditions under two upper bounds have one text where the same rows pass, also above the bounds, and only there', () => {
    const policies = ['9', '12'].map((end) => ({
      end: Number(end),
      policy: samplePolicy([
        category('c', ['a', 'b', 'd']),
        category('e', ['u', 'v']),
        number('x', '0', end),
        multi('o', ['p', 'q']),
      ]),
    }));
    const cells = Array.from({ length: 16 }, (_, x) => x);
    const seen = new Map<string, string>();
    const equal = { words: 0, texts: 0 };
    fc.assert(
      fc.property(fc.array(condition, { maxLength: 2 }), (where) => {
        const both = policies.map(({ end, policy: declared }) => {
          const { measures, views } = bindBatch(parseBatch({ kind: 'count', where }), declared);
          // Every count clamps.
          const among = rows.filter(({ x }) => x === null || x === 0).flatMap((row) => (row.x === null ? [row] : cells.map((x) => ({ ...row, x: Math.min(x, end) })))); // biome-ignore format: one line
          return { text: canonicalCount(measures[0]!, declared, views[0]).of, passed: passing(where, among) };
        });
        for (const { text, passed } of both) {
          expect(seen.get(text) ?? passed).toBe(passed);
          expect(seen.get(passed) ?? text).toBe(text);
          seen.set(text, passed).set(passed, text);
        }
        equal.words++;
        if (both[0]!.text === both[1]!.text) equal.texts++;
      }),
      { numRuns: 1000, seed: 3 },
    );
    expect(equal.texts).toBeGreaterThan(equal.words / 4);
    expect(equal.texts).toBeLessThan(equal.words);
  });

  it('a condition on a number that is also counted by keeps its bounds', () => {
    const [narrow, wide] = ['9', '12'].map((end) => {
      const declared = samplePolicy([number('x', '0', end)]);
      const where = [{ column: 'x', op: '<', value: 5 }];
      const { measures } = bindBatch(
        parseBatch([
          { kind: 'count', where },
          { kind: 'sum', column: 'x', where },
        ]),
        declared,
      );
      return measures.map((measure) => canonicalCount(measure, declared, undefined).of);
    });
    expect(narrow![0]).toBe(wide![0]);
    expect(narrow![1]).not.toBe(wide![1]);
  });

  it('conditions have one text if and only if the same rows pass', () => {
    const seen = new Map<string, string>();
    fc.assert(
      fc.property(fc.array(condition, { maxLength: 3 }), (where) => {
        const [text] = texts({ kind: 'count', where });
        const rows = passing(where);
        // The text determines the passing rows, and the rows determine the text.
        expect(seen.get(text!) ?? rows).toBe(rows);
        expect(seen.get(rows) ?? text).toBe(text);
        seen.set(text!, rows).set(rows, text!);
      }),
      { numRuns: 1500, seed: 11 },
    );
    expect(seen.size).toBeGreaterThan(800);
  });

  it('conditions rewritten in other words keep their text', () => {
    fc.assert(
      fc.property(condition, leaf, fc.infiniteStream(fc.nat(60)), (where, other, stream) => {
        const pick = (n: number) => (stream.next().value as number) % n;
        const rewritten = reworded(where, pick, other);
        expect(passing([rewritten])).toBe(passing([where]));
        expect(texts({ kind: 'count', where: [rewritten] })).toEqual(texts({ kind: 'count', where: [where] }));
      }),
      { numRuns: 800, seed: 5 },
    );
  });
});

describe('the canonical form of queries', () => {
  it.each([
    ['SELECT COUNT(*) FROM data WHERE x BETWEEN 2 AND 5', 'SELECT count( * ) AS n FROM data AS p WHERE p.x <= 5 AND NOT (p.x < 2)'],
    ["SELECT c, COUNT(*) FROM data WHERE e IN ('u', 'v') GROUP BY c", "SELECT c AS which, COUNT(*) FROM data WHERE e = 'v' OR e = 'u' GROUP BY c"],
    ['SELECT c, e, AVG(x) FROM data GROUP BY c, e', 'SELECT e, c, AVG(x) FROM data GROUP BY e, c'],
    ['SELECT COUNT(*), AVG(x) FROM data', 'SELECT AVG(x) AS m, COUNT(*) AS n FROM data'],
    ['SELECT FLOOR(x / 5) AS f, COUNT(*) FROM data GROUP BY f', 'SELECT FLOOR(x / 5), COUNT(*) FROM data GROUP BY FLOOR(x / 5)'],
    ['SELECT SUM(x + y) FROM data', 'SELECT SUM(y + x) AS together FROM data'],
    ["SELECT SUM(CASE WHEN x > 3 AND c = 'a' THEN 1 ELSE 0 END) FROM data", "SELECT SUM(CASE WHEN c = 'a' AND x >= 4 THEN 1 ELSE 0 END) FROM data"],
    ['SELECT e, MEDIAN(x) FROM data WHERE x > 1 AND y > 1 GROUP BY e', 'SELECT MEDIAN(x), e FROM data WHERE y >= 2 AND x >= 2 GROUP BY e'],
    ['SELECT STDDEV(x) FROM data', 'SELECT VARIANCE(x) FROM data'],
    ["SELECT COUNT(*) FROM data WHERE NOT (c IS NOT NULL AND c = 'a')", "SELECT COUNT(*) FROM data WHERE c IS NULL OR c <> 'a'"],
  ])('the query %s counts the same as %s', (a, b) => expect(ofSql(a)).toEqual(ofSql(b))); // biome-ignore format: one line each

  it.each([
    ['SELECT COUNT(*) FROM data WHERE x > 2', 'SELECT COUNT(*) FROM data WHERE x >= 2'],
    ['SELECT COUNT(*) FROM data WHERE x > 2', 'SELECT COUNT(*) FROM data WHERE y > 2'],
    ['SELECT COUNT(*) FROM data WHERE x > 2', 'SELECT COUNT(*) FROM data WHERE x > 2 OR x IS NULL'],
    ["SELECT COUNT(*) FROM data WHERE c <> 'a'", "SELECT COUNT(*) FROM data WHERE c <> 'a' OR c IS NULL"],
    ['SELECT SUM(x) FROM data', 'SELECT SUM(y) FROM data'],
    ['SELECT SUM(x) FROM data', 'SELECT SUM(x * 2) FROM data'],
    ['SELECT SUM(x) FROM data', 'SELECT AVG(x) FROM data'],
    ['SELECT SUM(x - y) FROM data', 'SELECT SUM(y - x) FROM data'],
    ['SELECT c, COUNT(*) FROM data GROUP BY c', 'SELECT e, COUNT(*) FROM data GROUP BY e'],
    ['SELECT MEDIAN(x) FROM data', 'SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY x) FROM data'],
    ['SELECT FLOOR(x / 5), COUNT(*) FROM data GROUP BY FLOOR(x / 5)', 'SELECT FLOOR(x / 4), COUNT(*) FROM data GROUP BY FLOOR(x / 4)'],
    ['SELECT COUNT(*) FROM data', 'SELECT COUNT(x) FROM data'],
    ['SELECT COUNT(DISTINCT c) FROM data', 'SELECT COUNT(DISTINCT e) FROM data'],
  ])('the query %s does not count the same as %s', (a, b) => expect(ofSql(a)).not.toEqual(ofSql(b))); // biome-ignore format: one line each

  it('a query with its keys in another order counts the same, cell by cell', () => {
    const keys = [['c', 'e', 'y'], ['y', 'c', 'e'], ['e', 'y', 'c']].map((by) => countedIn({ kind: 'count', by })[0]!); // biome-ignore format: one line
    const sizes = new Map(keys[0]!.keys);
    // Cells are compared by the places of their keys, in any order of the keys.
    const cellsIn = (order: (typeof keys)[number]['keys']) =>
      order.reduce<readonly (readonly string[])[]>(
        (cells, [key]) => cells.flatMap((cell) => Array.from({ length: sizes.get(key)! }, (_, p) => [...cell, `${key} ${p}`])),
        [[]],
      );
    const named = (cells: readonly (readonly string[])[]) => cells.map((cell) => [...cell].sort().join());
    for (const from of keys)
      for (const to of keys) {
        expect(to.of).toBe(from.of);
        expect(named(reorderCells(cellsIn(from.keys), from.keys, to.keys))).toEqual(named(cellsIn(to.keys)));
      }
  });

  it('a condition with many cases has one text in either order of its parts', () => {
    const many = (turned: boolean): RowCondition => {
      const parts = Array.from({ length: 9 }, (_, k): RowCondition => ({ any: [{ column: 'x', op: '=', value: k }, { column: 'c', op: '=', value: 'abd'[k % 3]! }] })); // biome-ignore format: one line
      return { all: turned ? parts.reverse() : parts };
    };
    expect(texts({ kind: 'count', where: [many(true)] })).toEqual(texts({ kind: 'count', where: [many(false)] }));
  });
});
