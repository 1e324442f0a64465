import { describe, expect, it } from 'vitest';
import { viewInjector } from './data-view.js';
import { allRows } from './without-rows.js';

const columns = Array.from({ length: 10_000 }, (_, k) => ({ name: `q${k}`, expression: `trim("q${k}")` }));
const show = viewInjector({ from: 't', columns: [...columns, { name: 'odd "name"', expression: 'x' }] });
const shown = (sql: string) => show({ sql, values: [] }).sql;

describe('a statement', () => {
  it('a statement sees the columns that it names, in any spelling, and no others', () => {
    expect(shown('SELECT "q7" FROM fugu_data WHERE Q9 > 1')).toBe(
      'WITH fugu_data AS NOT MATERIALIZED (SELECT trim("q7") AS "q7", trim("q9") AS "q9" FROM t) SELECT "q7" FROM fugu_data WHERE Q9 > 1',
    );
    expect(shown('SELECT "odd ""name""" FROM fugu_data')).toContain('(SELECT x AS "odd ""name""" FROM t)');
  });

  it('a statement sees no column for text that looks like a name, and one column if it names none', () => {
    expect(shown(`SELECT 'it''s "q1" q2' FROM fugu_data`)).toContain('(SELECT 1 AS fugu_nothing FROM t)');
    expect(shown('SELECT count(*) FROM fugu_data')).toContain('(SELECT 1 AS fugu_nothing FROM t)');
  });

  it('a statement with a star sees everything, and one about other views sees nothing of the data', () => {
    expect(shown('SELECT * FROM fugu_data').match(/trim/g)).toHaveLength(10_000);
    expect(shown('SELECT "q1" FROM fugu_relation_friend')).toBe('SELECT "q1" FROM fugu_relation_friend');
  });

  it('a statement may define its own selection of rows', () => {
    const own = `WITH fugu_data AS NOT MATERIALIZED (SELECT * FROM ${allRows} WHERE "q3" = 1) SELECT "q4" FROM fugu_data`;
    expect(shown(own)).toBe(
      `WITH ${allRows} AS NOT MATERIALIZED (SELECT trim("q3") AS "q3", trim("q4") AS "q4" FROM t), ${own.slice(5)}`,
    );
  });
});
