import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countMarginal } from '../src/analysis/learn/network/coded.js';
import { codedColumns, readCoded } from '../src/analysis/learn/network/read-coded.js';
import { chosenColumns } from '../src/analysis/synth/columns.js';
import { Fault } from '../src/base/errors.js';
import { type Engine, type Snapshot, type Statement, withSnapshot } from '../src/data/engine/engine.js';
import { openEngine } from '../src/data/terms/open.js';
import type { Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countByDatabase, countCells, countStreaming } from '../src/query/count/count.js';
import { countMarginals } from '../src/query/count/marginals.js';
import type { Axis, Measure } from '../src/query/count/measure.js';
import { parseSql } from '../src/query/sql/sql.js';
import type { Twins } from './engine-equal.js';
import { surveyRandom } from './garbage-survey.js';
import { policyOf, statementsOf, storings } from './persons-and-visits.js';
import { fixed, randomSql } from './questions-of-views.js';

/** Random questions; FUGU_FUZZ_VIEWS sets their number in a long run. */
const long = Number(process.env.FUGU_FUZZ_VIEWS ?? 0);

function bound(sql: string, policy: Policy): readonly Measure[] | undefined {
  try {
    return bindBatch(parseSql(sql, policy), policy).measures;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** Counts behind workloads and synthetic rows: every two-column marginal, computed by the database and from rows read. */
async function allPairs(engine: Engine, policy: Policy): Promise<readonly (readonly (readonly number[])[])[]> {
  const coded = codedColumns(policy, chosenColumns(policy, {}));
  const pairs = coded.flatMap((_, i) => coded.slice(i + 1).map((__, j) => [i, i + 1 + j]));
  return withSnapshot(engine, async (data) => {
    const rows = (await readCoded(data, policy, coded)).open();
    const single = coded.flatMap((c, k) => ('axis' in c ? [k] : []));
    const tables = pairs
      .filter((pair) => pair.every((k) => single.includes(k)))
      .map((pair) => pair.map((k) => single.indexOf(k)));
    const axes = single.map((k) => (coded[k] as { axis: Axis }).axis);
    const counted = (await countMarginals(data, policy, { axes, tables })).map((cells) => cells.map(Number));
    const read = pairs.map((pair) => Array.from(countMarginal(rows, pair)));
    expect(counted).toEqual(
      tables.map((own) =>
        Array.from(
          countMarginal(
            rows,
            own.map((k) => single[k]!),
          ),
        ),
      ),
    );
    return [read, counted];
  });
}

/**
 * Derived columns and views over several tables give the same integers before noise as a DuckDB file.
 * `slice`: one of so many questions is used, for slow databases.
 */
export function describeViews(kind: string, open: () => Promise<Twins>, { slice = 1 } = {}): void {
  describe(`views and derived columns in DuckDB and in ${kind}`, () => {
    let twins: Twins;
    beforeAll(async () => {
      twins = await open();
    });
    afterAll(() => twins?.remove());

    it.each(storings.map((stored) => [stored.name, stored] as const))(
      'both count the same integers (%s)',
      async (name, stored) => {
        const pick = surveyRandom(name.length);
        const { file } = await twins.make(...statementsOf(stored, pick));
        const places = twins.places(file);
        const policies = [policyOf(stored, { source: places.duckdb }), policyOf(stored, { source: places.other })];
        const engines: Engine[] = [];
        try {
          for (const policy of policies) engines.push(await openEngine(policy));
          const random = Array.from({ length: long || Math.ceil(40 / slice) }, () => randomSql(pick));
          const chosen = [...fixed.filter((_, i) => long > 0 || (i + name.length) % slice === 0), ...random];
          let tracked = 0;
          const different: unknown[] = [];
          for (const sql of chosen) {
            if (!bound(sql, policies[0]!)) {
              expect(fixed).not.toContain(sql);
              continue;
            }
            const found: string[] = [];
            for (const [i, engine] of engines.entries()) {
              const policy = policies[i]!;
              const measures = bound(sql, policy)!;
              const plain = measures.every(({ countedView }) => countedView === undefined);
              const methods = plain && (slice === 1 || i === 0) ? [countByDatabase, countStreaming] : [countCells];
              for (const method of methods)
                found.push(
                  await withSnapshot(engine, async (data) =>
                    String((await method(data, policy, measures)).map((c) => c.open())),
                  ).catch((error: Error) => `${error.name}: ${error.message}`),
                );
            }
            if (new Set(found).size > 1 || found[0]!.includes('Fault')) different.push([sql, ...new Set(found)]);
            if (found[0]!.split(',').some((n) => n !== '0')) tracked++;
          }
          expect(different).toEqual([]);
          const [here, there] = await Promise.all(engines.map((engine, i) => allPairs(engine, policies[i]!)));
          expect(there).toEqual(here);
          expect(here!.flat(2).filter((n) => n > 0).length).toBeGreaterThan(50);
          expect(tracked).toBeGreaterThan(Math.min(15, chosen.length / 3));
          if (long > 0) console.log(`${kind}, ${name}: ${tracked} of ${chosen.length} questions`);
        } finally {
          for (const engine of engines) await engine.close();
        }
      },
      1e7,
    );

    it('both send the same statements in the same order, for any cell and any person', async () => {
      const stored = storings[0]!;
      const queries = fixed.filter((_, i) => i % slice === 0);
      const all = Object.entries(ugly).flatMap(([column, list]) => list.map((cell) => ({ column, cell }) as const));
      const changes = [undefined, ...all.filter((_, i) => long > 0 || i % (5 * slice) === 0)];
      let first: readonly string[] | undefined;
      const different: unknown[] = [];
      for (const change of changes) {
        const { file } = await twins.make(...statementsOf(stored, surveyRandom(5), change));
        const policy = policyOf(stored, { source: twins.places(file).other });
        const engine = await openEngine(policy);
        try {
          const traced = await withSnapshot(engine, (data) => trace(data, policy, queries));
          first ??= traced;
          if (String(traced) !== String(first)) different.push([change, traced.find((text, i) => text !== first![i])]);
        } finally {
          await engine.close();
        }
      }
      expect(different).toEqual([]);
      expect(first!.length).toBeGreaterThan(queries.length);
      expect(first!.at(-1)).toBe('answered');
    }, 1e7);
  });
}

/** Cells that break a statement somewhere. */
const ugly: Readonly<Record<string, readonly string[]>> = {
  person: ['NaN', '1e400', '-0', '\u00a0', 'Å', '9'.repeat(400), '; DROP TABLE people'],
  clinic: ['1e400', '', 'y ', "o''hara"],
  price: ['1e400', '5e-324', '0x1F', '9'.repeat(2000), '-'],
  day: ['9223372036854775808', '1e-400', 'NaN', '٣'],
  code: ['-1.0', '1e0', ' 10'],
  age: ['1e308', '-9223372036854775809'],
};

/** Every statement with its values, and how it ended. */
async function trace(data: Snapshot, policy: Policy, queries: readonly string[]): Promise<readonly string[]> {
  const tracked: string[] = [];
  const watched: Snapshot = Object.assign(Object.create(data) as Snapshot, {
    columns: (table?: string) => data.columns(table),
    beneath: (values: Statement['values']) => data.beneath(values),
    size: () => data.size(),
    rows: (statement: Statement) => {
      tracked.push(JSON.stringify([statement.sql, statement.values]));
      return data.rows(statement);
    },
    stream: () => expect.fail('counted in the database'),
  });
  Object.defineProperty(watched, 'whole', { value: watched });
  for (const sql of queries) await countCells(watched, policy, bound(sql, policy)!);
  return [...tracked, 'answered'];
}
