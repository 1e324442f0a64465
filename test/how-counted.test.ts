import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Snapshot, Statement } from '../src/data/engine/engine.js';
import type { Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { countCells, type ExecutionPlan, executionPlan } from '../src/query/count/count.js';
import { parseBatch } from '../src/query/parse.js';
import { fugu } from './fugu.js';
import { openNow } from './now.js';
import { category, multi, number, samplePolicy } from './sample-policy.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-counted-'));
  const rows = Array.from({ length: 30 }, (_, i) => `${'abc'[i % 3]},${i},tv;web`);
  writeFileSync(join(folder, 'small.csv'), `g,age,media\n${rows.join('\n')}\n`);
  // More texts outside the domain than are looked up here: they are counted a second time, by cell.
  const odd = Array.from({ length: 11_000 }, (_, i) => `x${i},${i % 90},tv`);
  writeFileSync(join(folder, 'odd.csv'), `g,age,media\n${odd.join('\n')}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const columns = [category('g', ['a', 'b', 'c']), number('age', '0', '90'), multi('media', ['tv', 'web'])];
const policyOf = (file: string): Policy => ({ ...samplePolicy(columns), data: { source: join(folder, file) } });

/** Records the actual traffic between us and the database. */
async function watched(file: string, batch: object) {
  const policy = policyOf(file);
  const { measures } = bindBatch(parseBatch(batch), policy);
  const engine = await openNow(policy, { threads: 1 });
  const seen = { statements: 0, rows: 0, streamed: 0, columns: 0 };
  const watch = new Proxy(engine as Snapshot, {
    get(target, property) {
      if (property === 'rows')
        return async (statement: Statement) => {
          const found = await target.rows(statement);
          seen.statements++;
          seen.rows += found.open().length;
          return found;
        };
      if (property === 'stream')
        return async function* (statement: Statement) {
          for await (const chunk of target.stream(statement)) {
            seen.streamed += chunk.open().rows;
            seen.columns = chunk.open().columns.length;
            yield chunk;
          }
        };
      const value = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await countCells(watch, policy, measures);
  const size = (await engine.size()).open();
  await engine.close();
  return { seen, told: executionPlan(measures, policy)(size), blind: executionPlan(measures, policy)() };
}
const histograms = (count: number) => ({
  queries: Array.from({ length: count }, (_, i) => ({
    kind: 'histogram',
    column: 'g',
    where: [{ column: 'age', op: '>', value: i }],
  })),
});

describe('the counting method', () => {
  it.each([
    ['one table', 'small.csv', { kind: 'histogram', column: 'g' }],
    ['tables over the same rows', 'small.csv', { queries: [{ kind: 'mean', column: 'age', by: ['g'] }, { kind: 'count' }] }],
    ['options, of which a row has several', 'small.csv', { kind: 'histogram', column: 'media' }],
    ['texts that nobody expects', 'odd.csv', { kind: 'histogram', column: 'g' }],
  ])('the database counts: %s', async (_, file, batch) => {
    const { seen, told: plan, blind } = await watched(file, batch);
    expect(plan).toEqual(blind);
    expect(plan.where).toBe('database');
    expect(seen.streamed).toBe(0);
    expect(seen.rows).toBeLessThanOrEqual(plan.database!.rows);
    expect(seen.statements).toBeGreaterThanOrEqual(plan.database!.statements);
    expect(seen.statements).toBeLessThanOrEqual(2 * plan.database!.statements);
  });

  it('rows are counted one by one for many questions on a short table; the size decides only if it is public', async () => {
    const { seen, told: plan, blind } = await watched('small.csv', histograms(12));
    expect(plan).toEqual({ where: 'here', streamed: { columns: ['age', 'g'], upTo: 16_666_666 } } satisfies ExecutionPlan);
    expect(seen).toMatchObject({ statements: 0, streamed: 30, columns: 2 });
    expect(blind).toMatchObject({ where: 'by size', streamed: plan.streamed!, database: { statements: 12 } });
  });

  it('plans state the counting method, as JSON and in words', async () => {
    writeFileSync(
      join(folder, 'policy.yaml'),
      'data: { source: small.csv }\nprotect: { secret: row }\nbudget: { epsilon: 1 }\ndependence: none\ncolumns:\n  g: { type: category, values: [a, b, c] }\n',
    );
    const plan = ['plan', 'policy.yaml', '--query', '{"kind":"histogram","column":"g"}'];
    const { out } = await fugu({ cwd: folder, env: {} }, ...plan, '--json');
    expect(JSON.parse(out).counting).toEqual({ where: 'database', database: { statements: 1, rows: 10_009 } });
    const words = await fugu({ cwd: folder, env: {} }, ...plan);
    expect(words.out).toContain('Rows are counted by the database in one statement, of which at most 10,009 rows come back.');
  });
});
