import { Fault } from '../../base/errors.js';
import type { Dialect } from '../../data/engine/dialect.js';
import type { Snapshot, SourceColumn, Statement } from '../../data/engine/engine.js';
import { domainsOfData } from '../../data/terms/source.js';
import { isAddRemove } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import { codeCell } from './code-cell.js';
import { rawCell, sourceColumn } from './read-column.js';

/** Rows as they are declared and as the database has them. */
export interface RowSource {
  readonly dialect: Dialect;
  readonly policy: Policy;
  readonly columns: readonly SourceColumn[];
  /** Upper bound on the number of rows; no result depends on it. */
  readonly rows?: number | undefined;
  /** Rows that are used of persons with too many, where they were looked up. */
  readonly chosen?: ChosenRows | undefined;
}
/** Collects the values bound to a statement. */
export class Binder {
  readonly values: Statement['values'][number][];
  readonly #dialect: Dialect;
  /** Follows values that are bound already. */
  constructor(dialect: Dialect, bound: Statement['values'] = []) {
    this.#dialect = dialect;
    this.values = [...bound];
  }
  text(value: string): string {
    this.values.push(value);
    return this.#dialect.text(`$${this.values.length}`);
  }
}

/** Expressions of a row, each with its alias. */
export type SelectedColumns = readonly (readonly [expression: string, alias: string])[];
const listed = (columns: SelectedColumns): string[] => columns.map(([expression, alias]) => `${expression} AS ${alias}`);
/** SELECT of columns by their aliases, unless written otherwise, and extra ones. */
const selecting =
  (columns: SelectedColumns) =>
  (extra: readonly string[], from: string, names = columns.map(([, alias]) => alias)): string =>
    `SELECT ${[...names, ...extra].join(', ') || '1 AS nothing'} FROM ${from}`;

/**
 * `SELECT columns FROM fugu_data`, bounded to `maxRows` rows per person by a keyed pseudo-random choice among the person's own rows,
 * or, under pairs, to persons with no more rows (sensitivity.proof.md, Person).
 */
export function boundedRowsSql(source: RowSource, binder: Binder, columns: SelectedColumns): string {
  const { dialect, policy, columns: own, chosen } = source;
  const { secret, unit, maxRows, pairs } = policy.protect;
  const select = selecting(columns);
  const list = listed(columns);
  if (secret !== 'person') return select([], 'fugu_data', list);
  if (unit === undefined)
    throw new Fault(
      'POLICY_INVALID',
      'The secret is a person but no unit column names the person.',
      'Write protect: { secret: person, unit: … }.',
    );
  // Rows of a view were cut table by table: at most `maxRows` of them are one person's (query/view/rows-per-person.proof.md).
  if (policy.view) return select([], 'fugu_data', list);
  if (chosen) {
    const person = personExpression(dialect, own, unit);
    const others = chosen.beyond === undefined ? '' : ` AND ${person} NOT IN (SELECT ${personColumn} FROM ${chosen.beyond})`;
    const within = `${select([], 'fugu_data', list)} WHERE ${person} IS NOT NULL${others}`;
    return chosen.rows === undefined ? within : `${within} UNION ALL ${select([], chosen.rows, list)}`;
  }
  const owner = sourceColumn(own, unit);
  if (pairs) {
    const read = select([`${dialect.name(rawCell(owner), owner.type)} AS person`], 'fugu_data', list);
    const counted = select(['count(*) OVER (PARTITION BY person) AS many'], `(${read}) AS owned WHERE person IS NOT NULL`);
    return select([], `(${counted}) AS counted WHERE many <= ${Math.trunc(maxRows)}`);
  }
  return selectBoundedRows(dialect, binder, columns, dataContributionBound(source));
}

/**
 * Tables looked up once per state of the data: persons with more rows than are used (`personColumn`), and their kept rows.
 * Absent where there are none.
 */
export interface ChosenRows {
  readonly beyond?: string;
  readonly rows?: string;
}
export const personColumn = 'fugu_person';

/** Person of a row: integers are compared as they are, all else by its name. */
export function personExpression(dialect: Dialect, source: readonly SourceColumn[], unit: string): string {
  const owner = sourceColumn(source, unit);
  return owner.type === 'integer' ? rawCell(owner) : dialect.name(rawCell(owner), owner.type);
}

/** Contribution bound of the data: the rows used of one person. */
export function dataContributionBound({ dialect, policy, columns: source }: RowSource): ContributionBound {
  const { protect, population, columns, data } = policy;
  const owner = sourceColumn(source, protect.unit!);
  const domains = domainsOfData(policy);
  return {
    from: 'fugu_data',
    population,
    person: dialect.name(rawCell(owner), owner.type),
    content: readableColumns(columns, data.links).map((name) =>
      cellContent(dialect, sourceColumn(source, name), domains.get(name)),
    ),
    limits: [{ most: protect.maxRows }],
  };
}

/** Persons may be dropped as a whole, so the number of used rows is not public and replacing a person may remove a row. */
export const dropsWholePersons = ({ protect }: Pick<Policy, 'protect'>): boolean =>
  protect.secret === 'person' && protect.pairs !== undefined;

/**
 * Text of a cell, equal in every database: fractions are written as the integer of their bits, since formats differ.
 * `codes`: of a category that is read by its codes only.
 */
export function cellText(dialect: Dialect, column: SourceColumn, codes?: readonly string[], cell = rawCell(column)): string {
  if (codes) return codeCell(dialect, column, codes, cell);
  return column.type === 'text'
    ? dialect.text(dialect.short?.(cell) ?? cell)
    : dialect.name(column.type === 'real' ? dialect.bits(cell) : cell, 'integer');
}

/**
 * Text of a cell from which concatenated cells can be parsed back: preceded by its length, or, for a code, ended by a line break,
 * which mentions the code once only; some databases limit the size of what they compile.
 */
export function cellContent(dialect: Dialect, column: SourceColumn, codes?: readonly string[]): string {
  const text = cellText(dialect, column, codes);
  // No code is a blank.
  if (codes?.every((code) => !code.includes('\n'))) return `(coalesce(${text}, '\t') || '\n')`;
  return `coalesce(${dialect.text(`length(${text})`)} || ':' || ${text}, '-')`;
}

/** The columns of a table that are ever read: declared ones, and those by which its rows are joined. */
export const readableColumns = (columns: Policy['columns'], ...joining: (readonly string[] | undefined)[]): readonly string[] => [
  ...new Set([...columns.keys(), ...joining.flatMap((names) => names ?? [])]),
];

/** Rows of persons, and the number of them that is kept. */
export interface ContributionBound {
  readonly from: string;
  readonly population: string;
  /** Person of a row; rows without a name are left out. Constant where rows belong to no person. */
  readonly person: string;
  /** Every cell that is ever read (`cellContent`): rows that agree in all of them are interchangeable. */
  readonly content: readonly string[];
  /** Limits applied in order: of a person's rows that agree in `by`, at most so many are kept. */
  readonly limits: readonly { readonly by?: readonly string[]; readonly most: number }[];
  /** Condition on the rows considered. */
  readonly where?: string;
}

/** `SELECT columns` of the kept rows: the only place that chooses them. */
export function selectBoundedRows(
  dialect: Dialect,
  binder: Binder,
  columns: SelectedColumns,
  { from, population, person, content: cells, limits, where }: ContributionBound,
): string {
  const select = selecting(columns);
  const content = dialect.digest(cells.length > 0 ? joined(cells) : `''`);
  const parts = limits.flatMap(({ by = [] }) => by);
  const partNames = parts.map((_, i) => `part${i}`);
  const partList = parts.map((part, i) => `${part} AS part${i}`);
  const kept = where === undefined ? from : `${from} WHERE ${where}`;
  const read = select([`${person} AS person`, `${content} AS content`, ...partList], kept, listed(columns));
  // Rows with the same content are interchangeable, so it does not matter which is the first copy.
  const copies = select(
    ['person', 'content', ...partNames, 'row_number() OVER (PARTITION BY person, content) AS copy'],
    `(${read}) AS owned WHERE person IS NOT NULL`,
  );
  const name = dialect.text('person');
  const key = dialect.digest(`${binder.text(`${population}:`)} || ${name} || ':' || content || ':' || ${dialect.text('copy')}`);
  let stay = `(${copies}) AS copies`;
  let at = 0;
  for (const [i, { by = [], most }] of limits.entries()) {
    const among = ['person', ...by.map(() => partNames[at++]!)].join(', ');
    const last = i === limits.length - 1;
    const ranked = select(
      [
        ...(last ? [] : ['person', 'content', 'copy', ...partNames]),
        `row_number() OVER (PARTITION BY ${among} ORDER BY ${key}) AS rank`,
      ],
      stay,
    );
    const staying = `(${ranked}) AS ranked WHERE rank <= ${Math.trunc(most)}`;
    stay = last ? staying : `(${select(['person', 'content', 'copy', ...partNames], staying)}) AS stayed`;
  }
  return select([], stay);
}

/** The kept rows under the names of these columns, to be held, and the number of their columns. */
export function heldRowsQuery(dialect: Dialect, columns: SelectedColumns, bound: ContributionBound) {
  const binder = new Binder(dialect);
  const rows = selectBoundedRows(dialect, binder, columns, bound);
  const list = columns.map(([name, alias]) => `${alias} AS ${name}`).join(', ');
  return [{ sql: `SELECT ${list} FROM (${rows}) AS staying`, values: binder.values }, columns.length] as const;
}

/** Concatenation as a balanced tree: databases limit the depth of an expression, and a survey has a thousand columns. */
const joined = (texts: readonly string[]): string => {
  const half = texts.length >> 1;
  return half === 0 ? texts[0]! : `(${joined(texts.slice(0, half))} || ${joined(texts.slice(half))})`;
};

/**
 * Number of records: not changed by replacing a record, so it may be published and steer an analysis (docs/explanation/known-limits.md).
 * With secret `person`, the number of persons; the number of rows would depend on how many rows one person has.
 */
export async function publicRecordCount(engine: Snapshot, policy: Policy): Promise<number> {
  // Under add-remove neighbours the number of records is protected.
  if (isAddRemove(policy)) throw new Error('the number of records is protected');
  if (policy.protect.secret !== 'person') return (await engine.size()).open();
  const person = personExpression(engine.dialect, await engine.columns(), policy.protect.unit!);
  const persons = `SELECT DISTINCT ${person} AS ${personColumn} FROM fugu_data`;
  const rows = (await engine.rows({ sql: `SELECT count(${personColumn}) FROM (${persons}) AS persons`, values: [] })).open();
  return Number(rows[0]?.[0] ?? 0);
}
