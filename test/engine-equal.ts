import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countColumnPairs, pairExecution } from '../src/analysis/learn/network/pair-counts.js';
import { countTransitions } from '../src/analysis/learn/transitions/learn-transitions.js';
import { exactAnswer } from '../src/analysis/pattern/exact-answer.js';
import { analysePatternText } from '../src/analysis/pattern/query/analyse.js';
import { truncatedCount } from '../src/analysis/pattern/strategies/truncated-noise.js';
import { demoQuestions, demoSurvey } from '../src/app/api/demo-people.js';
import type { Snapshot, Statement } from '../src/data/engine/engine.js';
import { nameText } from '../src/data/engine/name.js';
import type { EngineSource } from '../src/data/engine/source.js';
import { relationView } from '../src/data/engine/structure.js';
import { daysOf, isoDay } from '../src/policy/date-text.js';
import { numberFromText } from '../src/policy/number-text.js';
import type { Column, Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countByDatabase, countStreaming } from '../src/query/count/count.js';
import { compileMeasures, readCounts } from '../src/query/count/groups.js';
import { countMarginals } from '../src/query/count/marginals.js';
import type { Axis, Measure } from '../src/query/count/measure.js';
import { groupKeyOf } from '../src/query/keys.js';
import { parseBatch } from '../src/query/parse.js';
import { garbageBatch, randomRows, surveyNames, surveyRandom } from './garbage-survey.js';
import { category, multi, number, sampleColumns, samplePolicy } from './sample-policy.js';

/** The same data in a DuckDB file and in another database: statements are in the words of DuckDB. */
export interface Twins {
  make(...statements: string[]): Promise<{ readonly file: string; readonly tables: readonly string[] }>;
  open(
    file: string,
    table: string,
    more?: Partial<EngineSource>,
  ): Promise<{ readonly duckdb: Snapshot; readonly other: Snapshot }>;
  /** Locations of the tables of a file. */
  places(file: string): { readonly duckdb: string; readonly other: string };
  remove(): Promise<void>;
}
export const quoted = (cell: string | null): string => (cell === null ? 'NULL' : `'${cell.replaceAll("'", "''")}'`);

/** Equal integers before noise, whatever is in the data. `every`: of so many measures one is also counted by statements of its own, where these are slow. */
export function describeEqual(kind: string, open: () => Promise<Twins>, { every = 1 } = {}): void {
  describe(`the same data in DuckDB and in ${kind}`, () => {
    let twins: Twins;
    beforeAll(async () => {
      twins = await open();
    });
    afterAll(() => twins?.remove());

    const values = (rows: readonly (readonly (string | null)[])[]) =>
      rows.map((row) => `(${row.map(quoted).join(', ')})`).join(', ');
    const survey = async (types: Record<string, string>, rows: readonly (readonly (string | null)[])[]) => {
      const all = [...surveyNames, 'who'];
      const list = all.map((n) => (types[n] ? `TRY_CAST(${n} AS ${types[n]}) AS ${n}` : n)).join(', ');
      return twins.make(
        `CREATE TEMP TABLE raw (${all.map((n) => `${n} VARCHAR`).join(', ')})`,
        `INSERT INTO raw VALUES ${values(rows)}`,
        `CREATE TABLE people AS SELECT ${list} FROM raw`,
        'DROP TABLE raw',
      );
    };

    /** By the statement that looks codes up in the database, by the one that leaves it to us, and row by row. */
    async function everyWay(
      data: Snapshot,
      policy: Policy,
      measures: readonly Measure[],
      step = 1,
    ): Promise<readonly bigint[][][]> {
      const bySql: bigint[][] = [];
      const counted: bigint[][] = [];
      const columns = await data.columns();
      const plans = compileMeasures(measures, { dialect: data.dialect, policy: policy, columns: columns }).filter(
        (_, i) => i % step === 0,
      );
      await Promise.all(
        plans.map(async (plan) => {
          for (const [i, cells] of readCounts(plan, measures, (await data.rows(plan.statement)).open())) bySql[i] = cells;
          const own = plan.measures.map((i) => measures[i]!);
          for (const [k, cells] of (await countByDatabase(data, policy, own)).entries())
            counted[plan.measures[k]!] = [...cells.open()];
        }),
      );
      const streamed = (await countStreaming(data, policy, measures)).map((cells) => [...cells.open()]);
      return [bySql, counted, streamed];
    }
    async function expectEqual(file: string, policy: Policy, measures: readonly Measure[], more: Partial<EngineSource> = {}) {
      const { duckdb, other } = await twins.open(file, 'people', more);
      try {
        const [sql, ...others] = await everyWay(duckdb, policy, measures);
        for (const found of [...others, ...(await everyWay(other, policy, measures, every))])
          measures.forEach((m, i) => {
            if (found[i]) expect([m.name, i, found[i]]).toEqual([m.name, i, sql![i]]);
          });
        return sql!;
      } finally {
        await duckdb.close();
        await other.close();
      }
    }

    const typings: readonly [string, Record<string, string>][] = [
      ['text', {}],
      ['stored numbers', { age: 'INTEGER', income: 'DOUBLE', grade: 'DOUBLE', w: 'DOUBLE' }],
      ['odd types', { age: 'DOUBLE', income: 'DECIMAL(9,4)', grade: 'BIGINT', w: 'FLOAT' }],
      ['tiny and huge integers', { age: 'UTINYINT', income: 'HUGEINT', grade: 'SMALLINT', w: 'UBIGINT' }],
    ];
    it.each(typings)('both give the same integers on garbage, NULL, NaN and infinities (%s)', async (_, types) => {
      const policy = samplePolicy(sampleColumns);
      const { measures } = bindBatch(garbageBatch, policy);
      const { file } = await survey(types, randomRows(1, 700));
      const sql = await expectEqual(file, policy, measures);
      expect(sql.flat().filter((n) => n !== 0n).length).toBeGreaterThan(100);
      if (Object.keys(types).length > 0) return;
      await expectEqual(file, policy, measures, { numbers: new Set(['age', 'income', 'w']), codes: new Set(['party', 'grade']) });
    });

    it('both read dates, and texts that look like dates, as the same days', async () => {
      const days = number('day', `${daysOf('1990-01-01')}`, `${daysOf('2030-12-31')}`, '1');
      const policy = samplePolicy([{ ...days, type: 'integer', date: true } as Column]);
      const texts = ['2020-02-29', '2021-02-29', '1900-02-29', ' 2023-06-15\t', '2023-06-15T12:30:00Z', '2023-06-15 01:02:03+02', '2023-13-01', '2023-04-31', '0000-01-01', '0001-01-01', '9999-12-31', '20230615', '15.06.2023', 'x', '', null]; // biome-ignore format: one line
      const each = Array.from({ length: 900 }, (_, i) => [isoDay(daysOf('1989-12-01')! + 17 * i)]);
      const { measures } = bindBatch(
        parseBatch([
          { kind: 'count', by: ['day'] },
          { kind: 'mean', column: 'day' },
          { kind: 'count', where: [{ column: 'day', op: '>', value: '2003-04-05' }] },
        ]),
        policy,
      );
      const parts = (['year', 'month', 'day', 'weekday', 'yearday'] as const).flatMap(
        (op) => bindBatch(parseBatch({ kind: 'count', by: ['part'], derive: { part: { op, of: ['day'] } } }), policy).measures,
      );
      const { file } = await twins.make(
        'CREATE TABLE people (day VARCHAR)',
        `INSERT INTO people VALUES ${values([...texts.map((t) => [t]), ...each])}`,
      );
      const more = { numbers: new Set(['day']), dates: new Set(['day']) };
      const found = await expectEqual(file, policy, measures, more);
      expect(found[0]!.reduce((a, b) => a + b, 0n)).toBe(916n);
      expect(found[0]!.at(-1)).toBe(10n);
      for (const part of parts) await expectEqual(file, policy, [part], more);
      const stored = await twins.make(
        "CREATE TABLE people AS SELECT DATE '2001-05-05' + CAST(i AS INTEGER) AS day FROM range(700) t(i)",
      );
      await expectEqual(stored.file, policy, measures, more);
    });

    it('both cut the rows of a person to the same ones', async () => {
      const policy = samplePolicy(sampleColumns, { secret: 'person', unit: 'who', maxRows: 2 });
      const { measures } = bindBatch(garbageBatch, policy);
      const { file } = await survey({}, randomRows(2, 300));
      await expectEqual(file, policy, measures.slice(0, 12));
    });

    it('both read halves, the ends of doubles and of integers alike', async () => {
      const columns = [
        number('x', '-2.5', '7.25', '0.05'),
        number('wide', '0', '1000000', '1000', { missing: ['0'] }),
        number('n', '-4503599627370496', '4503599627370496', '8192'),
        number('big', '0', '1000000000'),
      ];
      const policy = samplePolicy(columns);
      const { measures } = bindBatch(
        parseBatch(
          ['x', 'wide', 'n', 'big']
            .flatMap((column) => [
              { kind: 'sum', column },
              { kind: 'mean', column },
              { kind: 'quantile', column, at: [0.5] },
              { kind: 'count', where: [{ column, op: 'missing' }] },
              { kind: 'count', where: [{ column, op: '>=', value: 1 }] },
            ])
            .slice(0, 10),
        ),
        policy,
      );
      const odd = ['NaN', 'Infinity', '-Infinity', '1.7976931348623157e308', '-1.7976931348623157e308', '5e-324', '-5e-324', '2.2250738585072014e-308', '-0', '0', '500', '499.99999999999994', '1500', '2500']; // biome-ignore format: one line
      const halves = Array.from({ length: 60 }, (_, p) => `${-2.5 + (p + 0.5) * 0.05}`);
      const integers = ['9223372036854775807', '-9223372036854775808', '9007199254740993', '-4503599627370497', '4095', '4096', '12288', null]; // biome-ignore format: one line
      const rows = [...odd, ...halves].map((x, i) => [
        x,
        odd[i % odd.length]!,
        integers[i % integers.length]!,
        integers[(i * 3) % integers.length]!,
      ]);
      const { file } = await twins.make(
        'CREATE TABLE people (x DOUBLE, wide DOUBLE, n BIGINT, big BIGINT)',
        `INSERT INTO people VALUES ${values(rows)}`,
      );
      await expectEqual(file, policy, measures);
    });

    it('both give the same integers on the survey of the demo, as files and as typed columns', async () => {
      const [names, ...rows] = demoSurvey()
        .csv.trim()
        .split('\n')
        .map((line) => line.split(',')) as [string[], ...string[][]];
      const policy = samplePolicy([
        ...Object.entries(demoQuestions).map(([name, values]) => category(name, values)),
        number('age', '18', '90'),
        multi('media', ['tv', 'web', 'paper']),
      ]);
      const requested = [...policy.columns.keys()].flatMap((column) => [{ kind: 'histogram', column }]);
      const { measures } = bindBatch(parseBatch([...requested, { kind: 'mean', column: 'age', by: ['party'] }, { kind: 'crosstab', columns: ['party', 'media'] }]), policy); // biome-ignore format: one line
      const types = names.map((n) => (n === 'age' ? 'INTEGER' : 'VARCHAR'));
      const cells = rows.map((row) => row.map((cell) => (cell === '' ? null : cell)));
      const { file } = await twins.make(
        `CREATE TABLE people (${names.map((n, i) => `${n} ${types[i]}`).join(', ')})`,
        `INSERT INTO people VALUES ${values(cells)}`,
      );
      const sql = await expectEqual(file, policy, measures);
      expect(sql[0]!.reduce((a, b) => a + b)).toBe(BigInt(rows.length));
      const households = async (data: Snapshot) => {
        const list = await data.rows({
          sql: `SELECT ${data.dialect.name('"household"', 'text')} AS h, count(*) FROM fugu_data GROUP BY 1`,
          values: [],
        });
        return new Set(list.open().map((row) => row.join()));
      };
      const { duckdb, other } = await twins.open(file, 'people');
      expect(await households(other)).toEqual(await households(duckdb));
      await duckdb.close();
      await other.close();
    });

    it('both count an empty table and one of a thousand columns', async () => {
      const policy = samplePolicy(sampleColumns);
      const { measures } = bindBatch(garbageBatch, policy);
      const { file } = await twins.make(`CREATE TABLE people (${[...surveyNames, 'who'].map((n) => `${n} VARCHAR`).join(', ')})`);
      const none = await expectEqual(file, policy, measures);
      expect(none.flat().every((n) => n === 0n)).toBe(true);

      const wide = Array.from({ length: 1000 }, (_, c) => `q${c}`);
      const survey = samplePolicy(wide.map((name) => category(name, ['1', '2', '3'])));
      const pick = surveyRandom(7);
      const cells = Array.from({ length: 40 }, () => wide.map(() => ['1', '2', '3', ' 2', 'x', null][pick(6)]!));
      const made = await twins.make(`CREATE TABLE people (${wide.map((n) => `${n} VARCHAR`).join(', ')})`, `INSERT INTO people VALUES ${values(cells)}`); // biome-ignore format: one line
      const { measures: many } = bindBatch(parseBatch(wide.map((column) => ({ kind: 'histogram', column }))), survey);
      const { duckdb, other } = await twins.open(made.file, 'people');
      const count = async (data: Snapshot) => (await countStreaming(data, survey, many)).map((c) => [...c.open()]);
      expect(await count(other)).toEqual(await count(duckdb));
      const persons = samplePolicy([...survey.columns.values()].slice(0, 150), { secret: 'person', unit: 'q0', maxRows: 1 });
      const byPerson = async (data: Snapshot) =>
        (await countByDatabase(data, persons, many.slice(0, 3))).map((c) => [...c.open()]);
      expect(await byPerson(other)).toEqual(await byPerson(duckdb));
      await duckdb.close();
      await other.close();
    });

    it('both count joint answers and transitions inside the database, which no row leaves', async () => {
      const pick = surveyRandom(3);
      // So many that one scan does not hold all pairs, where statements are quick.
      const questions = Array.from({ length: every === 1 ? 23 : 7 }, (_, c) => `q${c}`);
      const all = [...questions, 'age', 'region', 'who', 't'];
      const cell = (c: string) => (c === 'age' ? `${pick(100)}` : c === 'region' ? 'abcx'[pick(4)]! : c === 'who' ? `p${pick(40)}` : c === 't' ? `${pick(12)}` : ['1', '2', '3', ' 2', '9', 'x', null][pick(7)]!); // biome-ignore format: one line
      const rows = Array.from({ length: 400 }, () => all.map(cell));
      const { file } = await twins.make(
        `CREATE TABLE people (${all.map((n) => `${n} ${n === 'age' || n === 't' ? 'BIGINT' : 'VARCHAR'}`).join(', ')})`,
        `INSERT INTO people VALUES ${values(rows)}`,
      );
      const answers = questions.map((name) => category(name, ['1', '2', '3'], { missing: ['9'] }));
      const columns = [...answers, number('age', '0', '90'), category('region', ['a', 'b', 'c']), number('t', '0', '10')];
      const { duckdb, other } = await twins.open(file, 'people');
      const streamed = Object.create(other, { dialect: { value: { ...other.dialect, eachOf: undefined } } }) as Snapshot;
      const requested: Statement[] = [];
      const watched = Object.assign(Object.create(other) as Snapshot, {
        rows: (statement: Statement) => {
          requested.push(statement);
          return other.rows(statement);
        },
        stream: () => expect.fail('rows are not to leave the database'),
      });
      for (const policy of [samplePolicy(columns), samplePolicy(columns, { secret: 'person', unit: 'who', maxRows: 1 })]) {
        const names = [...questions, 'age'];
        for (const known of every === 1 ? [[], ['region']] : [['region']]) {
          const pairs = async (data: Snapshot) => (await countColumnPairs(data, policy, names, known)).open();
          const plan = pairExecution(other.dialect, policy, { names, known });
          const expected = await pairs(duckdb);
          requested.length = 0;
          expect(await pairs(watched)).toEqual(expected);
          const scans = every === 1 ? 2 : 1;
          expect([plan.where, plan.database?.statements, requested.length]).toEqual(['database', scans, scans]);
          if (known.length > 0) expect(expected).toHaveLength(4);
          if (policy.protect.secret !== 'person') expect(await pairs(streamed)).toEqual(expected);
        }
        const steps = { by: 'who', order: 't', state: 'q0' };
        const followed = async (data: Snapshot) => (await countTransitions(data, policy, steps)).open();
        const expected = await followed(duckdb);
        expect(await followed(watched)).toEqual(expected);
        if (policy.protect.secret !== 'person') expect(expected.filter((n) => n > 0).length).toBeGreaterThan(3);
      }
      const tables = { axes: (['q0', 'q1', 'age'] as const).map((name) => groupKeyOf(samplePolicy(columns), name).key as Axis), tables: [[0, 1, 2], [2], [1, 0]] }; // biome-ignore format: one line
      const counted = async (data: Snapshot) => countMarginals(data, samplePolicy(columns), tables);
      expect(await counted(watched)).toEqual(await counted(duckdb));
      await duckdb.close();
      await other.close();
    });

    it('both name every person alike, for any spelling and storage', async () => {
      const ends = [' ', '\t', '\u00a0', '\u2003', '\u200b', '\ufeff', '\u00ad', '\u0085', '\u3000', '\u2066'];
      const cores = ['Ann', 'ann', '007', '7', '7.0', '+7.50', '-0', '-0.00', '0', '1e5', 'J. Doe', '', 'é', 'e\u0301', 'ﬁ', '가', '\u1100\u1161', "O'Hara", '试验', '1.', '.5', '-12.340', '9007199254740993', 'x'.repeat(300)]; // biome-ignore format: one line
      const texts = [...cores, ...cores.flatMap((core) => ends.map((end) => `${end}${core}${end}${end}`))];
      const numbers = ['0', '-0', '1.5', '7', '1e15', '1e22', '1e300', '-1e18', '1152921504606846976', '9223372036854775808', '1e-7', 'NaN', 'Infinity', '0.1', '2.2e37', '-1e38', '1.7e38', '-Infinity', '1e-5', '0.0001', '123456.789', '1e16', '123456789012345680', '1.5e20']; // biome-ignore format: one line
      const { file } = await twins.make(
        'CREATE TABLE texts (k INTEGER, t VARCHAR)',
        `INSERT INTO texts VALUES ${texts.map((t, k) => `(${k}, ${quoted(t)})`).join(', ')}`,
        'CREATE TABLE numbers (k INTEGER, t DOUBLE)',
        `INSERT INTO numbers VALUES ${numbers.map((t, k) => `(${k}, '${t}')`).join(', ')}`,
      );
      const read = async (table: string, type: 'text' | 'real') => {
        const { duckdb, other } = await twins.open(file, table);
        const ask = async (data: Snapshot) =>
          (await data.rows({ sql: `SELECT ${data.dialect.name('"t"', type)} FROM fugu_data ORDER BY "k"`, values: [] }))
            .open()
            .map(([n]) => n);
        const found = [await ask(duckdb), await ask(other)];
        await duckdb.close();
        await other.close();
        return found;
      };
      const [inDuckdb, inOther] = await read('texts', 'text');
      expect(inOther).toEqual(texts.map((t) => nameText(t) ?? null));
      expect(inOther).toEqual(inDuckdb);
      const [first, second] = await read('numbers', 'real');
      expect(second).toEqual(first);
    });

    it('both distinguish the same doubles', async () => {
      const cells = ['0', '-0', '1.5', '-1.5', '5e-324', '-5e-324', '1e-310', '1.7976931348623157e308', '0.1', 'NaN', 'Infinity', '-Infinity', '4.35', null]; // biome-ignore format: one line
      const { file } = await twins.make('CREATE TABLE people (k INTEGER, x DOUBLE)', `INSERT INTO people VALUES ${cells.map((x, k) => `(${k}, ${quoted(x)})`).join(', ')}`); // biome-ignore format: one line
      const { duckdb, other } = await twins.open(file, 'people');
      const bits = (x: number) => new BigInt64Array(Float64Array.of(x + 0).buffer)[0]!;
      const expected = cells.map((x) => (x === null || x === 'NaN' ? null : bits(Number(x))));
      for (const data of [duckdb, other]) {
        const sql = `SELECT ${data.dialect.bits('"x"')} FROM fugu_data ORDER BY "k"`;
        expect((await data.rows({ sql, values: [] })).open().map(([x]) => x)).toEqual(expected);
        await data.close();
      }
    });

    it('both read the numbers in texts alike', async () => {
      const pick = surveyRandom(11);
      const letters = '0123456789.eE+- ';
      const made = Array.from({ length: 400 }, () =>
        Array.from({ length: 1 + pick(8) }, () => letters[pick(letters.length)]).join(''),
      );
      const texts = [...made, '1e308', '1.8e308', '1e309', '1e400', '-1e400', '1e-400', '0e99999', '1e99999', '1e-99999', '5e-324', '2.4e-324', '2.5e-324', '4.9e-324', '0x1F', 'nan', 'inf', '1_0', '1d', '1f', '\v7\f', '1e0000000000000001', '9'.repeat(300), `0.${'0'.repeat(330)}1`, `1${'0'.repeat(309)}`, '179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880', '123456789012345678901234567890123456789012345']; // biome-ignore format: one line
      const { file } = await twins.make('CREATE TABLE people (k INTEGER, t VARCHAR)', `INSERT INTO people VALUES ${texts.map((t, k) => `(${k}, ${quoted(t)})`).join(', ')}`); // biome-ignore format: one line
      const { duckdb, other } = await twins.open(file, 'people');
      const known = (x: unknown) => (typeof x === 'number' && !Number.isNaN(x) ? x + 0 : null);
      const ask = async (data: Snapshot) =>
        (await data.rows({ sql: `SELECT ${data.dialect.numberInText('"t"')} FROM fugu_data ORDER BY "k"`, values: [] }))
          .open()
          .map(([x]) => known(x));
      const expected = texts.map((t) => known(numberFromText(t)));
      expect(await ask(other)).toEqual(expected);
      expect(await ask(duckdb)).toEqual(expected);
      await duckdb.close();
      await other.close();
    });

    it('both add and compare numbers in names alike, and fail on none', async () => {
      const cells = ['1', '2.5', '-2.5', '3.5', '1e400', '-1e400', 'NaN', 'inf', 'x', '0x1F', '1e-400', '99', '7.0', ' 8 ', '٣'];
      const { file } = await twins.make(
        'CREATE TABLE people AS SELECT 1 AS id',
        'CREATE TABLE pays (who VARCHAR, amount VARCHAR)',
        `INSERT INTO pays VALUES ${cells.map((c, k) => `('p${k % 4}', ${quoted(c)})`).join(', ')}`,
      );
      const relation = { name: 'pays', table: 'pays', columns: ['who', 'amount'], symmetric: false };
      const declared = new Map([['pays', { ...relation, domain: 100, private: true }]]);
      const { duckdb, other } = await twins.open(file, 'people', { relations: [relation] });
      for (const text of [
        'sum(a in -3..10) :- pays(w, a)',
        'q(w, a) :- pays(w, a), a > 2',
        'q(w) :- pays(w, a), pays(w, b), a != b, a >= -2',
      ]) {
        const a = analysePatternText(text, { relations: declared });
        const found = (await exactAnswer(other, a)).open();
        expect([text, found]).toEqual([text, (await exactAnswer(duckdb, a)).open()]);
        expect((await truncatedCount(other, a, 3)).open().count).toEqual((await truncatedCount(duckdb, a, 3)).open().count);
      }
      await duckdb.close();
      await other.close();
    });

    it('both show the same ties with the same strengths', async () => {
      const { file } = await twins.make(
        'CREATE TABLE people (id VARCHAR, boss VARCHAR, much VARCHAR)',
        `INSERT INTO people VALUES ('007', '008', '2,5'), ('008', '7', '1.5'), ('7', '7.0', '2'), ('9', ' 007', 'x'), ('10', NULL, '1')`,
        'CREATE TABLE friends (a VARCHAR, b VARCHAR, how VARCHAR)',
        `INSERT INTO friends VALUES ('1','2','3'), ('2','1','4'), ('2.0',' 1','x'), ('4','4','2'), ('Å','A\u030a','2'), ('a','B','1.5'), ('B','c','1.0000000000000001'), ('c','B','inf'), ('5',NULL,'2'), ('6','7','1e400'), ('7','8','2.0'), ('8','9','9007199254740993')`,
        'CREATE TABLE calls (a BIGINT, b DOUBLE, how DOUBLE)',
        `INSERT INTO calls VALUES (1, 2, 3), (1, 2.0, 2.5), (2, 1, 'NaN'), (3, NULL, 1), (4, 4, 'infinity'), (5, 1.5, 1)`,
      );
      const relations = [
        { name: 'friend', table: 'friends', columns: ['a', 'b'], symmetric: true, odds: 'how' },
        { name: 'Call', table: 'calls', columns: ['a', 'b'], symmetric: false, odds: 'how' },
        { name: 'plain', table: 'calls', columns: ['a', 'b'], symmetric: true },
        // Ties within the data itself: the text identifies a person even if every other question uses only its number.
        { name: 'boss', table: 'people', columns: ['id', 'boss'], symmetric: false, odds: 'much' },
      ];
      const numbers = { numbers: new Set(['boss', 'much']), commas: new Set(['much']) };
      const { duckdb, other } = await twins.open(file, 'people', { relations, ...numbers });
      const bosses = await other.rows({ sql: `SELECT c0, c1 FROM ${relationView('boss')}`, values: [] });
      expect(bosses.open().map((row) => row.join(' of ')).sort()).toEqual(['007 of 008', '008 of 7', '7 of 7', '9 of 007']); // biome-ignore format: one line
      for (const [name, odds] of [
        ['friend', ', odds'],
        ['Call', ', odds'],
        ['plain', ''],
        ['boss', ', odds'],
      ] as const) {
        // biome-ignore format: one line
        const sql = `SELECT c0, c1${odds} FROM ${relationView(name)}`;
        const ask = async (data: Snapshot) => (await data.rows({ sql, values: [] })).open().map((row) => row.join('|')).sort(); // biome-ignore format: one line
        const found = await ask(other);
        expect([name, found]).toEqual([name, await ask(duckdb)]);
        expect(found.length).toBeGreaterThan(1);
      }
      await duckdb.close();
      await other.close();
    });
  });
}
