import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withSnapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { trimCode } from '../../src/policy/code.js';
import { gridOf } from '../../src/policy/grid.js';
import type { NumberColumn } from '../../src/policy/policy.js';
import { bindBatch } from '../../src/query/bind.js';
import { countByDatabase, countStreaming } from '../../src/query/count/count.js';
import { numberExpression, numberReading, sourceColumn } from '../../src/query/count/read-column.js';
import { parseBatch } from '../../src/query/parse.js';
import { number, samplePolicy } from '../sample-policy.js';
import { gridPositionOf, parseNumberText, type StoredType, seededPick, storedTypes, type UglyCell } from '../ugly-cells.js';
import { ClusterTown, cluster } from './town.js';

/** Types that both know; unsigned and huge ones go over as decimals in equal.spec.ts. */
const known = /^(BOOLEAN|TINYINT|SMALLINT|INTEGER|BIGINT|FLOAT|DOUBLE|DECIMAL\(.*\)|VARCHAR)$/;
const types = storedTypes(seededPick(5)).filter(({ type }) => known.test(type));
const grids = [
  number('x', '0', '10'),
  number('x', '-2.5', '7.25', '0.05'),
  number('x', '0', '1000000', '1000', { missing: ['0', '99'] }),
  number('x', '-4503599627370496', '4503599627370496', '16384'),
  number('x', '0', '1', '0.000001'),
  number('x', '-1000', '100000', '1', { missing: ['-1', '5'] }),
] as NumberColumn[];

describe.skipIf(!cluster)('every cell at the edge of its type, on every grid', () => {
  let town: ClusterTown;
  beforeAll(async () => {
    town = await ClusterTown.open('memory', 'cells');
  });
  afterAll(() => town?.close());

  const expectedText = ({ shown }: StoredType, cell: UglyCell) =>
    shown === 'text' ? (cell.text === null ? undefined : parseNumberText(cell.text)) : cell.number;

  it.each(types.map((stored) => [stored.type, stored] as const))(
    '%s: every cell is read as by hand, independent of the others, and none fails',
    async (type, stored) => {
      const own = type === 'FLOAT' ? 'REAL' : type;
      const cells = stored.cells.filter(({ text }) => text === null || text.length < 5000);
      const written = cells.map(({ text }, k) => [`${k}`, text]);
      const table = await town.table([['k', 'x'], ...written], ['INTEGER', ...(own === 'VARCHAR' ? [] : [own])]);
      const engine = await openEngine(town.source(table));
      const found = await withSnapshot(engine, async (data) => {
        const column = sourceColumn(await data.columns(), 'x');
        const readings = grids.map((declared) => {
          const grid = gridOf(declared);
          const { present, position, reaches, inside } = numberReading(data.dialect, column, grid, 'y');
          const middle = Math.ceil(grid.last / 2);
          const tests = [reaches(1), reaches(middle), reaches(grid.last), inside(1, middle), inside(0, grid.last)];
          return [`CASE WHEN ${present} THEN ${position} END`, ...tests.map((test) => `coalesce(${test}, false)`)];
        });
        const trimmed = column.type === 'text' ? data.dialect.trimmed('x') : `''`;
        const sql = `SELECT k, ${trimmed}, ${readings.flat().join(', ')} FROM (SELECT k, x, ${numberExpression(data.dialect, column)} AS y FROM fugu_data) AS cells ORDER BY k`;
        const rows = (await data.rows({ sql, values: [] })).open();
        const policy = samplePolicy([grids[0]!]);
        const { measures } = bindBatch(parseBatch([{ kind: 'sum', column: 'x' }, { kind: 'count', where: [{ column: 'x', op: 'missing' }] }]), policy); // biome-ignore format: one line
        const counts = [await countByDatabase(data, policy, measures), await countStreaming(data, policy, measures)].map((way) => way.map((cell) => cell.open()[0])); // biome-ignore format: one line
        return { rows, counts };
      });
      await engine.close();
      const places = grids.map((declared) => {
        const grid = gridOf(declared);
        return cells.map((cell) => {
          const value = expectedText(stored, cell);
          return value === undefined ? -1 : gridPositionOf(value, { ...grid, missing: declared.missing });
        });
      });
      for (const [k, cell] of cells.entries()) {
        const [, text, ...values] = found.rows[k]!;
        if (stored.shown === 'text')
          expect([cell.sql, text]).toEqual([cell.sql, cell.text === null ? null : trimCode(cell.text)]);
        const expected = grids.flatMap((declared, g) => {
          const { last } = gridOf(declared);
          const [p, middle] = [places[g]![k]!, Math.ceil(last / 2)];
          // A missing code is compared like any number: `inside` excludes it.
          const bare = (() => {
            const value = expectedText(stored, cell);
            return value === undefined ? -1 : gridPositionOf(value, { ...gridOf(declared), missing: [] });
          })();
          const infinite = bare < 0;
          const at = [1, middle, last].map((from) =>
            infinite ? values[g * 6 + 1 + [1, middle, last].indexOf(from)] : bare >= from,
          );
          return [p < 0 ? null : BigInt(p), ...at, p >= 1 && p <= middle, p >= 0];
        });
        expect([cell.sql, values]).toEqual([cell.sql, expected]);
      }
      const sum = places[0]!.reduce((total, p) => total + BigInt(Math.max(0, p)), 0n);
      const missing = BigInt(places[0]!.filter((p) => p < 0).length);
      expect(found.counts).toEqual([[sum, missing], [sum, missing]]); // biome-ignore format: one line
    },
  );
});
