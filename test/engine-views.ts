import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countByDatabase, countCells, countStreaming } from '../src/count/count.js';
import type { Measure } from '../src/count/measure.js';
import { type Engine, pinned } from '../src/engine/engine.js';
import { Fault } from '../src/errors.js';
import type { Policy, Table } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { parseSql } from '../src/query/sql/sql.js';
import { openEngine } from '../src/terms/open.js';
import type { Twins } from './engine-equal.js';
import { generator } from './garbage-survey.js';
import { category, number, samplePolicy } from './sample-policy.js';

type Pick = (n: number) => number;
/** Questions at random; FUGU_FUZZ_VIEWS says how many in a long run. */
const long = Number(process.env.FUGU_FUZZ_VIEWS ?? 0);

const people = [
  category('region', ['north', 'south', 'Å', '-1', '1']),
  category('grade', ['-1', '1', '2', '10', '3'], { missing: ['99'] }),
  category('flag', ['true', 'false']),
  number('age', '0', '100', '1', { missing: ['99'] }),
  number('income', '-2.5', '7.25', '0.05'),
];
const visits = [
  category('kind', ['er', 'gp', 'é']),
  category('code', ['-1', '1', '2', '10']),
  category('urgent', ['true', 'false']),
  number('cost', '-5', '200'),
  number('price', '0', '3', '0.25'),
  number('day', '0', '10'),
];
const cells: Record<string, (pick: Pick) => string | null> = {
  region: (p) => ['north', ' south ', 'Å', '-1', '1', 'x', '', null][p(8)]!,
  grade: (p) => ['-1', '1', '2', '10', '3', '99', '7', null][p(8)]!,
  flag: (p) => ['true', 'false', null][p(3)]!,
  age: (p) => ['0', '-3', '17', '50', '99', '100', '1000', '2147483647', null][p(9)]!,
  income: (p) => ['-9', '-2.5', '-0.075', '0', '0.025', '1e-300', '5e-324', '3.3', '7.25', '1e300', 'NaN', 'inf', null][p(13)]!,
  kind: (p) => ['er', 'gp', 'é', 'none', null][p(5)]!,
  code: (p) => ['-1', '1', '2', '10', '5', null][p(6)]!,
  urgent: (p) => ['true', 'false', null][p(3)]!,
  cost: (p) => ['-9', '-5', '0', '20', '199', '200', '999', null][p(8)]!,
  price: (p) => ['0', '0.125', '0.25', '0.375', '2.5', '3', '1e308', '-1e308', '5e-324', null][p(10)]!,
  day: (p) => ['0', '1', '5', '5', '10', '11', null][p(7)]!,
};

/** How cells are stored, and whether the rows of a person are cut to some of them. */
interface Stored {
  readonly name: string;
  readonly person: string;
  readonly type: (column: string) => string;
  readonly cut: boolean;
}
const numbers: Record<string, string> = { age: 'INTEGER', cost: 'BIGINT', day: 'SMALLINT', grade: 'BIGINT', code: 'SMALLINT' };
const storings: readonly Stored[] = [
  { name: 'text', person: 'VARCHAR', type: () => 'VARCHAR', cut: true },
  {
    name: 'typed',
    person: 'BIGINT',
    type: (c) => numbers[c] ?? { income: 'DOUBLE', price: 'DECIMAL(9,3)', flag: 'BOOLEAN', urgent: 'BOOLEAN' }[c] ?? 'VARCHAR',
    cut: false,
  },
  {
    name: 'other numbers',
    person: 'DOUBLE',
    type: (c) => (/income|price|grade|cost/.test(c) ? 'DOUBLE' : /flag|urgent/.test(c) ? 'BOOLEAN' : (numbers[c] ?? 'VARCHAR')),
    cut: true,
  },
];

function policyOf({ cut }: Stored, place: { readonly source: string; readonly table?: string }): Policy {
  const table = (name: string, more: Partial<Table>): Table => ({ name, table: name, links: [], maxRows: 1, public: false, columns: new Map(), ...more }); // biome-ignore format: one line
  const policy = samplePolicy(people, { secret: 'person', unit: 'person', maxRows: cut ? 1 : 30 });
  return {
    ...policy,
    data: { ...place, table: 'people' },
    tables: new Map([
      ['visits', table('visits', { unit: 'person', links: ['clinic'], maxRows: cut ? 2 : 60, columns: new Map(visits.map((c) => [c.name, c])) })], // biome-ignore format: one line
      ['stays', table('stays', { unit: 'person', key: ['clinic'], maxRows: cut ? 2 : 60, period: { column: 'kind', maxRows: cut ? 1 : 60 }, columns: new Map(visits.slice(0, 4).map((c) => [c.name, c])) })], // biome-ignore format: one line
      ['clinics', table('clinics', { key: ['clinic'], public: true, columns: new Map([category('size', ['small', 'large'])].map((c) => [c.name, c])) })], // biome-ignore format: one line
    ]),
  };
}

function statementsOf({ type, person, cut }: Stored, pick: Pick): readonly string[] {
  const cell = (own: string, text: string | null) => (text === null ? 'NULL' : `TRY_CAST('${text}' AS ${own})`);
  const who = () => ['1', '2', '3', '4', '5', '6', '7', person === 'VARCHAR' ? ' 3.0' : '3', null][pick(9)]!;
  const clinic = () => ['x', 'y', 'Z', null][pick(4)]!;
  const make = (name: string, columns: readonly (readonly [string, string])[], rows: readonly (readonly (string | null)[])[]) => [
    `CREATE TABLE ${name} (${columns.map(([own, t]) => `${own} ${t}`).join(', ')})`,
    `INSERT INTO ${name} VALUES ${rows.map((row) => `(${row.map((text, i) => cell(columns[i]![1], text)).join(', ')})`).join(', ')}`,
  ];
  // A public table with two rows of one key keeps one of them, chosen by their text.
  const owned = (list: readonly { readonly name: string }[]) => list.map(({ name }) => [name, type(name)] as const);
  const rows = (n: number, list: readonly { readonly name: string }[], more: (() => string | null)[]) =>
    Array.from({ length: n }, () => [...more.map((f) => f()), ...list.map(({ name }) => cells[name]!(pick))]);
  return [
    ...make('people', [['person', person], ...owned(people)], rows(cut ? 30 : 25, people, [who])),
    ...make('visits', [['person', person], ['clinic', 'VARCHAR'], ...owned(visits)], rows(50, visits, [who, clinic])),
    ...make('stays', [['person', person], ['clinic', 'VARCHAR'], ...owned(visits.slice(0, 4))], rows(40, visits.slice(0, 4), [who, clinic])), // biome-ignore format: one line
    ...make('clinics', [['clinic', 'VARCHAR'], ['size', 'VARCHAR']], [['x', 'large'], ['y', 'small'], ['y', 'small'], ['Z', 'x']]), // biome-ignore format: one line
  ];
}

/** One of every form; what is chosen of equally many is told by its text, whatever it is stored as. */
const fixed: readonly string[] = [
  'SELECT region, COUNT(*), SUM(cost), AVG(price) FROM visits JOIN people USING (person) GROUP BY region',
  'SELECT kind, COUNT(*) FROM people LEFT JOIN visits USING (person) WHERE age > 10 OR age IS NULL GROUP BY kind',
  'SELECT size, COUNT(*), COUNT(DISTINCT person) FROM visits JOIN clinics USING (clinic) GROUP BY size',
  'SELECT size, COUNT(*) FROM stays LEFT JOIN clinics USING (clinic) GROUP BY size',
  'SELECT a.kind, COUNT(*) FROM visits a JOIN stays b ON a.person = b.person AND a.clinic = b.clinic GROUP BY a.kind',
  'SELECT COUNT(*) FROM visits a JOIN visits b USING (person)',
  ...['kind', 'code', 'urgent'].flatMap((c) => [
    `WITH v AS (SELECT person, MODE(${c}) AS m FROM visits GROUP BY person) SELECT m, COUNT(*) FROM v GROUP BY m`,
    `WITH v AS (SELECT person, ARG_MIN(${c}, day) AS f, ARG_MAX(${c}, cost) AS l FROM visits WHERE cost > 3 GROUP BY person) SELECT f, l, COUNT(*) FROM v GROUP BY f, l`,
  ]),
  'WITH v AS (SELECT person, COUNT(*) AS n, SUM(cost) AS s, AVG(price) AS a, MIN(price) AS l, MAX(day) AS h FROM visits GROUP BY person) SELECT region, SUM(n), SUM(s), SUM(a), SUM(l), SUM(h) FROM people LEFT JOIN v USING (person) GROUP BY region',
  "SELECT flag, COUNT(*) FROM (SELECT person, SUM(price) AS s FROM visits WHERE NOT (kind = 'gp') GROUP BY person) v JOIN people USING (person) WHERE s > 1.25 GROUP BY flag",
  "SELECT CASE WHEN cost < 10 AND region <> 'north' THEN 'a' WHEN urgent = 'true' THEN 'b' ELSE 'c' END AS c, SUM(cost + 2 * age), COUNT(*) FROM visits JOIN people USING (person) GROUP BY c",
  'SELECT FLOOR(s / 50) AS f, COUNT(*) FROM (SELECT person, SUM(cost) AS s FROM stays GROUP BY person) v GROUP BY f',
];

/** Numbers, conditions and texts worked out of a table's columns. */
function drawn(
  pick: Pick,
  columns: readonly { readonly name: string; readonly type: string; readonly values?: readonly string[] }[],
) {
  const of = <T>(list: readonly T[]): T => list[pick(list.length)]!;
  const [codes, reals] = [columns.filter((c) => c.values), columns.filter((c) => !c.values)];
  const constant = () => of(['0', '1', '-1', '2.5', '7', '0.25', '100']);
  const value = (deep: number): string => {
    if (deep === 0 || pick(3) === 0) return of(reals).name;
    const next = () => value(deep - 1);
    return of([
      () => `(${next()} + ${next()})`,
      () => `(${next()} - ${constant()})`,
      () => `(${next()} * ${of(['2', '-3', '0.5', '-0.1'])})`,
      () => `FLOOR(${next()} / ${of(['10', '3', '0.5', '7'])})`,
      () => `CEIL(${next()} / ${of(['4', '2.5'])})`,
      () => `ROUND(${next()})`,
      () => `(ROUND(${next()}) % ${of(['2', '5', '12'])})`,
      () => `COALESCE(${next()}, ${constant()})`,
      () => `CASE WHEN ${test(deep - 1)} THEN ${next()} ELSE ${of([next, constant])()} END`,
      () => `CASE WHEN ${test(deep - 1)} THEN ${next()} END`,
    ])();
  };
  const test = (deep: number): string => {
    const { name, values } = of(codes);
    const own = of([
      () => `${name} = '${of(values!)}'`,
      () => `${name} NOT IN ('${of(values!)}', '${of(values!)}')`,
      () => `${of(reals).name} ${of(['<', '<=', '>', '>=', '<>'])} ${constant()}`,
      () => `${value(Math.max(0, deep - 1))} > ${of(reals).name}`,
      () => `${of(columns).name} IS NULL`,
    ])();
    if (deep === 0) return own;
    return of([() => own, () => `(${own} OR ${test(deep - 1)})`, () => `NOT (${own} AND ${test(deep - 1)})`])();
  };
  const text = () => `CASE WHEN ${test(1)} THEN 'p' WHEN ${test(1)} THEN 'q' ${pick(2) === 0 ? "ELSE 'r' " : ''}END`;
  return { value, test, text };
}
function randomSql(pick: Pick): string {
  const joined = pick(3) === 0;
  const { value, test, text } = drawn(pick, (joined ? [...people, ...visits] : people) as never);
  const told = ['COUNT(*)', `SUM(${value(2)})`, `AVG(${value(2)})`, `COUNT(${value(1)})`][pick(4)]!;
  const by = [text, () => `FLOOR(${value(1)} / 20)`, () => 'region', () => undefined][pick(4)]!();
  const from = joined ? `people ${pick(3) === 0 ? 'LEFT ' : ''}JOIN visits USING (person)` : 'people';
  const where = pick(2) === 0 ? ` WHERE ${test(2)}` : '';
  return `SELECT ${by === undefined ? '' : `${by} AS g, `}${told} FROM ${from}${where}${by === undefined ? '' : ' GROUP BY g'}`;
}

function bound(sql: string, policy: Policy): readonly Measure[] | undefined {
  try {
    return bindBatch(parseSql(sql, policy), policy).measures;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** Derived columns and views over several tables: the same integers before noise as from a DuckDB file. `slice`: of so many questions one is asked, where statements are slow. */
export function describeViews(kind: string, open: () => Promise<Twins>, { slice = 1 } = {}): void {
  describe(`views and derived columns in DuckDB and in ${kind}`, () => {
    let twins: Twins;
    beforeAll(async () => {
      twins = await open();
    });
    afterAll(() => twins?.remove());

    it.each(storings.map((stored) => [stored.name, stored] as const))(
      'count the same integers (%s)',
      async (name, stored) => {
        const pick = generator(name.length);
        const { file } = await twins.make(...statementsOf(stored, pick));
        const places = twins.places(file);
        const policies = [policyOf(stored, { source: places.duckdb }), policyOf(stored, { source: places.other })];
        const engines: Engine[] = [];
        try {
          for (const policy of policies) engines.push(await openEngine(policy));
          const random = Array.from({ length: long || Math.ceil(40 / slice) }, () => randomSql(pick));
          const chosen = [...fixed.filter((_, i) => long > 0 || (i + name.length) % slice === 0), ...random];
          let told = 0;
          const different: unknown[] = [];
          for (const sql of chosen) {
            if (!bound(sql, policies[0]!)) continue;
            const found: string[] = [];
            for (const [i, engine] of engines.entries()) {
              const policy = policies[i]!;
              const measures = bound(sql, policy)!;
              const plain = measures.every(({ seen }) => seen === undefined);
              const ways = plain && (slice === 1 || i === 0) ? [countByDatabase, countStreaming] : [countCells];
              for (const way of ways)
                found.push(
                  await pinned(engine, async (data) => String((await way(data, policy, measures)).map((c) => c.open()))).catch(
                    (error: Error) => `${error.name}: ${error.message}`,
                  ),
                );
            }
            if (new Set(found).size > 1 || found[0]!.includes('Fault')) different.push([sql, ...new Set(found)]);
            if (found[0]!.split(',').some((n) => n !== '0')) told++;
          }
          expect(different).toEqual([]);
          expect(told).toBeGreaterThan(Math.min(15, chosen.length / 3));
          if (long > 0) console.log(`${kind}, ${name}: ${told} of ${chosen.length} questions`);
        } finally {
          for (const engine of engines) await engine.close();
        }
      },
      1e7,
    );
  });
}
