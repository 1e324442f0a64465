import { describe, expect, it } from 'vitest';
import { Fault } from '../errors.js';
import { canonical, parseBatch } from './parse.js';

const message = (input: unknown): string => {
  try {
    parseBatch(input);
  } catch (error) {
    if (error instanceof Fault && error.code === 'QUERY_INVALID') return error.message;
    throw error;
  }
  return 'accepted';
};

describe('a query in JSON', () => {
  it('may stand alone, in a list, or under queries', () => {
    const query = { kind: 'count' } as const;
    const batch = { queries: [query] };
    expect(parseBatch(query)).toEqual(batch);
    expect(parseBatch([query])).toEqual(batch);
    expect(parseBatch(batch)).toEqual(batch);
  });

  it('names the field that is wrong', () => {
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

  it('has the same canonical text however it is written', () => {
    const one = parseBatch(JSON.parse('{"kind":"sum","column":"a","by":["b"]}'));
    const two = parseBatch(JSON.parse('[{"by":["b"],"column":"a","kind":"sum"}]'));
    expect(canonical(one)).toBe(canonical(two));
    expect(canonical(one)).toBe('{"queries":[{"by":["b"],"column":"a","kind":"sum"}]}');
  });
});
