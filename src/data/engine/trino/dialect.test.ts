import { describe, expect, it } from 'vitest';
import { number, samplePolicy } from '../../../../test/sample-policy.js';
import { bindBatch } from '../../../query/bind.js';
import { compileMeasures } from '../../../query/count/groups.js';
import { parseBatch } from '../../../query/parse.js';
import { trino } from './dialect.js';

describe('sums in a cluster', () => {
  const sent = (low: string, high: string, step: string, type: 'integer' | 'real', rows: number): string => {
    const policy = samplePolicy([number('x', low, high, step)]);
    const { measures } = bindBatch(parseBatch([{ kind: 'sum', column: 'x' }]), policy);
    return compileMeasures(measures, { dialect: trino, policy: policy, columns: [{ name: 'x', type }], rows: rows })[0]!.statement
      .sql;
  };
  /** Expression that is summed over the rows. */
  const addend = (sql: string): string => /SELECT \*, ([^;]*) AS added/.exec(sql)![1]!;
  const plain = /sum\(added\)/;
  const decimal = /sum\(CAST\(added AS DECIMAL\(38,0\)\)\)/;

  it('sums use 64 bits if so many rows cannot exceed them, and decimals otherwise', () => {
    expect(sent('0', '100', '1', 'integer', 1e9)).toMatch(plain);
    // Only the farther bound counts, also below zero.
    expect(sent('-1000000000000', '1', '1', 'integer', 2 ** 22)).toMatch(plain);
    expect(sent('-1000000000000', '1', '1', 'integer', 2 ** 23)).toMatch(decimal);
    expect(sent('0', '1000000000000', '1', 'integer', 2 ** 23)).toMatch(decimal);
    expect(sent('0', '100', '1', 'integer', Number.POSITIVE_INFINITY)).toMatch(decimal);
    expect(sent('0', '0', '1', 'integer', Number.POSITIVE_INFINITY)).toMatch(decimal);
  });
  it('sums use whole doubles only below 2^53', () => {
    expect(sent('0', '100', '0.1', 'real', 1e9)).toMatch(plain);
    expect(addend(sent('0', '100', '0.1', 'real', 1e9))).not.toContain('AS BIGINT');
    expect(addend(sent('0', '1000000000', '0.01', 'real', 1e6))).toContain('AS BIGINT');
    expect(sent('0', '1000000000', '0.01', 'real', 1e6)).toMatch(plain);
    expect(sent('0', '1000000000', '0.01', 'real', 1e8)).toMatch(decimal);
  });
});
