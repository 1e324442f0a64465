import type { Statement } from '../../data/engine/engine.js';
import { Binder, type RowSource } from './contribution-bound.js';
import type { Counting, GroupKey, JointKey } from './measure.js';
import { missingPlace, type RowSql } from './row-sql.js';
import { type GroupedRows, Grouping, sumSql } from './rows-to-groups.js';

/** Cells with one integer for each counting; absent cells are 0. Codes are looked up once per distinct code, not once per row. */
export function cellsStatement(of: RowSource, countings: readonly Counting[]): Statement {
  const binder = new Binder(of.dialect);
  const sql = cellsSql(of, new Grouping(of, binder, countings), countings, binder);
  return { sql, values: binder.values };
}

function cellsSql(of: RowSource, grouping: Grouping, countings: readonly Counting[], binder: Binder): string {
  const { keys, value } = countings[0]!;
  const { whole, once } = of.dialect;
  const distinct = value.kind === 'distinct';
  const groups = distinct ? grouping.distinctValues() : grouping.summed();
  // One group is the one cell.
  if (keys.length === 0) return `SELECT ${whole('0')} AS cell, ${distinct ? 'count(a0)' : 'g.*'} FROM (${groups.sql}) AS g`;
  const cells = cellNumber(of, binder, grouping.row, keys);
  const { cell, joins } = cells;
  const folds = keys.some(mayFold);
  if (distinct && folds && once) return foldDistinct(of, once, groups, cells);
  const different = folds ? 'count(DISTINCT a0)' : 'count(a0)';
  const totals = countings.map((_, j) => (distinct ? different : sumSql(of, `a${j}`)));
  const placed = `SELECT ${cell} AS cell, ${countings.map((_, j) => `a${j}`).join(', ')} FROM (${groups.sql}) AS g${joins}`;
  // HAVING, not WHERE: the planner would push a condition on cells down to every row.
  return `SELECT ${whole('cell')} AS cell, ${totals.join(', ')} FROM (${placed}) AS cells GROUP BY 1 HAVING count(cell) > 0`;
}

/** Two groups may fall into one cell: spellings of a code, codes pooled in one group, missing values. Grid places map one to one. */
const mayFold = ({ kind }: GroupKey): boolean => kind !== 'grid' && kind !== 'bin';

/**
 * Distinct values per cell from those per group. A cell that is one group, as nearly all are, takes the group's number;
 * cells made of several groups count their distinct values again.
 */
function foldDistinct(
  of: RowSource,
  once: (name: string, query: string) => string,
  distinct: GroupedRows,
  { cell, joins }: ReturnType<typeof cellNumber>,
): string {
  const { whole } = of.dialect;
  const by = distinct.by.join(', ');
  const counted = `SELECT ${by}, count(a0) AS many FROM fugu_told GROUP BY ${by}`;
  const placed = `SELECT g.*, ${cell} AS cell FROM (${counted}) AS g${joins}`;
  const shared = `SELECT *, count(*) OVER (PARTITION BY cell) AS sharing FROM (${placed}) AS placed`;
  const same = distinct.by.map((name) => `persons.${name} IS NOT DISTINCT FROM placed.${name}`).join(' AND ');
  const alone = `SELECT cell, many FROM fugu_placed WHERE sharing = 1 AND cell IS NOT NULL`;
  const again = `SELECT cell, count(DISTINCT a0) AS many FROM fugu_told AS persons JOIN fugu_placed AS placed ON ${same} WHERE sharing > 1 AND cell IS NOT NULL GROUP BY cell`;
  const parts = `WITH ${once('fugu_told', distinct.sql)}, ${once('fugu_placed', shared)} ${alone} UNION ALL ${again}`;
  return `SELECT ${whole('cell')} AS cell, many FROM (${parts}) AS cells`;
}

/** Cell number of a group, and the joins it needs after the groups `g`. */
function cellNumber({ dialect }: RowSource, binder: Binder, row: RowSql, keys: readonly GroupKey[]) {
  const joins: string[] = [];
  const position = (key: GroupKey, i: string): string => {
    const raw = `g.k${i}`;
    if (key.kind === 'joint') return joint(key, i);
    if (key.kind === 'grid' || key.kind === 'bin') return row.positionProxy(key, raw)?.place(raw) ?? raw;
    if (key.kind === 'options') {
      const items = key.codes.map((code, p) => `(${p}, ${binder.text(code)})`);
      items.push(`(${key.codes.length}, NULL)`);
      const named = dialect.hasAny(row.parts(key.column, raw), [`o${i}.code`]);
      const none = `NOT ${row.answered(key.column, raw)}`;
      const on = `CASE WHEN o${i}.code IS NULL THEN ${none} ELSE ${named} END`;
      joins.push(` JOIN (VALUES ${items.join(', ')}) AS o${i}(position, code) ON ${on}`);
      return `o${i}.position`;
    }
    if (row.isMulti(key.column)) return row.firstNamed(key, raw);
    const values = row.valuesIn(key);
    if (values.length === 0) return missingPlace(key);
    const items = values.map(([value, place]) => `(${value}, ${place})`);
    const on = `${row.reading(key.column).expression(raw)} = d${i}.code`;
    joins.push(` LEFT JOIN (VALUES ${items.join(', ')}) AS d${i}(code, position) ON ${on}`);
    return `coalesce(d${i}.position, ${missingPlace(key)})`;
  };
  /** Each column's position first, then the combination of positions among those allowed. */
  const joint = (key: JointKey, i: string): string => {
    const places = key.keys.map((part, c) => position(part, `${i}_${c}`));
    const items = key.support.map((combination, place) => `(${[...combination, place].join(', ')})`);
    const names = [...places.map((_, c) => `p${c}`), 'position'].join(', ');
    const equal = places.map((place, c) => `s${i}.p${c} = ${place}`).join(' AND ');
    joins.push(` LEFT JOIN (VALUES ${items.join(', ')}) AS s${i}(${names}) ON ${equal}`);
    return `coalesce(s${i}.position, ${key.size - 1})`;
  };
  const positions = keys.map((key, i) => position(key, `${i}`));
  let radix = 1;
  const terms: string[] = [];
  for (const [i, { size }] of [...keys.entries()].reverse()) {
    terms.push(`${positions[i]} * ${radix}`);
    radix *= size;
  }
  return { cell: terms.join(' + '), joins: joins.join('') };
}
