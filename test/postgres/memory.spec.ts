import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtOnce } from '../fugu.js';
import { memoryOf } from '../memory.js';
import { server, Town } from './town.js';

/** What guides and figures promise of our process, whatever the rows. */
const most = 300e6;

describe.skipIf(!server)('memory beside a database', () => {
  let town: Town;
  let folder: string;
  beforeAll(async () => {
    builtOnce();
    town = await Town.open('memory');
    folder = mkdtempSync(join(tmpdir(), 'fugu-memory-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await town?.close();
  });

  it('stays below 300 MB where rows are long, also behind many short ones', async () => {
    const short = 9000;
    const long = 5000;
    // Each of them another text of 100,000 letters: half a gigabyte that has to come through.
    await town.run(
      `CREATE TABLE notes AS SELECT CASE WHEN i <= ${short} THEN 'a' ELSE repeat(md5(CAST(i AS TEXT)), 3125) END AS note FROM generate_series(1, ${short + long}) AS i`,
    );
    await town.run('GRANT SELECT ON notes TO reader');
    const policy = join(folder, 'policy.yaml');
    writeFileSync(
      policy,
      `data: { source: "${town.address()}", table: notes }
protect: { secret: row }
budget: { epsilon: 1000000 }
population: notes
ledger: ledger.db
dependence: none
columns:
  note: { type: category, values: [a, b, c, d, e, f, g, h, i] }
`,
    );
    // So many at once are counted here, row by row.
    const count = (value: string) => ({ kind: 'count', where: [{ column: 'note', op: '=', value }] });
    const { tables, bytes } = await memoryOf(policy, [...'abcdefghi'].map(count));
    expect(tables.flat()).toEqual([...'abcdefghi'].map((value) => (value === 'a' ? short : 0)));
    console.log(`${(bytes / 1e6).toFixed(0)} MB`);
    expect(bytes).toBeLessThan(most);
  }, 240_000);
});
