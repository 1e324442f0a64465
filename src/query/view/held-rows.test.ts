import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainly } from '../../../test/plainly.js';
import { type Engine, type Snapshot, withSnapshot } from '../../data/engine/engine.js';
import { openEngine } from '../../data/terms/open.js';
import { readPolicy } from '../../data/terms/read.js';
import type { Policy } from '../../policy/policy.js';
import { bindBatch } from '../bind.js';
import { countCells } from '../count/count.js';
import { parseSql } from '../sql/sql.js';

const policyText = `data: {source: people.csv, links: [home]}
protect: {secret: person, unit: person, maxRows: 1}
budget: {epsilon: 1}
columns: {region: {type: category, values: [north, south]}}
tables:
  visits: {source: visits.csv, unit: person, maxRows: 2, columns: {cost: {type: integer, bounds: [0, 100]}, clinic: {type: category, values: [a, b]}}, links: [clinic]}
  clinics: {source: clinics.csv, public: true, key: clinic, columns: {size: {type: category, values: [small, large]}}}
dependence: none
`;
const statements = [
  'SELECT region, COUNT(*), AVG(cost) FROM visits JOIN people USING (person) GROUP BY region',
  'SELECT clinic, COUNT(DISTINCT person) FROM visits GROUP BY clinic',
  'SELECT size, SUM(cost) FROM visits JOIN clinics USING (clinic) GROUP BY size',
  'SELECT region, AVG(n) FROM people LEFT JOIN (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS v USING (person) GROUP BY region',
];

let folder: string;
let policy: Policy;
let engine: Engine;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fugu-held-'));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('policy.yaml', policyText);
  // Ann has two rows in the data and four visits, bob one and three, cid one and one; dan is in no data, and some rows are nobody's.
  await write('people.csv', 'person,home,region\nann,h1,north\nann,h2,south\nbob,h2,south\n cid ,h3,north\n,h3,north\n');
  await write('visits.csv', visits);
  await write('clinics.csv', 'clinic,size\na,small\na,large\nb,large\n');
  policy = await readPolicy(join(folder, 'policy.yaml'));
  engine = await openEngine(policy);
});
afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});
const visits =
  'person,cost,clinic\nann,1,a\nann,2,b\nann,4,a\nann,4,a\nbob,8,b\nbob,16,a\nbob,32,\ncid,64,b\ndan,99,a\n,98,a\ndan,97,b\ndan,96,b\n';

/** The same where nothing can be held, so every statement bounds the rows of all persons. */
function holdingNothing(data: Snapshot): Snapshot {
  const whole = data.whole === data ? undefined : holdingNothing(data.whole);
  const bare: Snapshot = Object.defineProperty({ ...plainly(data), close: async () => undefined }, 'whole', {
    get: () => whole ?? bare,
  });
  return bare;
}
const counted = async (data: Snapshot, sql: string) =>
  (await countCells(data, policy, bindBatch(parseSql(sql, policy), policy).measures)).map((cells) => cells.open());

describe('rows of persons beyond a limit that were chosen once', () => {
  it.each(statements)('the held rows are those that every statement would choose: %s', async (sql) => {
    await withSnapshot(engine, async (data) => {
      expect(data.whole.hold).toBeDefined();
      const held = await counted(data, sql);
      expect(held.flat().some((n) => n > 0n)).toBe(true);
      expect(held).toEqual(await counted(holdingNothing(data), sql));
      expect(await counted(data, sql)).toEqual(held);
    });
  });

  it.each(statements)('the held rows are chosen among the remaining rows where some are left out: %s', async (sql) => {
    for (const home of ['h1', 'h2']) {
      const without = await engine.without('home', [home]);
      await withSnapshot(without, async (data) => {
        expect(await counted(data, sql)).toEqual(await counted(holdingNothing(data), sql));
      });
      await without.close();
    }
  });

  it('the held rows are chosen again when the data has changed', async () => {
    const sql = statements[0]!;
    const before = await withSnapshot(engine, (data) => counted(data, sql));
    await writeFile(join(folder, 'visits.csv'), `${visits}cid,100,a\ncid,100,a\ncid,100,a\n`);
    await withSnapshot(engine, async (data) => {
      const after = await counted(data, sql);
      expect(after).not.toEqual(before);
      expect(after).toEqual(await counted(holdingNothing(data), sql));
    });
    await writeFile(join(folder, 'visits.csv'), visits);
    expect(await withSnapshot(engine, (data) => counted(data, sql))).toEqual(before);
  });
});
