import { describe, expect, it } from 'vitest';
import { Fault } from '../base/errors.js';
import { canonical, parseBatch } from './parse.js';

const refused = (input: unknown): Pick<Fault, 'message' | 'hint'> => {
  try {
    parseBatch(input);
  } catch (error) {
    if (error instanceof Fault && error.code === 'QUERY_INVALID') return error;
    throw error;
  }
  return { message: 'accepted', hint: '' };
};
const message = (input: unknown): string => refused(input).message;

describe('a query in JSON', () => {
  it('a batch may be one query, a list of queries, or an object with queries', () => {
    const query = { kind: 'count' } as const;
    const batch = { queries: [query] };
    expect(parseBatch(query)).toEqual(batch);
    expect(parseBatch([query])).toEqual(batch);
    expect(parseBatch(batch)).toEqual(batch);
  });

  it('the fault for a malformed query names the faulty field', () => {
    expect(message({ kind: 'mean' })).toContain('queries[0].column');
    expect(message([{ kind: 'count' }, { kind: 'count', where: [{ column: 'a', op: '~', value: 1 }] }])).toContain(
      'queries[1].where[0].op',
    );
    expect(message({ kind: 'count', groupBy: ['a'] })).toContain('groupBy');
    expect(message({ kind: 'total' })).toContain('queries[0].kind');
    expect(message({ kind: 'quantile', column: 'a', at: [1] })).toContain('queries[0].at[0]');
    expect(message({ kind: 'count', where: [{ column: 'a', op: '=', value: Number.NaN }] })).toContain('value');
    expect(message({ queries: [] })).toContain('queries');
    for (const input of [null, 7, 'count', undefined]) expect(message(input)).not.toBe('accepted');
  });

  it('the fault for a malformed query shows the form of its own kind', () => {
    const { message, hint } = refused({ kind: 'quantile', column: 'age' });
    expect(message).toBe('queries[0].at: this is missing.');
    expect(hint).toMatch(/^A query of kind "quantile" has kind, column, at, and may have from, /);
    expect(refused([]).message).toBe('queries: the list is empty.');
  });

  it('the fault for a misspelt field suggests the one that was meant', () => {
    expect(refused({ kind: 'mean', colum: 'age' })).toMatchObject({
      message: 'queries[0]: there is no "colum" here.',
      hint: 'Did you mean "column"?',
    });
    expect(refused({ kind: 'meen', column: 'age' }).hint).toMatch(/^Did you mean "mean"\? A query looks like /);
    expect(refused({ kind: 'count', where: [{ column: 'age', op: '>', valu: 3 }] }).hint).toMatch(/^A query of kind "count" /);
  });

  it('a query has one canonical text, whatever the order of its fields', () => {
    const one = parseBatch(JSON.parse('{"kind":"sum","column":"a","by":["b"]}'));
    const two = parseBatch(JSON.parse('[{"by":["b"],"column":"a","kind":"sum"}]'));
    expect(canonical(one)).toBe(canonical(two));
    expect(canonical(one)).toBe('{"queries":[{"by":["b"],"column":"a","kind":"sum"}]}');
  });
});
