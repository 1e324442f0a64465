import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { withSnapshot } from '../../src/data/engine/engine.js';
import { Client } from '../../src/data/engine/trino/client.js';
import { openEngine } from '../../src/data/terms/open.js';
import { bindBatch } from '../../src/query/bind.js';
import { countByDatabase, countStreaming } from '../../src/query/count/count.js';
import { parseBatch } from '../../src/query/parse.js';
import { type Course, type File, fuzz, type MemoryTable, neighboursDiffer, type Tally, wanted } from '../cell-fuzz.js';
import { category, multi, number, samplePolicy } from '../sample-policy.js';
import { trinoTypes } from '../ugly-cells.js';
import { ClusterTown, cluster } from './town.js';

/** The fuzz of stored types, grids and operators, which every engine runs; here a slice of it, because statements are slow. */
describe.skipIf(!cluster)('one ugly cell in a cluster', () => {
  let town: ClusterTown;
  beforeAll(async () => {
    town = await ClusterTown.open('memory', 'ugly');
  });
  afterAll(() => town?.close());
  afterEach(() => vi.restoreAllMocks());

  const write = async (named: string, table: MemoryTable): Promise<readonly File[]> => {
    const types = table.columns.map(({ stored }) => (stored.type === 'VARCHAR' ? undefined : stored.type)) as string[];
    await town.table(
      [table.columns.map(({ name }) => name), ...table.rows.map((row) => row.map(({ text }) => text))],
      types,
      named,
    );
    return [{ kind: 'trino', source: town.address(), named, table, csv: false }];
  };
  const some = ['a fine number', 'an integer below a missing code above 2^53', 'codes of all sorts', 'options', 'a weight'];
  const course = (more: Partial<Course> = {}): Course => ({
    stored: trinoTypes,
    write,
    files: (list, reading) => (wanted > 0 || reading === '' || some.includes(reading) ? list : []),
    ...more,
  });

  it('an ugly cell never decides between an answer and a fault, and all counting methods agree with a reference', {
    timeout: 1e7,
  }, async () => {
    const tally: Tally = { cases: 0, wrong: [] };
    for (let seed = 1; seed === 1 || tally.cases < wanted; seed++) {
      const found = await fuzz(seed, course({ questions: wanted > 0 ? 4 : 1 }));
      tally.cases += found.cases;
      tally.wrong.push(...found.wrong);
      if (wanted > 0) console.log(`seed ${seed}: ${tally.cases} cases, ${tally.wrong.length} wrong`);
      if (tally.wrong.length > 50) break;
    }
    expect(tally.wrong.slice(0, 10)).toEqual([]);
    expect(tally.cases).toBeGreaterThan(Math.max(300, wanted));
  });

  /** Statements as sent, without the names of tables. */
  const wire = ({ named }: File) => {
    const texts: string[] = [];
    const { parts } = Client.prototype;
    const spy = vi.spyOn(Client.prototype, 'parts').mockImplementation(function (this: Client, sql: string) {
      texts.push(sql.replaceAll(named!, 'near'));
      return parts.call(this, sql);
    });
    return () => {
      if (texts.length > 0) spy.mockRestore();
      return texts.splice(0);
    };
  };

  it('an ugly cell changes neither the statements sent to the cluster, nor their number, nor their outcome', {
    timeout: 1e7,
  }, async () => {
    const { tried, asked: statements, wrong } = await neighboursDiffer(1, { ...course(), most: 3, blocks: false, wire });
    if (wanted > 0) console.log(`neighbours: ${tried} tried, ${statements} questions of each, ${wrong.length} wrong`);
    expect(wrong.slice(0, 5)).toEqual([]);
    expect([tried > 2, statements > 20]).toEqual([true, true]);
  });

  /** Response times are measured in a long run only (FUGU_TIMING=5: median of five), because a busy machine distorts them. */
  const rounds = Number(process.env.FUGU_TIMING ?? 0);
  const long = 1 << 18;
  const cells: Readonly<Record<string, string>> = {
    tame: `'3'`,
    digits: `lpad('', ${long}, '1')`,
    'digits with an end': `lpad('x', ${long}, '1')`,
    blanks: `lpad('1', ${long}, ' ')`,
    options: `lpad('', ${long}, '1;')`,
    separators: `lpad('', ${4 * long}, ';')`,
    letters: `lpad('', ${long}, 'x')`,
    powers: `lpad('1e9', ${long}, '0') || lpad('', ${long}, '9')`,
    accents: `lpad('', ${long}, U&'e\\0301')`,
  };
  it('a long cell changes neither the statements nor their outcome', { timeout: 1e7 }, async () => {
    const kinds = [number('x', '0', '10'), category('x', ['1', '2']), multi('x', ['1', '2'], ';')];
    const times = new Map<string, number>();
    for (const own of kinds) {
      let first: readonly string[] | undefined;
      for (const [named, cell] of Object.entries(cells)) {
        const table = 'long_cells';
        await town.run(`DROP TABLE IF EXISTS ${town.of(table)}`);
        await town.run(`CREATE TABLE ${town.of(table)} AS SELECT * FROM (VALUES (${cell}, 'a'), ('2', 'b')) AS v(x, g)`);
        const policy = { ...samplePolicy([own, category('g', ['a', 'b'])]), data: { source: town.address(), table } };
        const { measures } = bindBatch(parseBatch({ kind: own.type === 'integer' ? 'mean' : 'histogram', column: 'x' }), policy);
        const engine = await openEngine(policy);
        const sent = wire({ named: table } as File);
        const answer = await withSnapshot(engine, async (data) => {
          const ways = [await countByDatabase(data, policy, measures), await countStreaming(data, policy, measures)];
          return ways.map((way) => String(way.map((c) => c.open())));
        });
        const statements = sent();
        first ??= statements;
        expect([own.type, named, new Set(answer).size, statements]).toEqual([own.type, named, 1, first]);
        expect(statements.length).toBeGreaterThan(2);
        const took: number[] = [];
        for (let k = 0; k < rounds; k++)
          await withSnapshot(engine, async (data) => {
            const started = performance.now();
            await countByDatabase(data, policy, measures);
            took.push(performance.now() - started);
          });
        if (rounds > 0) times.set(`${own.type}, ${named}`, took.sort((a, b) => a - b)[rounds >> 1]!);
        await engine.close();
      }
    }
    for (const [what, time] of times) {
      const tame = times.get(what.replace(/, .*/, ', tame'))!;
      console.log(`${what}: ${time.toFixed(0)} ms, ${(time / tame).toFixed(2)} times a short one`);
      expect([what, time < 3 * tame + 1000]).toEqual([what, true]);
    }
  });
});
