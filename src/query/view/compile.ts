import { toNumber } from '../../base/exact/rational.js';
import type { SourceColumn } from '../../data/engine/engine.js';
import { quoteName } from '../../data/engine/structure.js';
import { codesOf } from '../../policy/code.js';
import { isNumber } from '../../policy/domain.js';
import type { Column, Policy } from '../../policy/policy.js';
import { cellName } from '../count/code-cell.js';
import { type Binder, cellText, selectBoundedRows } from '../count/contribution-bound.js';
import { columnGrid, sourceColumn } from '../count/read-column.js';
import { cellSql, RowSql } from '../count/row-sql.js';
import { columnsTested } from '../count/row-test.js';
import { columnsOfView, namesPersons, placeName, policyOfView } from './declared.js';
import { beyondName, boundedTable, personIn, type ViewCell, type ViewTables, wholePersons } from './limits.js';
import { tableOfPart } from './rows-per-person.js';
import type { PersonFeature, PersonRows, View, ViewPart } from './view.js';

/** Part in SQL: rows with the person in `owner`, and cells under aliases. */
interface CompiledPart {
  readonly sql: string;
  readonly cells: ReadonlyMap<string, ViewCell>;
}

/** Persons whose rows are read: all, bounded in the statement; those within all limits, unbounded; or those beyond, chosen once. */
type RowScope = 'everybody' | 'within' | 'beyond';

/** Rows of a view as SQL over its tables, and its columns. `data`: FROM item in place of the main table. */
export function compileView(tables: ViewTables, binder: Binder, view: View, data: string): Compiled {
  const { held } = tables;
  const reading = { tables, binder, data };
  if (!held) return compileFor({ ...reading, rowScope: 'everybody' }, view);
  if (held.beyond === undefined) return compileFor({ ...reading, rowScope: 'within' }, view);
  // The main table lists all persons, so leaving persons out there leaves them out everywhere; no other table is as short.
  const others = `(SELECT * FROM ${data} AS everybody WHERE ${personIn(tables)} NOT IN (SELECT ${beyondName} FROM ${held.beyond}))`;
  const { sql, columns } = compileFor({ ...reading, rowScope: 'within', data: others }, view);
  const beyond = compileFor({ ...reading, rowScope: 'beyond', data: held.rows() ?? data }, view);
  return { sql: `${sql} UNION ALL ${beyond.sql}`, columns };
}
interface Reading {
  readonly rowScope: RowScope;
  readonly tables: ViewTables;
  readonly binder: Binder;
  /** FROM item in place of the main table. */
  readonly data: string;
}
interface Compiled {
  readonly sql: string;
  readonly columns: readonly SourceColumn[];
}

function compileFor(reading: Reading, view: View): Compiled {
  const { tables, data } = reading;
  const { policy } = tables;
  const read = view.parts.map((part) =>
    part.rows.form === 'perPerson' ? readPersons(reading, part.rows) : readTable(reading, part),
  );
  const at = (as: string) => view.parts.findIndex((part) => part.as === as);
  const cellOf = (as: string, column: string) => {
    const { alias, source, codes } = read[at(as)]!.cells.get(column)!;
    return { cell: `t${at(as)}.${alias}`, source, codes };
  };
  const equal = (a: ReturnType<typeof cellOf>, b: ReturnType<typeof cellOf>) => {
    const whole = ({ source, codes }: ReturnType<typeof cellOf>) => source.type === 'integer' && !codes;
    const name = ({ cell, source, codes }: ReturnType<typeof cellOf>) => cellName(tables.dialect, source, codes, cell);
    return whole(a) && whole(b) ? `${a.cell} = ${b.cell}` : `${name(a)} = ${name(b)}`;
  };
  const joins = view.parts.slice(1).map((part, i) => {
    const persons = part.beside ? part.beside.map((as) => `t${at(as)}.owner`) : ['t0.owner'];
    const same = tableOfPart(policy, part)?.public ? [] : persons.map((owner) => `t${i + 1}.owner = ${owner}`);
    const on = part.on.map(({ left, column }) => equal(cellOf(left.as, left.column), cellOf(part.as, column)));
    return ` ${part.optional ? 'LEFT JOIN' : 'JOIN'} (${read[i + 1]!.sql}) AS t${i + 1} ON ${[...same, ...on].join(' AND ')}`;
  });
  const names = columnsOfView(policy, view);
  const selected: string[] = [];
  const columns = names.map(({ as, name, own }, i): SourceColumn => {
    const { source, alias, placeAlias: places } = read[at(as)]!.cells.get(own)!;
    selected.push(`t${at(as)}.${alias} AS ${quoteName(name)}`);
    if (places === undefined) return { name, type: source.type };
    selected.push(`t${at(as)}.${places} AS ${placeName}${i}`);
    return { name, type: source.type, places: { column: `${placeName}${i}`, grid: source.places!.grid } };
  });
  // Rows of persons that the main table does not list belong to nobody.
  const named = namesPersons(view) ? '' : ` WHERE t0.owner IN (SELECT ${personIn(tables)} FROM ${data} AS persons)`;
  const sql = `SELECT ${[`t0.owner AS ${quoteName(policy.protect.unit!)}`, ...selected].join(', ')} FROM (${read[0]!.sql}) AS t0${joins.join('')}${named}`;
  return { sql, columns: [...columns, { name: policy.protect.unit!, type: wholePersons(tables) ? 'integer' : 'text' }] };
}

function readTable({ rowScope, tables, binder, data }: Reading, part: ViewPart): CompiledPart {
  const { dialect, policy, held } = tables;
  const table = tableOfPart(policy, part);
  const { cells, columns, person, cut } = boundedTable(tables, table, data);
  const owned = [...columns, ...(table?.public ? [] : [[person, 'owner'] as const])];
  const kept = rowScope === 'beyond' || table?.public ? held?.rows(table?.name) : undefined;
  if (kept === undefined && (rowScope !== 'within' || table?.public)) {
    const where = rowScope === 'beyond' &&
      !table?.public && { where: `${person} IN (SELECT ${beyondName} FROM ${held!.beyond})` };
    return { sql: selectBoundedRows(dialect, binder, owned, { ...cut, ...where }), cells };
  }
  const listed = owned.map(([expression, alias]) => `${expression} AS ${alias}`).join(', ');
  const from = kept === undefined ? cut.from : `${kept} AS fugu_rows`;
  // Rows without a person find no partner, and the main table does not list them.
  return { sql: `SELECT ${listed} FROM ${from}${table ? '' : ` WHERE ${person} IS NOT NULL`}`, cells };
}

/** One row per person, computed from that person's rows alone. */
function readPersons(reading: Reading, { of, filter, features }: PersonRows): CompiledPart {
  const { tables, binder } = reading;
  const { dialect, policy } = tables;
  const declared = policyOfView(policy, of);
  const { sql, columns } = compileFor(reading, of);
  const names = [
    ...new Set([
      ...columnsTested(filter),
      ...features.flatMap((f) => ('column' in f ? ['by' in f ? f.by : f.column, f.column] : [])),
    ]),
  ];
  const alias = new Map(names.map((name, i) => [name, `v${i}`]));
  const cell = (name: string) => alias.get(name)!;
  const source = { dialect, policy: declared, columns };
  const row = new RowSql(source, binder, alias);
  const read = `SELECT ${[`${quoteName(policy.protect.unit!)} AS owner`, ...names.map((name) => `${cellSql(source, name)} AS ${cell(name)}`)].join(', ')} FROM (${sql}) AS seen`;
  const tests = filter.map((test) => row.passes(test));
  const passing = `SELECT * FROM (${read}) AS read${tests.length > 0 ? ` WHERE ${tests.join(' AND ')}` : ''}`;
  const given = (name: string) => row.answered(name);
  const place = (name: string) => `CASE WHEN ${given(name)} THEN ${row.number(name).position} END`;
  /** Order of values that are otherwise tied; categories by their code. */
  const codes = (name: string) => categoryCodes(declared.columns.get(name)!);
  const textOfCell = (name: string) => cellText(dialect, sourceColumn(columns, name), codes(name), cell(name));
  const value = (name: string) =>
    isNumber(declared.columns.get(name)!) ? `coalesce(${place(name)}, -1)` : `coalesce(${textOfCell(name)}, '')`;
  const counts = features.flatMap((f, k) =>
    f.how === 'usual'
      ? [`count(*) OVER (PARTITION BY owner, ${codes(f.column) ? textOfCell(f.column) : cell(f.column)}) AS n${k}`]
      : [],
  );
  const ranks = features.flatMap((f, k) => {
    const first = (test: string, then: string) =>
      `row_number() OVER (PARTITION BY owner ORDER BY CASE WHEN ${test} THEN 0 ELSE 1 END, ${then}) AS r${k}`;
    if (f.how === 'usual') return [first(given(f.column), `n${k} DESC, ${value(f.column)}`)];
    if (f.how === 'first' || f.how === 'last')
      return [first(given(f.by), `${place(f.by)}${f.how === 'last' ? ' DESC' : ''}, ${value(f.column)}`)];
    return [];
  });
  const counted = counts.length > 0 ? `SELECT *, ${counts.join(', ')} FROM (${passing}) AS passing` : passing;
  const ranked = ranks.length > 0 ? `SELECT *, ${ranks.join(', ')} FROM (${counted}) AS counted` : counted;
  const values = features.map(
    (f, k) => `${featureValue(tables, declared, f, { cell, given, place, rank: `r${k}`, columns })} AS c${k}`,
  );
  const cells = new Map(
    features.map((f, k) => {
      const category = 'column' in f && !isNumber(declared.columns.get(f.column)!);
      const number = f.how === 'count' ? 'integer' : 'real';
      const type = category ? sourceColumn(columns, f.column).type : number;
      const known = category ? codes(f.column) : undefined;
      return [f.name, { alias: `c${k}`, source: { name: f.name, type }, ...(known && { codes: known }) }] as const;
    }),
  );
  return { sql: `SELECT ${['owner', ...values].join(', ')} FROM (${ranked}) AS ranked GROUP BY owner`, cells };
}

/** Categories are read by their codes only. */
const categoryCodes = (column: Column): readonly string[] | undefined =>
  column.type === 'category' ? codesOf(column) : undefined;

interface FeatureCells {
  readonly cell: (name: string) => string;
  readonly given: (name: string) => string;
  readonly place: (name: string) => string;
  readonly rank: string;
  readonly columns: readonly SourceColumn[];
}

function featureValue(
  { dialect }: ViewTables,
  declared: Policy,
  f: PersonFeature,
  { cell, given, place, rank, columns }: FeatureCells,
): string {
  if (f.how === 'count') return dialect.whole('count(*)');
  const whole = isNumber(declared.columns.get(f.column)!);
  const by = f.how === 'usual' ? f.column : 'by' in f && f.by;
  const chosen = by ? `${rank} = 1 AND ${given(by)}` : 'true';
  // Of one row at most; not every database has a largest truth value.
  if (!whole)
    return `${sourceColumn(columns, f.column).type === 'boolean' ? 'bool_or' : 'max'}(CASE WHEN ${chosen} THEN ${cell(f.column)} END)`;
  const { low, step, lowUnits, stride, unit } = columnGrid(declared, f.column);
  const { real, constant } = dialect;
  const total = (x: string) => dialect.total?.(x, Number.POSITIVE_INFINITY) ?? `sum(${x})`;
  const number = (position: string) => `${constant(toNumber(low))} + ${position} * ${constant(toNumber(step))}`;
  const at = place(f.column);
  if (f.how === 'sum') return `${real(total(`${at} * ${stride} + (${lowUnits})`))} * ${constant(toNumber(unit))}`;
  if (f.how === 'mean') return number(`(${real(total(at))} / nullif(${real(`count(${at})`)}, ${constant(0)}))`);
  if (f.how === 'least' || f.how === 'most') return number(real(`${f.how === 'least' ? 'min' : 'max'}(${at})`));
  return number(real(`max(CASE WHEN ${chosen} THEN ${at} END)`));
}
