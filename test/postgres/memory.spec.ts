import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindBatch } from '../../src/query/bind.js';
import { countByDatabase, countStreaming } from '../../src/query/count/count.js';
import { parseBatch } from '../../src/query/parse.js';
import { countsOfNotes, mostMemory } from '../memory.js';
import { openNow } from '../now.js';
import { category, samplePolicy } from '../sample-policy.js';
import { quickerThan } from './quicker.js';
import { PostgresTown, server } from './town.js';

describe.skipIf(!server)('memory of our process in front of a database', () => {
  let town: PostgresTown;
  beforeAll(async () => {
    town = await PostgresTown.open('memory');
  });
  afterAll(() => town?.close());

  it('our process stays below 300 MB with long rows, even behind many short ones', async () => {
    const short = 9000;
    const long = 5000;
    // Each of them another text of 100,000 letters: half a gigabyte that has to come through.
    await town.run(
      `CREATE TABLE notes AS SELECT CASE WHEN i <= ${short} THEN 'a' ELSE repeat(md5(CAST(i AS TEXT)), 3125) END AS note FROM generate_series(1, ${short + long}) AS i`,
    );
    await town.run('GRANT SELECT ON notes TO reader');
    const { told: counts, bytes } = await countsOfNotes(`source: "${town.address()}", table: notes`);
    console.log(`${(bytes / 1e6).toFixed(0)} MB`);
    expect(counts).toEqual([short, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(bytes).toBeLessThan(mostMemory);
  });

  it('our process stays below 300 MB with a cell of 600 MB, which fails no statement', async () => {
    // More than a text may have here, and more than the server can parse there.
    await town.run(`CREATE TABLE huge AS SELECT 'a' AS note FROM generate_series(1, 50) UNION ALL SELECT repeat('x', 600000000)`);
    await town.run('GRANT SELECT ON huge TO reader');
    const { told: counts, bytes } = await countsOfNotes(`source: "${town.address()}", table: huge`);
    expect(counts).toEqual([50, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(bytes).toBeLessThan(mostMemory);
    // As the name of a person, which is missing then, and as an answer, which is missing.
    for (const [protect, missing] of [[{ secret: 'person', unit: 'note', maxRows: 90 }, 0n], [{}, 1n]] as const) {
      const policy = { ...samplePolicy([category('note', ['a', 'b'])], protect), data: { source: town.address(), table: 'huge' } };
      const { measures } = bindBatch(parseBatch([{ kind: 'histogram', column: 'note' }, { kind: 'count', where: [{ column: 'note', op: '!=', value: 'b' }] }]), policy); // biome-ignore format: one line
      const engine = await openNow(policy);
      for (const way of [countByDatabase, countStreaming])
        expect((await way(engine, policy, measures)).map((cells) => cells.open())).toEqual([[50n, 0n, missing], [50n]]);
      expect(await engine.id()).toMatch(/^[0-9a-f]{64}$/);
      await engine.close();
    } // biome-ignore format: one line
  });

  it.each([
    ['bytes', 'BYTEA', `CAST(repeat('x', 600000000) AS BYTEA)`],
    ['a list', 'TEXT[]', `ARRAY[repeat('"', 300000000), repeat('"', 300000000)]`],
    ['numbers', 'INTEGER[]', 'array_fill(1, ARRAY[10000000])'],
    ['bits', 'VARBIT', `CAST(repeat('1', 400000000) AS VARBIT)`],
    ['a document', 'JSONB', `to_jsonb(repeat(chr(1), 200000000))`],
  ])('a cell of %s whose text would be longer still fails no statement, and does not take its time', async (_, type, cell) => {
    const table = `huge_${type.replace('[]', '_list').toLowerCase()}`;
    await town.run(`CREATE TABLE ${table} (note ${type}); INSERT INTO ${table} VALUES (NULL), (${cell}); GRANT SELECT ON ${table} TO reader`); // biome-ignore format: one line
    const policy = { ...samplePolicy([category('note', ['a', 'b'])]), data: { source: town.address(), table } };
    const { measures } = bindBatch(parseBatch({ kind: 'histogram', column: 'note' }), policy);
    const engine = await openNow(policy);
    const writing = () => town.run(`SELECT octet_length(note::TEXT) FROM ${table}`).catch(() => undefined);
    const counting = async () => {
      for (const way of [countByDatabase, countStreaming])
        expect((await way(engine, policy, measures)).map((cells) => cells.open())).toEqual([[0n, 0n, 2n]]);
    };
    // Counting is quicker than writing the cell out, however busy the machine is.
    expect(await quickerThan(writing, counting)).toBe(true);
    await engine.close();
  });
});
