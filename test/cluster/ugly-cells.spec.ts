import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Client } from '../../src/engine/trino/client.js';
import { type Course, type File, fuzz, neighboursDiffer, type Table, type Tally, wanted } from '../cell-fuzz.js';
import { trinoTypes } from '../ugly-cells.js';
import { cluster, Town } from './town.js';

/** The fuzz of stored types, grids and operators, which every engine runs; here a slice of it, because statements are slow. */
describe.skipIf(!cluster)('one ugly cell in a cluster', () => {
  let town: Town;
  beforeAll(async () => {
    town = await Town.open('memory', 'ugly');
  });
  afterAll(() => town?.close());
  afterEach(() => vi.restoreAllMocks());

  const write = async (named: string, table: Table): Promise<readonly File[]> => {
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

  it('never decides between an answer and a fault, and all ways of counting read it as a plain reference does', {
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

  /** Statements as they are sent; what a table is called is no part of them. */
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

  it('never decides what is asked of the cluster, in how many statements, and how that ends', { timeout: 1e7 }, async () => {
    const { tried, asked, wrong } = await neighboursDiffer(1, { ...course(), most: 3, blocks: false, wire });
    if (wanted > 0) console.log(`neighbours: ${tried} tried, ${asked} questions of each, ${wrong.length} wrong`);
    expect(wrong.slice(0, 5)).toEqual([]);
    expect([tried > 2, asked > 20]).toEqual([true, true]);
  });
});
