import type { Dialect } from '../engine/dialect.js';
import { type DerivedColumn, lastPlace, type Whole } from './derived.js';
import type { RowTest } from './row-test.js';

/** What the cells of a row are read by. */
interface Cells {
  readonly placeOf: (column: string) => string;
  readonly passes: (test: RowTest) => string;
}

/** Rows with the places of derived columns beside their cells, as d0, d1, …; NULL for none, and for what was reckoned to lie beyond the domain. */
export const withPlaces = (dialect: Dialect, rows: string, derived: readonly DerivedColumn[], cells: Cells): string =>
  derived.reduce((from, { of, column }, i) => {
    const reckoned = `SELECT *, ${wholeSql(dialect, of, cells)} AS w${i} FROM (${from}) AS r${i}`;
    return `SELECT *, CASE WHEN w${i} BETWEEN 0 AND ${lastPlace(column)} THEN w${i} END AS d${i} FROM (${reckoned}) AS q${i}`;
  }, rows);

/** All of 64 bits: what a database takes a small constant for may be less. */
function wholeSql(dialect: Dialect, whole: Whole, cells: Cells): string {
  const own = (part: Whole) => `(${wholeSql(dialect, part, cells)})`;
  switch (whole.kind) {
    case 'place':
      return dialect.whole(cells.placeOf(whole.column));
    case 'constant':
      return dialect.whole(`${whole.value}`);
    case 'none':
      return dialect.whole('NULL');
    case 'sum':
      return whole.of.map(own).join(' + ');
    case 'product':
      return whole.of.map(own).join(' * ');
    case 'quotient':
      return dialect.quotient(own(whole.of), whole.by);
    case 'pick': {
      const of = own(whole.of);
      const steps = whole.edges.map((edge, i) => `WHEN ${of} < ${edge} THEN ${dialect.whole(`${whole.values[i]}`)}`);
      const last = `WHEN ${of} IS NOT NULL THEN ${dialect.whole(`${whole.values[steps.length]}`)}`;
      return `CASE ${[...steps, last].join(' ')} END`;
    }
    case 'choose': {
      const cases = whole.cases.map(({ when, give }) => `WHEN ${cells.passes(when)} THEN ${own(give)}`);
      return cases.length > 0 ? `CASE ${cases.join(' ')} ELSE ${own(whole.otherwise)} END` : own(whole.otherwise);
    }
  }
}
