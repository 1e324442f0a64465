import { describe, expect, it } from 'vitest';
import { shower } from './shown.js';
import { allRows } from './without.js';

const columns = Array.from({ length: 10_000 }, (_, k) => ({ name: `q${k}`, expression: `trim("q${k}")` }));
const show = shower({ from: 't', columns: [...columns, { name: 'odd "name"', expression: 'x' }] });
const shown = (sql: string) => show({ sql, values: [] }).sql;

describe('a statement', () => {
  it('is shown the columns it names, whatever their spelling, and no others', () => {
    expect(shown('SELECT "q7" FROM fugu_data WHERE Q9 > 1')).toBe(
      'WITH fugu_data AS NOT MATERIALIZED (SELECT trim("q7") AS "q7", trim("q9") AS "q9" FROM t) SELECT "q7" FROM fugu_data WHERE Q9 > 1',
    );
    expect(shown('SELECT "odd ""name""" FROM fugu_data')).toContain('(SELECT x AS "odd ""name""" FROM t)');
  });

  it('is shown nothing for text that looks like a name, and one column for none', () => {
    expect(shown(`SELECT 'it''s "q1" q2' FROM fugu_data`)).toContain('(SELECT 1 AS fugu_nothing FROM t)');
    expect(shown('SELECT count(*) FROM fugu_data')).toContain('(SELECT 1 AS fugu_nothing FROM t)');
  });

  it('is shown everything when it asks for everything, and nothing of the data when it asks of something else', () => {
    expect(shown('SELECT * FROM fugu_data').match(/trim/g)).toHaveLength(10_000);
    expect(shown('SELECT "q1" FROM fugu_relation_friend')).toBe('SELECT "q1" FROM fugu_relation_friend');
  });

  it('may bring a choice of rows of its own', () => {
    const own = `WITH fugu_data AS NOT MATERIALIZED (SELECT * FROM ${allRows} WHERE "q3" = 1) SELECT "q4" FROM fugu_data`;
    expect(shown(own)).toBe(
      `WITH ${allRows} AS NOT MATERIALIZED (SELECT trim("q3") AS "q3", trim("q4") AS "q4" FROM t), ${own.slice(5)}`,
    );
  });
});
