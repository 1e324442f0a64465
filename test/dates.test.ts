import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, withSnapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';
import { parsePolicy } from '../src/data/terms/read.js';
import { calendarOf, dayAt, daysOf, isoDay } from '../src/policy/date-text.js';
import type { Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countCells } from '../src/query/count/count.js';
import { parseSql } from '../src/query/sql/sql.js';

/** Valid dates, and texts that only look like dates. */
const cells = [
  ...[
    '2020-02-29',
    '2020-03-01',
    '2021-12-31',
    '2022-01-01',
    '2024-12-30',
    ' 2023-06-15 ',
    '2023-06-15T12:30:00Z',
    '2022-08-08 01:02:03.5',
  ],
  ...['2021-02-29', '2023-13-01', '2023-00-10', '0000-01-01', '20230615', '15.06.2023', '2023-6-15', 'NULL', '', '2023-06-15x'],
  ...['1999-05-05', '2031-01-01', '2023-04-30', '2023-05-01'],
];
const yaml = `data: {source: stays.csv}
protect: {secret: row}
budget: {epsilon: 1}
columns:
  arrival: {type: date, bounds: [2020-01-01, 2024-12-31], missing: [2023-05-01]}
  left: {type: date, bounds: [2020-01-01, 2024-12-31]}
  kind: {type: category, values: [a, b]}
dependence: none
`;
let folder: string;
let policy: Policy;
let engine: Engine;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-dates-'));
  const rows = cells.map((cell, i) => `"${cell}",${isoDay(dayAt(2020, 1, 1 + 60 * i))},${i % 2 ? 'a' : 'b'}`);
  writeFileSync(join(folder, 'stays.csv'), `arrival,left,kind\n${rows.join('\n')}\n`);
  policy = await parsePolicy(yaml, join(folder, 'policy.yaml'));
  engine = await openEngine(policy);
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const bind = (sql: string) => bindBatch(parseSql(sql, policy), policy);
/** Tables as they would be without noise, rows of no one left out. */
async function exactly(sql: string): Promise<readonly (readonly [string, number])[]> {
  const batch = bind(sql);
  const counted = await withSnapshot(engine, (data) => countCells(data, policy, batch.measures));
  const noisy = counted.map((exact) => ({ noise: { kind: 'none' as const }, values: exact.open() }));
  const [table] = batch.finish(noisy);
  return table!.rows
    .filter(({ value }) => value !== 0 && value !== null)
    .map(({ keys, value }) => [keys.join(), value!] as const);
}
/** Values read from the cells: clamped days, or none. */
const [first, last] = [daysOf('2020-01-01')!, daysOf('2024-12-31')!];
const read = cells.map((cell) => {
  const days = daysOf(cell);
  return days === undefined || days === daysOf('2023-05-01') ? undefined : Math.min(Math.max(days, first), last);
});
const counted = (of: (days: number) => string | number): readonly (readonly [string, number])[] => {
  const counts = new Map<string, number>();
  for (const days of read) {
    const key = days === undefined ? '(missing)' : `${of(days)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts];
};

describe('dates', () => {
  it('dates follow the pattern and the calendar', () => {
    expect(cells.map((cell) => daysOf(cell) !== undefined)).toEqual(cells.map((_, i) => i < 8 || i >= 18));
    for (let days = daysOf('1899-12-01')!; days < daysOf('2101-01-01')!; days += 13) expect(daysOf(isoDay(days))).toBe(days);
  });

  it.each<[string, (days: number) => string | number]>([
    ['EXTRACT(YEAR FROM arrival)', (d) => calendarOf(d).year],
    ['YEAR(arrival)', (d) => calendarOf(d).year],
    ['QUARTER(arrival)', (d) => Math.ceil(calendarOf(d).month / 3)],
    ["DATE_PART('month', arrival)", (d) => calendarOf(d).month],
    ['DAY(arrival)', (d) => calendarOf(d).day],
    ['EXTRACT(DOW FROM arrival)', (d) => new Date(d * 864e5).getUTCDay()],
    ['EXTRACT(ISODOW FROM arrival)', (d) => new Date(d * 864e5).getUTCDay() || 7],
    ['DAYOFYEAR(arrival)', (d) => d - dayAt(calendarOf(d).year) + 1],
    ["DATE_TRUNC('month', arrival)", (d) => isoDay(dayAt(calendarOf(d).year, calendarOf(d).month))],
    [
      "DATE_TRUNC('quarter', arrival)",
      (d) => isoDay(dayAt(calendarOf(d).year, 3 * Math.floor((calendarOf(d).month - 1) / 3) + 1)),
    ],
    ["DATE_TRUNC('week', arrival)", (d) => isoDay(d - ((d + 3) % 7))],
    ["DATE_TRUNC('year', arrival)", (d) => `${calendarOf(d).year}-01-01`],
  ])('the function %s groups by the calendar', async (part, of) => {
    const found = await exactly(`SELECT ${part} AS part, COUNT(*) FROM stays GROUP BY part`);
    expect([...found].sort()).toEqual([...counted(of)].sort());
  });

  it('dates compare with days, and their differences are numbers', async () => {
    const count = (test: (days: number) => boolean) => read.filter((d) => d !== undefined && test(d)).length;
    const after = daysOf('2022-08-08')!;
    const one = async (where: string) => (await exactly(`SELECT COUNT(*) FROM stays WHERE ${where}`))[0]?.[1] ?? 0;
    expect(await one("arrival > '2022-08-08'")).toBe(count((d) => d > after));
    expect(await one("arrival BETWEEN DATE '2020-02-29' AND DATE '2022-08-08'")).toBe(
      count((d) => d >= daysOf('2020-02-29')! && d <= after),
    );
    expect(await one("arrival + 7 >= '2022-08-08'")).toBe(count((d) => d + 7 >= after));
    expect(await one('YEAR(arrival) = 2023 OR arrival IS NULL')).toBe(
      count((d) => calendarOf(d).year === 2023) + read.filter((d) => d === undefined).length,
    );
    const gaps = read.flatMap((d, i) => (d === undefined ? [] : [Math.min(dayAt(2020, 1, 1 + 60 * i), last) - d]));
    const mean = gaps.reduce((a, b) => a + b, 0) / gaps.length;
    for (const gap of ['DATE_DIFF(\'day\', arrival, "left")', '"left" - arrival'])
      expect((await exactly(`SELECT AVG(${gap}) FROM stays`))[0]![1]).toBeCloseTo(mean, 9);
  });

  it('dates are shown as dates if they are keys, and as numbers of days if they are answers', async () => {
    expect(bind('SELECT arrival, COUNT(*) FROM stays GROUP BY arrival').queries).toHaveLength(1);
    const keys = (await exactly('SELECT arrival, COUNT(*) FROM stays GROUP BY arrival')).map(([key]) => key);
    expect(keys[0]).toMatch(/^20\d\d-\d\d-\d\d to 20\d\d-\d\d-\d\d$/);
    const batch = bind('SELECT AVG(arrival) FROM stays');
    const noisy = batch.measures.map(() => ({ noise: { kind: 'none' as const }, values: [1n] }));
    expect(batch.finish(noisy)[0]!.columns).toEqual(['mean of arrival (days since 1970-01-01)']);
    const groups = bind('SELECT kind, AVG(arrival) FROM stays WHERE kind IS NOT NULL GROUP BY kind');
    const counted = await withSnapshot(engine, (data) => countCells(data, policy, groups.measures));
    const noised = counted.map((exact) => ({ noise: { kind: 'laplace' as const, scale: 1 }, values: exact.open() }));
    const [table] = groups.arrange(groups.finish(noised));
    expect(table!.rows.filter((row) => row.value !== null).length).toBeGreaterThan(1);
    for (const { keys, value, low, high } of table!.rows.filter((row) => row.value !== null)) {
      const days = [value, low, high].map((days) => new Date(Math.floor(days!) * 86_400_000).toISOString().slice(0, 10));
      expect(table!.note).toContain(`${keys[0]} ${days[0]} (${days[1]} to ${days[2]})`);
    }
    // Of what is shown, and of nothing else.
    const first = bind('SELECT kind, AVG(arrival) AS m FROM stays WHERE kind IS NOT NULL GROUP BY kind ORDER BY m LIMIT 1');
    const [cut] = first.arrange(first.finish(noised));
    expect(cut!.rows).toHaveLength(1);
    expect(cut!.note!.match(/\d{4}-\d\d-\d\d \(/g)).toHaveLength(1);
    expect(cut!.note).toContain(`As dates: ${cut!.rows[0]!.keys[0]} `);
  });

  it.each([
    ['SELECT SUM(arrival) FROM stays', 'days do not add up'],
    ["SELECT COUNT(*) FROM stays WHERE arrival > '2022'", 'no date'],
    ['SELECT COUNT(*) FROM stays WHERE arrival > 3', 'no date'],
    ['SELECT YEAR(kind) AS y, COUNT(*) FROM stays GROUP BY y', 'holds codes'],
    ['SELECT YEAR("left" - arrival) AS y, COUNT(*) FROM stays GROUP BY y', 'is a part of a date, and this is none'],
    ["SELECT DATE_TRUNC('day', arrival) AS d, COUNT(*) FROM stays GROUP BY d", 'more groups than 1000'],
  ])('the question %s is refused: %s', (sql, words) => {
    expect(() => bind(sql)).toThrow(words);
  });

  it.each([
    ['bounds: [2024-12-31, 2020-01-01]', 'reversed'],
    ['bounds: [2020-02-30, 2024-12-31]', 'The first day is no day'],
    ['bounds: [1, 3]', 'no day'],
  ])('a policy with %s is refused: %s', async (bounds, words) => {
    const text = yaml.replace('bounds: [2020-01-01, 2024-12-31], missing: [2023-05-01]', bounds);
    await expect(parsePolicy(text, join(folder, 'policy.yaml'))).rejects.toThrow(words);
  });

  it('a date column cannot hold names at the same time', async () => {
    const text = yaml.replace('{secret: row}', '{secret: person, unit: arrival, maxRows: 2}');
    await expect(parsePolicy(text, join(folder, 'policy.yaml'))).rejects.toThrow('also says whose a row is');
  });

  it('dates are read alike from a database with dates, times and texts', async () => {
    const instance = await DuckDBInstance.create(join(folder, 'stays.duckdb'));
    const connection = await instance.connect();
    await connection.run(
      "CREATE TABLE stays AS SELECT DATE '2023-06-15' + CAST(i AS INTEGER) AS arrival, TIMESTAMP '2023-06-15 23:59:59' AS \"left\", 'a' AS kind FROM range(40) t(i)",
    );
    connection.closeSync();
    instance.closeSync();
    const other = await parsePolicy(yaml.replace('stays.csv', 'stays.duckdb'), join(folder, 'other.yaml'));
    const data = await openEngine(other);
    try {
      const batch = bindBatch(
        parseSql('SELECT MONTH(arrival) AS m, COUNT(*) FROM stays WHERE "left" = \'2023-06-15\' GROUP BY m', other),
        other,
      );
      const [cellsOf] = await withSnapshot(data, (rows) => countCells(rows, other, batch.measures));
      expect(cellsOf!.open().map(Number)).toEqual([0, 0, 0, 0, 0, 16, 24, 0, 0, 0, 0, 0, 0]);
    } finally {
      await data.close();
    }
  });
});
