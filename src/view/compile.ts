import { Compiler } from '../count/compile.js';
import { type Cut, cellText, contentOf, cutRows } from '../count/kept-rows.js';
import { columnGrid, rawCell, sourceColumn } from '../count/read-column.js';
import { columnsTested } from '../count/row-test.js';
import type { Binder, Dialect } from '../engine/dialect.js';
import type { SourceColumn } from '../engine/engine.js';
import { quoteName, tableView } from '../engine/structure.js';
import { toNumber } from '../exact/rational.js';
import { isNumber } from '../policy/domain.js';
import type { Policy, Table } from '../policy/policy.js';
import { columnsOfView, namesPersons, placeName, policyOfView } from './declared.js';
import { tableOf } from './rows-per-person.js';
import type { Feature, Part, PersonRows, View } from './view.js';

/** What the tables of a policy look like where they are read. */
export interface Tables {
  readonly dialect: Dialect;
  readonly policy: Policy;
  /** Columns of a table; of the data where none is named. */
  readonly columns: (table?: string) => readonly SourceColumn[];
  /** Persons of whose rows in a table some are cut, where that was looked up, or that they are many; of all others every row stays. */
  readonly cut?: (table: string) => readonly (string | bigint)[] | 'many' | undefined;
}

/** A part as it is read: rows with the person in `owner`, cells under names of their own. */
interface ReadPart {
  readonly sql: string;
  readonly cells: ReadonlyMap<string, { readonly alias: string; readonly source: SourceColumn; readonly beside?: string }>;
}

/** Persons are compared as the numbers they are where every table has them so, else by their names. */
const wholePersons = (tables: Tables): boolean =>
  [undefined, ...[...(tables.policy.tables?.values() ?? [])].filter((t) => !t.public).map((t) => t.name)].every(
    (table) => sourceColumn(tables.columns(table), unitOf(tables.policy, table)).type === 'integer',
  );
const unitOf = (policy: Policy, table?: string): string =>
  (table === undefined ? policy.protect.unit : policy.tables!.get(table)!.unit)!;

function personIn(tables: Tables, table?: string): string {
  const column = sourceColumn(tables.columns(table), unitOf(tables.policy, table));
  return wholePersons(tables) ? rawCell(column) : tables.dialect.name(rawCell(column), column.type);
}
const keyIn = (tables: Tables, column: SourceColumn): string =>
  column.type === 'integer' ? rawCell(column) : tables.dialect.name(rawCell(column), column.type);

/** What of a person's rows in a table stays: one row of a key, so many of a period, so many in all. */
function limitsOf(tables: Tables, table: Table): Cut['limits'] {
  const at = (name: string) => keyIn(tables, sourceColumn(tables.columns(table.name), name));
  const key = table.key?.filter((column) => column !== table.unit) ?? [];
  return [
    ...(key.length > 0 ? [{ by: key.map(at), most: 1 }] : []),
    ...(table.period ? [{ by: [at(table.period.column)], most: table.period.maxRows }] : []),
    ...(table.public ? [] : [{ most: table.maxRows }]),
  ];
}

/** Persons who have rows beyond a limit. */
export function beyondLimits(tables: Tables, table: Table): string {
  const over = limitsOf(tables, table).map(({ by = [], most: limit }) => {
    const parts = by.map((part, i) => `${part} AS part${i}`);
    const read = `SELECT ${[`${personIn(tables, table.name)} AS person`, ...parts].join(', ')} FROM ${tableView(table.name)}`;
    const groups = ['person', ...by.map((_, i) => `part${i}`)].join(', ');
    return `SELECT person FROM (${read}) AS owned WHERE person IS NOT NULL GROUP BY ${groups} HAVING count(*) > ${limit}`;
  });
  return `SELECT DISTINCT person FROM (${over.join(' UNION ALL ')}) AS beyond`;
}

/** The rows of a view as SQL over its tables, and its columns. `data`: what stands for the data. */
export function compileView(
  tables: Tables,
  binder: Binder,
  view: View,
  data: string,
): { readonly sql: string; readonly columns: readonly SourceColumn[] } {
  const { policy } = tables;
  const read = view.parts.map((part) => readPart(tables, binder, part, data));
  const at = (as: string) => view.parts.findIndex((part) => part.as === as);
  const cellOf = (as: string, column: string) => {
    const { alias, source } = read[at(as)]!.cells.get(column)!;
    return { cell: `t${at(as)}.${alias}`, source };
  };
  const equal = (a: ReturnType<typeof cellOf>, b: ReturnType<typeof cellOf>) => {
    const { name } = tables.dialect;
    return a.source.type === 'integer' && b.source.type === 'integer'
      ? `${a.cell} = ${b.cell}`
      : `${name(a.cell, a.source.type)} = ${name(b.cell, b.source.type)}`;
  };
  const joins = view.parts.slice(1).map((part, i) => {
    const same = tableOf(policy, part)?.public ? [] : [`t${i + 1}.owner = t0.owner`];
    const on = part.on.map(({ left, column }) => equal(cellOf(left.as, left.column), cellOf(part.as, column)));
    return ` ${part.optional ? 'LEFT JOIN' : 'JOIN'} (${read[i + 1]!.sql}) AS t${i + 1} ON ${[...same, ...on].join(' AND ')}`;
  });
  const names = columnsOfView(policy, view);
  const beside: string[] = [];
  const columns = names.map(({ as, name, own }, i): SourceColumn => {
    const { source, alias, beside: places } = read[at(as)]!.cells.get(own)!;
    beside.push(`t${at(as)}.${alias} AS ${quoteName(name)}`);
    if (places === undefined) return { name, type: source.type };
    beside.push(`t${at(as)}.${places} AS ${placeName}${i}`);
    return { name, type: source.type, places: { column: `${placeName}${i}`, grid: source.places!.grid } };
  });
  // Rows of persons that the data does not name are nobody's.
  const named = namesPersons(view) ? '' : ` WHERE t0.owner IN (SELECT ${personIn(tables)} FROM ${data} AS persons)`;
  const sql = `SELECT ${[`t0.owner AS ${quoteName(policy.protect.unit!)}`, ...beside].join(', ')} FROM (${read[0]!.sql}) AS t0${joins.join('')}${named}`;
  return { sql, columns: [...columns, { name: policy.protect.unit!, type: wholePersons(tables) ? 'integer' : 'text' }] };
}

function readPart(tables: Tables, binder: Binder, part: Part, data: string): ReadPart {
  return part.rows.form === 'perPerson' ? readPersons(tables, binder, part.rows, data) : readTable(tables, binder, part, data);
}

function readTable(tables: Tables, binder: Binder, part: Part, data: string): ReadPart {
  const { dialect, policy } = tables;
  const table = tableOf(policy, part);
  const source = tables.columns(table?.name);
  const names = table ? contentOf(table.columns, table.key, table.links) : contentOf(policy.columns, policy.data.links);
  const cells = new Map(
    names.map((name, i) => {
      const column = sourceColumn(source, name);
      return [name, { alias: `c${i}`, source: column, ...(column.places && { beside: `p${i}` }) }] as const;
    }),
  );
  const columns = [...cells.values()].flatMap(({ alias, source: column, beside }) => [
    [rawCell(column), alias] as const,
    ...(beside === undefined ? [] : [[quoteName(column.places!.column), beside] as const]),
  ]);
  const person = table?.public ? '1' : personIn(tables, table?.name);
  const all: Cut = {
    from: table ? tableView(table.name) : `${data} AS fugu_rows`,
    population: policy.population,
    person,
    content: names.map((name) => cellText(dialect, sourceColumn(source, name))),
    limits: table ? limitsOf(tables, table) : [{ most: policy.protect.maxRows }],
  };
  const owned = [...columns, ...(table?.public ? [] : [[person, 'owner'] as const])];
  const cut = (where?: string) => cutRows(dialect, binder, owned, { ...all, ...(where !== undefined && { where }) });
  const over = table && !table.public ? tables.cut?.(table.name) : undefined;
  if (over === undefined) return { sql: cut(), cells };
  const listed = owned.map(([expression, alias]) => `${expression} AS ${alias}`).join(', ');
  if (over.length === 0) return { sql: `SELECT ${listed} FROM ${all.from} WHERE ${person} IS NOT NULL`, cells };
  const list = () =>
    over === 'many'
      ? beyondLimits(tables, table!)
      : over.map((name) => (typeof name === 'bigint' ? `${name}` : binder.text(name))).join(', ');
  const whole = `SELECT ${listed} FROM ${all.from} WHERE ${person} NOT IN (${list()})`;
  return { sql: `${whole} UNION ALL ${cut(`${person} IN (${list()})`)}`, cells };
}

/** One row for each person, from that person's rows alone. */
function readPersons(tables: Tables, binder: Binder, { of, filter, features }: PersonRows, data: string): ReadPart {
  const { dialect, policy } = tables;
  const declared = policyOfView(policy, of);
  const { sql, columns } = compileView(tables, binder, of, data);
  const names = [
    ...new Set([
      ...columnsTested(filter),
      ...features.flatMap((f) => ('column' in f ? ['by' in f ? f.by : f.column, f.column] : [])),
    ]),
  ];
  const alias = new Map(names.map((name, i) => [name, `v${i}`]));
  const cell = (name: string) => alias.get(name)!;
  const reader = new Compiler(dialect, declared, columns, Number.POSITIVE_INFINITY, binder).reader(alias);
  const read = `SELECT ${[`${quoteName(policy.protect.unit!)} AS owner`, ...names.map((name) => `${reader.cell(name)} AS ${cell(name)}`)].join(', ')} FROM (${sql}) AS seen`;
  const tests = filter.map(reader.passes);
  const passing = `SELECT * FROM (${read}) AS read${tests.length > 0 ? ` WHERE ${tests.join(' AND ')}` : ''}`;
  const given = (name: string) => reader.answered(name);
  const place = (name: string) => `CASE WHEN ${given(name)} THEN ${reader.position(name)} END`;
  /** In which order values come that nothing else tells apart. */
  const value = (name: string) =>
    isNumber(declared.columns.get(name)!)
      ? `coalesce(${place(name)}, -1)`
      : `coalesce(${cellText(dialect, sourceColumn(columns, name), cell(name))}, '')`;
  const counts = features.flatMap((f, k) =>
    f.how === 'usual' ? [`count(*) OVER (PARTITION BY owner, ${cell(f.column)}) AS n${k}`] : [],
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
      const type = f.how === 'count' ? 'integer' : category ? sourceColumn(columns, f.column).type : 'real';
      return [f.name, { alias: `c${k}`, source: { name: f.name, type } }] as const;
    }),
  );
  return { sql: `SELECT ${['owner', ...values].join(', ')} FROM (${ranked}) AS ranked GROUP BY owner`, cells };
}

interface Cells {
  readonly cell: (name: string) => string;
  readonly given: (name: string) => string;
  readonly place: (name: string) => string;
  readonly rank: string;
  readonly columns: readonly SourceColumn[];
}

function featureValue({ dialect }: Tables, declared: Policy, f: Feature, { cell, given, place, rank, columns }: Cells): string {
  if (f.how === 'count') return dialect.whole('count(*)');
  const whole = isNumber(declared.columns.get(f.column)!);
  const chosen = f.how === 'usual' ? `${rank} = 1 AND ${given(f.column)}` : 'by' in f ? `${rank} = 1 AND ${given(f.by)}` : 'true';
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
