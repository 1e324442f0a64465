import type { Twins } from '../engine-equal.js';
import { renaming, twinsWith } from '../twins.js';
import type { ClusterTown } from './town.js';

const own = renaming([
  [/^FLOAT$/, 'REAL'],
  [/^UTINYINT$/, 'SMALLINT'],
  [/^TINYINT|SMALLINT$/, 'INTEGER'],
  [/^HUGEINT$/, 'DECIMAL(38,0)'],
  [/^UBIGINT$/, 'DECIMAL(20,0)'],
]);
const spelt = (cell: string): string => cell.replace(/^(-?)inf$/, '$1Infinity').replace(/^nan$/, 'NaN');

export const clusterTwins = (town: ClusterTown): Twins =>
  twinsWith({
    type: (type) => (type === 'VARCHAR' ? undefined : own(type)),
    make: (table, columns, cells) => {
      const written = cells.map((row) => row.map((cell, c) => (columns[c]![1] && cell ? spelt(cell) : cell)));
      return town.table([columns.map(([name]) => name), ...written], columns.map(([, type]) => type) as string[], table);
    },
    source: (table, more) => town.source(table, more),
    close: () => town.close(),
  });
