import { describe, expect, it } from 'vitest';
import { type SeededRandom, seededFuzz } from '../../../test/fuzz/random.js';
import { category, number, samplePolicy } from '../../../test/sample-policy.js';
import type { Cell } from '../../data/engine/engine.js';
import type { ColumnPairs, Pairs } from '../../policy/pairs/pairs.js';
import type { Policy } from '../../policy/policy.js';
import { everyRecord, paired, pairsClass } from '../../privacy/mechanism/record-class.js';
import type { Sensitivity } from '../../privacy/mechanism/sensitivity.js';
import { bindBatch } from '../bind.js';
import { parseBatch } from '../parse.js';
import type { Measure } from './measure.js';
import { numbersToNoise } from './noisy-cells.js';
import { rowCounter } from './row-counter.js';

/**
 * All rows of one person move along pairs at once: every person of two rows against every other,
 * by rules of pairs that are written independently.
 */
const columns = [number('x', '0', '2'), category('party', ['a', 'b'])];
const places = [0, 1, 2, -1].flatMap((x) => [0, 1, -1].map((p) => [x, p] as const));
const cells = places.map(([x, p]): readonly Cell[] => [x < 0 ? null : x, p < 0 ? null : 'ab'[p]!]);
const persons = places.flatMap((_, a) => places.flatMap((__, b) => (b <= a ? [[a, b] as const] : [])));

function near(pairs: ColumnPairs | undefined, a: number, b: number): boolean {
  if (a === b || pairs === undefined) return true;
  if (a < 0 || b < 0) return pairs.missing === 'any';
  if (pairs.form === 'steps') return Math.abs(a - b) <= pairs.steps;
  if (pairs.form === 'ranges') return !pairs.starts.some((start) => a < start !== b < start);
  return pairs.form === 'blocks' && pairs.blockOf[a] === pairs.blockOf[b];
}

const queries = [
  { kind: 'count' },
  { kind: 'count', by: ['party'] },
  { kind: 'count', where: [{ column: 'x', op: '>', value: 0 }], by: ['party'] },
  { kind: 'histogram', column: 'x' },
  { kind: 'crosstab', columns: ['party', 'x'] },
  { kind: 'sum', column: 'x' },
  { kind: 'sum', column: 'x', by: ['party'] },
  { kind: 'mean', column: 'x' },
  { kind: 'variance', column: 'x' },
  { kind: 'share', column: 'party', values: ['a'] },
  { kind: 'cdf', column: 'x' },
  { kind: 'ranges', column: 'x', by: ['party'] },
  { kind: 'distinct', column: 'x' },
  { kind: 'distinct', column: 'x', by: ['party'] },
  { kind: 'sum', column: 'twice', derive: { twice: { op: '*', of: [2, 'x'] } } },
  { kind: 'formula', parts: { a: { kind: 'sum', column: 'x' }, n: { kind: 'count' } }, of: { op: '/', of: ['a', 'n'] } },
];

const anyPairs = ({ pick }: SeededRandom): Pairs => {
  const missing = () => pick(['any', 'apart', 'apart'] as const);
  const x = pick<ColumnPairs | undefined>([
    { form: 'steps', steps: 1, missing: missing(), size: 3 },
    { form: 'ranges', starts: [1], missing: missing(), size: 3 },
    { form: 'same', missing: 'apart', size: 3 },
    undefined,
  ]);
  const party = pick<ColumnPairs | undefined>([
    { form: 'blocks', blockOf: [0, 0], missing: missing(), size: 2 },
    { form: 'blocks', blockOf: [0, 1], missing: missing(), size: 2 },
    { form: 'same', missing: 'apart', size: 2 },
    undefined,
  ]);
  const all = [['x', x] as const, ['party', party] as const].flatMap(([name, own]) => (own ? [[name, own] as const] : []));
  return { digest: 'abcd', columns: new Map(all), declarations: [] };
};

const nothing: Sensitivity = { l1: 0n, l2squared: 0n };
function exact(policy: Policy, pairs: Pairs, measure: Measure): Sensitivity {
  const vectors = persons.map((rows) => {
    const counter = rowCounter([measure], ['x', 'party'], policy);
    for (const row of rows) counter.add({ columns: cells[row]!.map((cell) => [cell]), rows: 1 });
    const counts = counter.totals()[0]!;
    return measure.mechanism === 'ordered' ? numbersToNoise(measure, counts) : counts;
  });
  const pair = places.map((a) =>
    places.map((b) => near(pairs.columns.get('x'), a[0], b[0]) && near(pairs.columns.get('party'), a[1], b[1])),
  );
  let found = nothing;
  for (const [i, [a, b]] of persons.entries())
    for (const [j, [c, d]] of persons.entries()) {
      if (j >= i || !((pair[a]![c] && pair[b]![d]) || (pair[a]![d] && pair[b]![c]))) continue;
      let [l1, l2squared] = [0n, 0n];
      for (const [k, v] of vectors[i]!.entries()) {
        const by = v < vectors[j]![k]! ? vectors[j]![k]! - v : v - vectors[j]![k]!;
        l1 += by;
        l2squared += by * by;
      }
      found = {
        l1: l1 > found.l1 ? l1 : found.l1,
        l2squared: l2squared > found.l2squared ? l2squared : found.l2squared,
      };
    }
  return found;
}

const policyOf = (pairs: Pairs, tied: boolean): Policy => ({
  ...samplePolicy(columns, { secret: 'person', unit: 'id', maxRows: 2, pairs }),
  dependence: tied ? [{ kind: 'groups' }] : [],
});
const measuresOf = (query: object, policy: Policy) => bindBatch(parseBatch(query), policy).measures;

describe('the sensitivity to moving all rows of a person along pairs', () => {
  it.each(queries.map((query) => [JSON.stringify(query), query] as const))(
    'the stated sensitivity along pairs of a person is at least the exact one: %s',
    (_, query) => {
      const random = seededFuzz(15);
      for (let k = 0; k < 8; k++) {
        const pairs = anyPairs(random);
        const policy = policyOf(pairs, true);
        for (const m of measuresOf(query, policy)) {
          const [stated, found] = [m.sensitivity.get(pairsClass('abcd')) ?? nothing, exact(policy, pairs, m)];
          expect([m.name, found.l1 <= stated.l1, found.l2squared <= stated.l2squared]).toEqual([m.name, true, true]);
          const full = m.sensitivity.get(everyRecord)!;
          expect(m.sensitivity.get(paired('abcd'))).toEqual(full);
          expect(stated.l1 <= full.l1 && stated.l2squared <= full.l2squared).toBe(true);
        }
      }
    },
  );

  it('the sensitivity along pairs of a person is attained for counts, sums and tables, and zero where no pair changes the measure', () => {
    const pairs: Pairs = {
      digest: 'abcd',
      columns: new Map<string, ColumnPairs>([
        ['x', { form: 'steps', steps: 1, missing: 'apart', size: 3 }],
        ['party', { form: 'same', missing: 'apart', size: 2 }],
      ]),
      declarations: [],
    };
    const claimed = [queries[3]!, queries[5]!, queries[6]!];
    for (const query of claimed)
      for (const m of measuresOf(query, policyOf(pairs, true)))
        expect([m.name, m.sensitivity.get(pairsClass('abcd')) ?? nothing]).toEqual([
          m.name,
          exact(policyOf(pairs, true), pairs, m),
        ]);
    const strangers = policyOf(pairs, false);
    for (const query of [queries[0]!, queries[1]!, queries[9]!])
      for (const m of measuresOf(query, strangers)) expect([m.name, m.sensitivity.size]).toEqual([m.name, 0]);
    for (const query of [queries[4]!, queries[12]!])
      for (const m of measuresOf(query, strangers))
        expect([m.name, m.sensitivity.has(pairsClass('abcd'))]).toEqual([m.name, true]);
  });
});
