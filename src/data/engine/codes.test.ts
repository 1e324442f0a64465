import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { wholeCode } from '../../policy/code.js';
import { codeTables, writtenIndex } from './codes.js';

describe('a code as it is written', () => {
  it.each(['7.0', '7,00'])('the code %s is trimmed of the same characters as in the database', async (seven) => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    // The expression of data/engine/duckdb/coded.ts.
    const closer = `trim(regexp_replace(trim(t), '${wholeCode}', '\\1'), ' \t\r\n')`;
    await connection.run("CREATE TYPE seven AS ENUM ('7')");
    const found = await connection.runAndReadAll(
      `SELECT i FROM (SELECT i, chr(i::INTEGER) || '${seven}' || chr(i::INTEGER) AS t FROM range(1, 1114112) r(i) WHERE i NOT BETWEEN 55296 AND 57343)
       WHERE coalesce(TRY_CAST(t AS seven), TRY_CAST(${closer} AS seven)) IS NOT NULL ORDER BY i`,
    );
    instance.closeSync();
    const theirs = found.getRows().map(([i]) => Number(i));
    const tables = codeTables(['7']);
    const ours: number[] = [];
    for (let i = 1; i < 0x110000; i++) {
      if (i >= 0xd800 && i <= 0xdfff) continue;
      const c = String.fromCodePoint(i);
      if (writtenIndex(tables, `${c}${seven}${c}`, 1000) === 0) ours.push(i);
    }
    expect(ours).toEqual(theirs);
    expect(ours).toContain(0x20);
    expect(ours).toContain(0x3000);
  });
});
