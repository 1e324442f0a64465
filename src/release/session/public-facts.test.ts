import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { category, number, samplePolicy, weight } from '../../../test/sample-policy.js';
import type { Policy } from '../../policy/policy.js';
import { isOfRecords } from '../../privacy/mechanism/record-class.js';
import { bindBatch } from '../../query/bind.js';
import type { Query } from '../../query/query.js';
import { columnFact, factsReliedOn, nowSecret, type PublicFact, rowsFact, stepFact } from './public-facts.js';

const names = ['form', 'party', 'age'] as const;
const policyOf = (secret: 'answer' | 'row' | 'step', open: readonly string[]): Policy =>
  samplePolicy(
    [
      category('form', ['x', 'y'], { public: open.includes('form') }),
      category('party', ['dem', 'rep'], { public: open.includes('party') }),
      number('age', '0', '9', '1', { public: open.includes('age') }),
      weight('w', '1', '3', '1'),
    ],
    { secret },
  );

const where = fc.constantFrom(
  [],
  [{ column: 'form', op: '=', value: 'x' }],
  [{ column: 'age', op: '>', value: 3 }],
) as fc.Arbitrary<Query['where']>;
const query: fc.Arbitrary<Query> = fc
  .tuple(
    fc.constantFrom<Query>(
      { kind: 'count' },
      { kind: 'histogram', column: 'form' },
      { kind: 'histogram', column: 'party', weight: 'w' },
      { kind: 'sum', column: 'age' },
      { kind: 'mean', column: 'age', by: ['form'] },
      { kind: 'quantile', column: 'age', at: [0.5], by: ['party'] },
      { kind: 'crosstab', columns: ['form', 'party'] },
    ),
    where,
  )
  .map(([q, tests]) => ({ ...q, ...(tests!.length > 0 && { where: tests }) }) as Query);
const open = fc.subarray([...names]);
const after = fc.tuple(fc.constantFrom('answer' as const, 'row' as const, 'step' as const), open);

type Remember = typeof factsReliedOn;
/**
 * Under the new terms some measure depends on a class without a recorded cost under the old ones:
 * the recorded total would be too low.
 */
const understated = (queries: readonly Query[], before: Policy, now: Policy): boolean => {
  // Classes by values of public columns are left out: a cost that was not recorded by value counts for all values.
  const classes = (policy: Policy) =>
    bindBatch({ queries }, policy).measures.map((m) => [...m.sensitivity.keys()].filter(isOfRecords));
  const [booked, moved] = [classes(before), classes(now)];
  return moved.some((list, k) => list.some((name) => !booked[k]!.includes(name)));
};
const distribution = (remember: Remember) =>
  fc.property(fc.array(query, { minLength: 1, maxLength: 3 }), open, after, (queries, opened, [secret, then]) => {
    const [before, now] = [policyOf('answer', opened), policyOf(secret, then)];
    const refused = nowSecret(remember(bindBatch({ queries }, before).measures, before), now).length > 0;
    expect(refused).toBe(understated(queries, before, now));
  });
/** FUGU_SEEDS=2000 runs more cases. */
const numRuns = 8 * Number(process.env.FUGU_SEEDS ?? 50);

describe('the facts that a batch takes for known', () => {
  it('the recorded facts are exactly those that make the recorded cost too low under terms that protect them', () => {
    fc.assert(distribution(factsReliedOn), { numRuns });
  });

  it('recording only the free measures, or only the columns, breaks the property', () => {
    const onlyFree: Remember = (measures, policy) =>
      factsReliedOn(
        measures.filter((m) => m.sensitivity.size === 0),
        policy,
      );
    const onlyColumns: Remember = (measures, policy) => factsReliedOn(measures, policy).filter((what) => what !== rowsFact);
    const nothing: Remember = (): readonly PublicFact[] => [];
    for (const forgetful of [onlyFree, onlyColumns, nothing])
      expect(() => fc.assert(distribution(forgetful), { numRuns: 2000 })).toThrow();
  });

  it('no facts are recorded where whole rows are secret', () => {
    const policy = policyOf('row', ['form']);
    const { measures } = bindBatch({ queries: [{ kind: 'histogram', column: 'form' }] }, policy);
    expect(factsReliedOn(measures, policy)).toEqual([]);
    expect(factsReliedOn(measures, policyOf('answer', ['form']))).toContain(columnFact('form'));
  });

  it('a step that running totals took for known may not become a secret, whatever else does', () => {
    for (const secret of ['answer', 'row', 'step'] as const) {
      expect(nowSecret([stepFact('age')], policyOf(secret, ['age']))).toEqual([]);
      expect(nowSecret([stepFact('age')], policyOf(secret, ['form']))).toEqual([stepFact('age')]);
    }
  });

  it('a fact that another version recorded in an unknown form refuses any other terms', () => {
    expect(nowSecret(['place in age'], policyOf('row', ['form']))).toEqual(['place in age']);
  });
});
