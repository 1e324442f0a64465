import type { Dialect } from '../../data/engine/dialect.js';
import { type DerivedColumn, type IntegerExpression, lastPlace } from './derived.js';
import type { RowTest } from './row-test.js';

/** SQL readers for the cells of a row. */
interface CellExpressions {
  readonly placeOf: (column: string) => string;
  readonly passes: (test: RowTest) => string;
}

/** Rows extended by the places of derived columns as d0, d1, …; NULL for no value or one outside the domain. */
export const withDerivedPlaces = (
  dialect: Dialect,
  rows: string,
  derived: readonly DerivedColumn[],
  cells: CellExpressions,
): string =>
  derived.reduce((from, { of, column }, i) => {
    const fence = dialect.fence ?? '';
    const looked = tableInputs(of);
    const known = new Map(looked.map((whole, k) => [whole, `k${i}_${k}`]));
    const extraColumns = looked.map((whole) => `${integerSql(dialect, whole, cells)} AS ${known.get(whole)}`);
    const rowsWith = looked.length === 0 ? from : `SELECT *, ${extraColumns.join(', ')} FROM (${from}) AS k${i}${fence}`;
    const reckoned = `SELECT *, ${integerSql(dialect, of, cells, known)} AS w${i} FROM (${rowsWith}) AS r${i}${looked.length > 0 ? fence : ''}`;
    return `SELECT *, CASE WHEN w${i} BETWEEN 0 AND ${lastPlace(column)} THEN w${i} END AS d${i} FROM (${reckoned}) AS q${i}`;
  }, rows);

/** Inputs of long look-up tables, computed once per row because every edge refers to them. */
function tableInputs(whole: IntegerExpression): readonly IntegerExpression[] {
  if (whole.kind === 'pick') return whole.edges.length > 16 ? [whole.of] : tableInputs(whole.of);
  if (whole.kind === 'sum' || whole.kind === 'product') return whole.of.flatMap(tableInputs);
  if (whole.kind === 'quotient') return tableInputs(whole.of);
  return whole.kind === 'choose' ? [...whole.cases.map(({ give }) => give), whole.otherwise].flatMap(tableInputs) : [];
}

/** Constant of 64 bits: a database may give a small constant a narrower type. */
function integerSql(
  dialect: Dialect,
  whole: IntegerExpression,
  cells: CellExpressions,
  known?: ReadonlyMap<IntegerExpression, string>,
): string {
  const there = known?.get(whole);
  if (there !== undefined) return there;
  const own = (part: IntegerExpression) => `(${integerSql(dialect, part, cells, known)})`;
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
      return `CASE WHEN ${of} IS NOT NULL THEN ${pickSql(dialect, of, whole.edges, whole.values)} END`;
    }
    case 'choose': {
      const cases = whole.cases.map(({ when, give }) => `WHEN ${cells.passes(when)} THEN ${own(give)}`);
      return cases.length > 0 ? `CASE ${cases.join(' ')} ELSE ${own(whole.otherwise)} END` : own(whole.otherwise);
    }
  }
}

/** By halves: few comparisons for a row, however many edges there are. */
function pickSql(dialect: Dialect, of: string, edges: readonly number[], values: readonly number[]): string {
  const half = edges.length >> 1;
  if (edges.length === 0) return dialect.whole(`${values[0]}`);
  const below = pickSql(dialect, of, edges.slice(0, half), values.slice(0, half + 1));
  const above = pickSql(dialect, of, edges.slice(half + 1), values.slice(half + 1));
  return `CASE WHEN ${of} < ${edges[half]} THEN ${below} ELSE ${above} END`;
}
