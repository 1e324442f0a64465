import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countsOfNotes, mostMemory } from '../memory.js';
import { server, Town } from './town.js';

describe.skipIf(!server)('memory beside a database', () => {
  let town: Town;
  beforeAll(async () => {
    town = await Town.open('memory');
  });
  afterAll(() => town?.close());

  it('stays below 300 MB where rows are long, also behind many short ones', async () => {
    const short = 9000;
    const long = 5000;
    // Each of them another text of 100,000 letters: half a gigabyte that has to come through.
    await town.run(
      `CREATE TABLE notes AS SELECT CASE WHEN i <= ${short} THEN 'a' ELSE repeat(md5(CAST(i AS TEXT)), 3125) END AS note FROM generate_series(1, ${short + long}) AS i`,
    );
    await town.run('GRANT SELECT ON notes TO reader');
    const { told, bytes } = await countsOfNotes(`source: "${town.address()}", table: notes`);
    console.log(`${(bytes / 1e6).toFixed(0)} MB`);
    expect(told).toEqual([short, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(bytes).toBeLessThan(mostMemory);
  });
});
