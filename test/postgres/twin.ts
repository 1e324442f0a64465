import { quoted, type Twins } from '../engine-equal.js';
import { renaming, twinsWith } from '../twins.js';
import type { PostgresTown } from './town.js';

const type = renaming([
  [/^VARCHAR$/, 'TEXT'],
  [/^DOUBLE$/, 'DOUBLE PRECISION'],
  [/^FLOAT$/, 'REAL'],
  [/^UTINYINT|TINYINT$/, 'SMALLINT'],
  [/^HUGEINT$/, 'NUMERIC(39,0)'],
  [/^UBIGINT$/, 'NUMERIC(20,0)'],
  [/^DECIMAL(\(.*\))$/, 'NUMERIC$1'],
]);

export const postgresTwins = (town: PostgresTown): Twins =>
  twinsWith({
    type,
    make: async (table, columns, cells) => {
      await town.run(`DROP TABLE IF EXISTS "${table}"`);
      await town.run(`CREATE TABLE "${table}" (${columns.map(([name, own]) => `"${name}" ${own}`).join(', ')})`);
      for (let from = 0; from < cells.length; from += 500) {
        const part = cells.slice(from, from + 500).map((row) => `(${row.map(quoted).join(', ')})`);
        await town.run(`INSERT INTO "${table}" VALUES ${part.join(', ')}`);
      }
    },
    source: (table, more) => town.source(table, more),
    close: () => town.close(),
  });
