import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countsOfNotes, mostMemory } from '../memory.js';
import { ClusterTown, cluster } from './town.js';

// The memory catalog of a cluster has less room.
describe.skipIf(!cluster?.iceberg)('memory of our process in front of a cluster', () => {
  let town: ClusterTown;
  beforeAll(async () => {
    town = await ClusterTown.open('iceberg', 'memory');
  });
  afterAll(() => town?.close());

  it('our process stays below 300 MB with long rows, even behind many short ones', async () => {
    const short = 9000;
    const long = 2000;
    // Each of them another text of 100,000 letters.
    await town.run(
      `CREATE TABLE ${town.of('notes')} AS SELECT CASE WHEN i <= ${short} THEN 'a' ELSE lpad('', 100000, to_hex(md5(to_utf8(CAST(i AS VARCHAR))))) END AS note FROM UNNEST(sequence(1, 10000)) AS a(x) CROSS JOIN UNNEST(sequence(0, 1)) AS b(y) CROSS JOIN UNNEST(ARRAY[x + 10000 * y]) AS c(i) WHERE i <= ${short + long}`,
    );
    const { told: counts, bytes } = await countsOfNotes(`source: "${town.address()}", table: notes`);
    console.log(`${(bytes / 1e6).toFixed(0)} MB`);
    expect(counts).toEqual([short, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(bytes).toBeLessThan(mostMemory);
  });
});
