import { describe, expect, it } from 'vitest';
import type { Policy } from '../api/shapes.ts';
import { exampleBars, exampleCdf } from './example-chart.ts';
import { draftLabel, draftQuestion, firstDraft, kindsFor, withKind } from './question.ts';

const policy: Policy = {
  name: 'town',
  population: 'town',
  secret: 'row',
  adversary: 'informed',
  budget: { epsilon: 1, delta: 0 },
  dependence: [],
  sentences: [],
  columns: [
    { name: 'age', type: 'integer', bounds: [18, 90] },
    {
      name: 'vote',
      type: 'category',
      values: [
        { value: '1', label: 'Left' },
        { value: '2', label: 'Right' },
      ],
    },
    { name: 'trust', type: 'category', values: [{ value: 'a' }, { value: 'b' }] },
  ],
};
const draft = firstDraft(policy);

describe('the query form', () => {
  it('a new form starts with a column that has few values', () => {
    expect(draftQuestion(policy, draft)).toEqual({ question: { kind: 'histogram', column: 'vote' } });
    expect(draftLabel(draft)).toBe('histogram of vote');
  });

  it('a form that changes its kind is about columns which that kind can answer', () => {
    expect(draftQuestion(policy, withKind(policy, draft, 'mean'))).toEqual({ question: { kind: 'mean', column: 'age' } });
    expect(draftQuestion(policy, withKind(policy, draft, 'crosstab'))).toEqual({
      question: { kind: 'crosstab', columns: ['vote', 'trust'] },
    });
    expect(draftQuestion(policy, withKind(policy, draft, 'share'))).toEqual({
      question: { kind: 'share', column: 'vote', values: ['1'] },
    });
    expect(kindsFor({ ...policy, columns: [] })).toEqual([]);
    expect(kindsFor({ ...policy, columns: [], relations: [{ name: 'friend', columns: ['a', 'b'] }] })).toEqual(['pattern']);
  });

  it('the form writes days as dates', () => {
    const dated: Policy = { ...policy, columns: [...policy.columns, { name: 'seen', type: 'integer', date: true, bounds: [19_358, 19_722] }] }; // biome-ignore format: one line
    const request = draftQuestion(dated, { ...draft, where: 'seen', from: '2023-02-01', to: '' });
    expect(request).toEqual({
      question: { kind: 'histogram', column: 'vote', where: [{ column: 'seen', op: '>=', value: '2023-02-01' }] },
    });
    const expected = { name: '', query: { kind: 'histogram', column: 'seen' }, cells: 6, error: 'plain', standardError: 1, halfWidth: 2, perRow: false } as const; // biome-ignore format: one line
    expect(exampleBars(dated, expected, 100).map(({ label }) => label)).toEqual([
      '2023-01-01 to 2023-03-14',
      '2023-03-15 to 2023-05-26',
      '2023-05-27 to 2023-08-07',
      '2023-08-08 to 2023-10-19',
      '2023-10-20 to 2023-12-31',
      '(missing)',
    ]);
  });

  it('a form for several columns gives the JSON that the service takes', () => {
    const request = (kind: Parameters<typeof withKind>[2], change = {}) =>
      draftQuestion(policy, { ...withKind(policy, draft, kind), ...change });
    expect(request('workload')).toEqual({ question: { workload: { tables: [{ all: 2, of: ['age', 'vote', 'trust'] }] } } });
    expect(request('workload', { many: '4' })).toEqual({ missing: 'A table of 4 columns needs as many.' });
    expect(request('synth', { several: ['vote'], many: '50' })).toEqual({ question: { synth: { columns: ['vote'], rows: 50 } } });
    expect(request('synth', { several: [] })).toEqual({ missing: 'Choose at least one column.' });
    expect(request('kmeans')).toEqual({ question: { kmeans: { columns: ['age'], clusters: 3 } } });
    expect(request('kmeans', { many: '1' })).toEqual({ missing: 'Clusters: a whole number from 2 to 64.' });
    expect(request('classify')).toEqual({
      question: { classify: { label: 'vote', positive: ['1'], features: ['age', 'trust'] } },
    });
  });

  it('a query of any kind can be written as JSON', () => {
    const written = (json: string) => draftQuestion(policy, { ...draft, mode: 'json', json });
    expect(written('{"network": true}')).toEqual({ question: { network: true } });
    expect(written('{"net')).toEqual({ missing: 'This is no JSON yet.' });
    expect(written('7')).toHaveProperty('missing');
    // A stream shows the plan of one step before payment, but pays for every step.
    expect(written('{"stream": {"query": {"kind": "count"}}}')).toHaveProperty(
      'missing',
      expect.stringContaining('step by step'),
    );
  });

  it('a form with a condition keeps only some rows', () => {
    const some = { ...draft, where: 'age', from: '30', to: '' };
    expect(draftQuestion(policy, some)).toEqual({
      question: { kind: 'histogram', column: 'vote', where: [{ column: 'age', op: '>=', value: 30 }] },
    });
    expect(draftQuestion(policy, { ...draft, where: 'trust', whereValues: ['a'] })).toMatchObject({
      question: { where: [{ op: 'in', values: ['a'] }] },
    });
  });

  it('an incomplete form says what is missing', () => {
    expect(draftQuestion(policy, { ...draft, mode: 'sql', sql: ' ' })).toEqual({ missing: 'Write a query.' });
    expect(draftQuestion(policy, { ...draft, kind: 'share', values: [] })).toEqual({ missing: 'Choose at least one answer.' });
  });
});

describe('example data', () => {
  const expected = {
    name: 'vote',
    query: { kind: 'histogram', column: 'vote' },
    cells: 3,
    standardError: 40,
    halfWidth: 84,
    perRow: false,
  };

  it('example numbers are invented, and their error bars are those of the plan', () => {
    const rows = exampleBars(policy, expected, 1000);
    expect(rows.map((r) => r.label)).toEqual(['Left', 'Right', '(missing)']);
    expect(Math.abs(rows.reduce((sum, r) => sum + r.value!, 0) - 1000)).toBeLessThan(3);
    for (const { value, low, high } of rows) expect([value! - low!, high! - value!]).toEqual([84, 84]);
  });

  it('an expected error per row is divided by the rows of the cell', () => {
    const mean = {
      ...expected,
      name: 'mean of age by vote',
      query: { kind: 'mean', column: 'age', by: ['vote'] },
      perRow: true,
      halfWidth: 5000,
    };
    const [first, second] = exampleBars(policy, mean, 1000);
    expect(first!.high! - first!.value!).toBeLessThan(second!.high! - second!.value!);
  });

  it('an example distribution rises to all people within the bounds', () => {
    const rise = exampleCdf(policy, { ...expected, query: { kind: 'cdf', column: 'age' } }, 500);
    expect([rise[0]!.at, rise.at(-1)!.at, rise.at(-1)!.value]).toEqual([18, 90, 500]);
    expect(rise.every((p, k) => k === 0 || p.value! >= rise[k - 1]!.value!)).toBe(true);
  });
});
