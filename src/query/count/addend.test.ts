import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownDuckDb } from '../../../test/own-duckdb.js';
import { number } from '../../../test/sample-policy.js';
import { duckdb } from '../../data/engine/duckdb/dialect.js';
import type { SourceColumn } from '../../data/engine/engine.js';
import { firstBeyond, gridOf, type NumberGrid, positionOf } from '../../policy/grid.js';
import type { NumberColumn } from '../../policy/policy.js';
import { numberReading } from './read-column.js';

const database = ownDuckDb();

type Cell = number | bigint | null;
const grid = (low: string, high: string, step: string, missing: readonly string[] = []): NumberGrid =>
  gridOf({ ...(number('x', low, high, step) as NumberColumn), missing });

/** The sum of positions and the number of rows that have one, as the database adds them up. */
async function added(on: NumberGrid, type: SourceColumn['type'], cells: readonly Cell[]): Promise<readonly [bigint, bigint]> {
  const { expression, base, short = '0', having = 'count(added)' } = numberReading(duckdb, { name: 'x', type }, on, 'x').addend(cells.length); // biome-ignore format: one line
  const stored = cells.map((x) => `(CAST(${x === null ? 'NULL' : `'${x}'`} AS ${type === 'real' ? 'DOUBLE' : 'BIGINT'}))`);
  const rows = `(SELECT *, ${expression} AS added FROM (VALUES ${stored.join(', ')}) AS v(x)) AS r`;
  const sql = `SELECT CAST(CAST(sum(added) AS HUGEINT) + ${short} AS VARCHAR), CAST(${having} AS VARCHAR) FROM ${rows}`;
  const [[sum, count]] = (await database.connection.runAndReadAll(sql)).getRows() as [[string, string]];
  return [BigInt(sum) - BigInt(count) * BigInt(base), BigInt(count)];
}
/** The same, cell by cell. */
function byHand(on: NumberGrid, cells: readonly Cell[]): readonly [bigint, bigint] {
  const places = cells.map((x) => (x === null ? -1 : positionOf(on, Number(x)))).filter((p) => p >= 0);
  return [places.reduce((sum, p) => sum + BigInt(p), 0n), BigInt(places.length)];
}

const ends = [0, -0, 5e-324, -5e-324, 2 ** 53, -(2 ** 53), 2 ** 63, -(2 ** 63), Number.MAX_VALUE, -Number.MAX_VALUE];
const endless = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, null];
const bits = new DataView(new ArrayBuffer(8));
/** The double that many steps above 0. */
function moved(x: number, by: bigint): number {
  bits.setFloat64(0, x);
  bits.setBigInt64(0, bits.getBigInt64(0) + by);
  return bits.getFloat64(0);
}

const grids = [
  grid('0', '100', '0.1'),
  grid('-7', '3', '0.25', ['-1', '99', '1e30']),
  grid('5', '5', '1'),
  grid('1000000', '1000001', '0.000001'),
  grid('-1e100', '1e100', '1e99'),
  grid('0', '1e-98', '1e-100'),
];

describe('summed grid positions', () => {
  it("the database's sum of positions equals the sum row by row, for doubles at every end of the grid", async () => {
    for (const on of grids) {
      const beyond = firstBeyond(on, 2 ** 63);
      const near = [moved(beyond, -1n), beyond, moved(beyond, 1n)];
      const own = [on.from, on.top, on.from + 1 / on.rate / 2, ...on.missing];
      for (const cell of [...ends, ...endless, ...near, ...own]) {
        const cells = [cell, on.top, null];
        expect(await added(on, 'real', cells), `${cell} from ${on.from} to ${on.top}`).toEqual(byHand(on, cells));
      }
    }
  });

  it("the database's sum of positions equals the sum row by row, for random doubles", async () => {
    const cell = fc.oneof(fc.double(), fc.double({ min: -20, max: 120, noNaN: true }), fc.constantFrom(...ends, ...endless));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...grids), fc.array(cell, { minLength: 1, maxLength: 12 }), async (on, cells) => {
        expect(await added(on, 'real', cells)).toEqual(byHand(on, cells));
      }),
      { numRuns: 200 },
    );
  });

  it("the database's sum of positions equals the sum row by row, for whole numbers", async () => {
    const whole = [
      grid('17', '90', '1'),
      grid('-40', '-3', '1', ['-9', '99']),
      grid('0', '7', '1'),
      grid('-1000000000000', '1', '1'),
      grid('281474976700000', '281474976710000', '1'),
    ];
    const cell = fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.bigInt({ min: -60n, max: 110n }),
      fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, -9n, 99n, null),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...whole), fc.array(cell, { minLength: 1, maxLength: 12 }), async (on, cells) => {
        expect(await added(on, 'integer', cells)).toEqual(byHand(on, cells));
      }),
      { numRuns: 200 },
    );
  });
});
