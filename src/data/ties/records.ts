import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import { countingSort } from '../../privacy/dependence/graph/factor-graph.js';
import { type MemoryLimit, refuseBeyondHeap, unlimitedMemory } from '../../privacy/dependence/graph/memory-limit.js';
import type { Cell, Snapshot, Statement } from '../engine/engine.js';
import { countStructure, quoteName, readBlocks } from '../engine/structure.js';
import { NameList, noName } from './name-list.js';
import { NameColumn } from './spelling.js';
import { sorted } from './text-names.js';

/**
 * Records of a table as numbers 0..count-1 with the columns of the ties: persons (secret `person`) or rows. Rows
 * are sorted by what is read of them, so bounds depend on the set of rows alone, never on how the table is stored.
 */
export interface RecordTable {
  readonly count: number;
  readonly recordOf: Uint32Array;
  /** Position of each table row in the database; no bound may depend on it. */
  readonly placeOf: Uint32Array;
  /** Names in a column as their places among all its names in order, one per table row; `noName` where there is none. */
  readonly namesIn: (column: string) => Uint32Array;
  /** Cells of a column, one per table row. */
  readonly cellsOf: (column: string) => readonly Cell[];
  /** Numbers of a column, one per table row. */
  readonly numbersIn: (column: string) => Float64Array;
  /** The first record with this name in the unit column. */
  readonly firstNamed: (name: string) => number | undefined;
  /** The one record with this name; undefined when there is none. */
  readonly named: (name: string | undefined) => number | undefined;
  /** The same for the names of a column: `noName` where there is no such record. */
  readonly namedAll: (names: NameColumn, rows: number, into: Uint32Array) => void;
  readonly nameOf: (record: number) => string | undefined;
  /** Throws where any two records share a name, whichever they are. */
  readonly refuseSharedNames: () => void;
  readonly bytes: number;
}
/** In place of a record, where several rows have one name and are records of their own. */
const several = 0xfffffffe;

/** Columns to read: names of groups and owners, cells that name nobody, and cells parsed as numbers (NaN for none). */
export interface RecordColumns {
  readonly names: readonly string[];
  readonly cells?: readonly string[];
  readonly numbers?: readonly { readonly column: string; readonly read: (cell: Cell) => number }[];
}

export interface RecordMemory {
  readonly room?: MemoryLimit;
  /** Bytes needed for this many records in addition, whatever their ties. */
  readonly least?: (records: number) => number;
}

export async function readRecords(
  policy: Policy,
  engine: Snapshot,
  columns: RecordColumns,
  memory: RecordMemory = {},
): Promise<RecordTable> {
  const { secret, unit } = policy.protect;
  const { rows, names, cells, numbers, bytes } = await readColumns(policy, engine, columns, memory);
  const placeOf = inOrderOf(
    [
      ...names.map(({ places, list }) => ({ list: places, size: list.size })),
      ...cells.map(({ values }) => ranked(values)),
      ...numbers.map(({ values }) => rankedNumbers(values)),
    ],
    rows,
  );
  const namesIn = new Map(names.map(({ column, places }) => [column, placeOf.map((place) => places[place]!)]));
  const cellsOf = new Map(cells.map(({ column, values }) => [column, Array.from(placeOf, (place) => values[place]!)]));
  const numbersOf = new Map(numbers.map(({ column, values }) => [column, Float64Array.from(placeOf, (place) => values[place]!)]));
  const owners = unit === undefined ? undefined : { column: unit, names: names[0]!, at: namesIn.get(unit)! };
  return {
    ...recordsByName(rows, owners, secret === 'person'),
    placeOf,
    namesIn: (column) => namesIn.get(column)!,
    cellsOf: (column) => cellsOf.get(column)!,
    numbersIn: (column) => numbersOf.get(column)!,
    bytes: bytes(),
  };
}

/** A column of names: the different ones, the place of each among all in order, and the places row by row (`noName` for none). */
interface ReadNames {
  readonly column: string;
  readonly list: NameList;
  readonly ranks: Uint32Array;
  readonly places: Uint32Array;
}

/** The columns in the table's own order; the unit is the first one of names. */
async function readColumns(
  policy: Policy,
  engine: Snapshot,
  columns: RecordColumns,
  { room = unlimitedMemory, least = () => 0 }: RecordMemory,
) {
  const { secret, unit } = policy.protect;
  const named = [...new Set([...(unit === undefined ? [] : [unit]), ...columns.names])];
  const shown = [...new Set(columns.cells ?? [])];
  const numbered = columns.numbers ?? [];
  const statement = await statementFor(policy, engine, named, [...shown, ...numbered.map(({ column }) => column)]);
  const rows = await countStructure(engine, statement);
  // Numbers of names in the table's order and in ours, owners of rows, and memory for sorting.
  const own = rows * (8 * named.length + 20 * numbered.length + 28);
  // Reported before anything is read, if possible.
  room.require(own + least(secret === 'person' ? 0 : rows));
  if (shown.length > 0) refuseBeyondHeap(80 * shown.length * rows);
  const lists: NameList[] = [];
  const bytes = () => lists.reduce((sum, list) => sum + list.bytes, own);
  for (const _ of named) {
    const list: NameList = new NameList((more) => room.require(bytes() - list.bytes + more), rows);
    lists.push(list);
  }
  const places = named.map(() => new Uint32Array(rows));
  const cells = shown.map((column) => ({ column, values: new Array<Cell>(rows) }));
  const numbers = numbered.map(({ column, read }) => ({ column, read, values: new Float64Array(rows) }));
  let at = 0;
  for await (const block of readBlocks(engine, statement)) {
    for (let c = 0; c < lists.length; c++) lists[c]!.addAll(new NameColumn(block, c), block.rows, places[c]!, at);
    cells.forEach(({ values }, c) => {
      const column = block.columns[lists.length + c]!;
      for (let r = 0; r < block.rows; r++) values[at + r] = column[r] ?? null;
    });
    numbers.forEach(({ values, read }, c) => {
      const column = block.columns[lists.length + cells.length + c]!;
      for (let r = 0; r < block.rows; r++) values[at + r] = read(column[r] ?? null);
    });
    at += block.rows;
  }
  const names = lists.map((list, c): ReadNames => {
    const ranks = list.ranks();
    const own = places[c]!;
    for (let r = 0; r < rows; r++) if (own[r] !== noName) own[r] = ranks[own[r]!]!;
    return { column: named[c]!, list, ranks, places: own };
  });
  return { rows, names, cells, numbers, bytes };
}

/** The unit column, with the names of the rows in order. */
interface Owners {
  readonly column: string;
  readonly names: ReadNames;
  readonly at: Uint32Array;
}

type ByName = Pick<RecordTable, 'count' | 'recordOf' | 'firstNamed' | 'named' | 'namedAll' | 'nameOf' | 'refuseSharedNames'>;

/** Records of rows in order; with `together`, rows of one name are one record. */
function recordsByName(rows: number, owners: Owners | undefined, together: boolean): ByName {
  if (!owners) {
    const all = Uint32Array.from({ length: rows }, (_, r) => r);
    return {
      count: rows,
      recordOf: all,
      firstNamed: () => undefined,
      named: () => undefined,
      namedAll: (_, _rows, into) => void into.fill(noName),
      nameOf: () => undefined,
      refuseSharedNames: () => undefined,
    };
  }
  const { list, ranks } = owners.names;
  const { recordOf, firstRow, first, repeated } = numberRecords(owners.at, list.size, together);
  // Index by the number of a name: it is read for both ends of every tie.
  const onlyAt = new Uint32Array(list.size);
  for (let id = 0; id < onlyAt.length; id++) {
    const place = ranks[id]!;
    onlyAt[id] = !together && repeated[place] === 1 ? several : first[place]!;
  }
  const idAt = inverse(ranks);
  const only = (id: number): number => {
    if (onlyAt[id] === several) throw severalRows(owners.column);
    return onlyAt[id]!;
  };
  return {
    count: firstRow.length,
    recordOf,
    firstNamed: (name) => {
      const id = list.find(name);
      return id === undefined ? undefined : first[ranks[id]!];
    },
    named: (name) => {
      const id = name === undefined ? undefined : list.find(name);
      return id === undefined ? undefined : only(id);
    },
    namedAll: (names, count, into) => {
      list.findAll(names, count, into);
      for (let r = 0; r < count; r++) if (into[r] !== noName) into[r] = only(into[r]!);
    },
    nameOf: (record) => {
      const place = owners.at[firstRow[record]!]!;
      return place === noName ? undefined : list.text(idAt[place]!);
    },
    refuseSharedNames: () => {
      if (onlyAt.includes(several)) throw sharedName(owners.column);
    },
  };
}

/**
 * Statement for the columns of the rows. The number of rows of a person is not public:
 * identical rows are read once, except for steps. Rows without a name are records of their own.
 */
async function statementFor(
  policy: Policy,
  engine: Snapshot,
  named: readonly string[],
  cells: readonly string[],
): Promise<Statement> {
  const types = new Map((await engine.columns()).map((c) => [c.name, c.type]));
  const typeOf = (column: string) => {
    const type = types.get(column);
    if (type !== undefined) return type;
    throw missingColumn(column);
  };
  const { dialect } = engine;
  const select = [
    ...named.map((c, i) => `${dialect.name(quoteName(c), typeOf(c))} AS n${i}`),
    ...cells.map((c, i) => typeOf(c) && `${quoteName(c)} AS v${i}`),
  ];
  const all = `SELECT ${select.join(', ') || '1 AS nothing'} FROM fugu_data`;
  if (policy.protect.secret !== 'person' || cells.length > 0) return { sql: all, values: [] };
  return {
    sql: `SELECT DISTINCT * FROM (${all}) AS named WHERE n0 IS NOT NULL UNION ALL SELECT * FROM (${all}) AS nameless WHERE n0 IS NULL`,
    values: [],
  };
}

function numberRecords(owners: Uint32Array, names: number, together: boolean) {
  const recordOf = new Uint32Array(owners.length);
  const firstRow = new Uint32Array(owners.length);
  const first = new Uint32Array(names).fill(noName);
  const repeated = new Uint8Array(names);
  let count = 0;
  for (let r = 0; r < owners.length; r++) {
    const name = owners[r]!;
    const known = name === noName ? noName : first[name]!;
    if (known !== noName) repeated[name] = 1;
    if (together && known !== noName) {
      recordOf[r] = known;
      continue;
    }
    firstRow[count] = r;
    recordOf[r] = count++;
    if (name !== noName && known === noName) first[name] = recordOf[r]!;
  }
  return { recordOf, firstRow: firstRow.slice(0, count), first, repeated };
}

/** The places of rows in the order of their cells, first column first: sorted by the last column, then by the one before it, and so on. */
function inOrderOf(columns: readonly Ranked[], rows: number): Uint32Array {
  let place = new Uint32Array(rows);
  const [only] = columns;
  // If every row has a name of its own, the rank of the name is that of the row.
  if (only && columns.length === 1 && only.size === rows && !only.list.includes(noName)) {
    for (let r = 0; r < rows; r++) place[only.list[r]!] = r;
    return place;
  }
  for (let r = 0; r < rows; r++) place[r] = r;
  for (const { list, size } of columns.toReversed()) place = countingSort(size + 1, place, (r) => Math.min(list[r]!, size)).order;
  return place;
}

/** Ranks of cells: equal cells share a rank, missing cells come last. */
interface Ranked {
  readonly list: Uint32Array;
  readonly size: number;
}

function ranked(cells: readonly Cell[]): Ranked {
  const order = sorted(cells.length, (a, b) => compareCells(cells[a]!, cells[b]!));
  const list = new Uint32Array(cells.length);
  let size = 0;
  for (let k = 0; k < order.length; k++) {
    if (k > 0 && compareCells(cells[order[k - 1]!]!, cells[order[k]!]!) !== 0) size++;
    list[order[k]!] = size;
  }
  return { list, size: size + 1 };
}

/** Columns parsed as numbers have few different ones. */
function rankedNumbers(numbers: Float64Array): Ranked {
  const distinct = [...new Set(numbers)].filter((x) => !Number.isNaN(x)).sort((a, b) => a - b);
  const rank = new Map(distinct.map((x, k) => [x, k]));
  return { list: Uint32Array.from(numbers, (x) => rank.get(x) ?? distinct.length), size: distinct.length + 1 };
}

function inverse(ranks: Uint32Array): Uint32Array {
  const ids = new Uint32Array(ranks.length);
  for (let id = 0; id < ranks.length; id++) ids[ranks[id]!] = id;
  return ids;
}

/** Zero for the same cell only: texts by code unit, not by a language's or a database's idea of equal letters. */
const compareCells = (a: Cell, b: Cell): number => {
  if (a === b) return 0;
  if (a !== null && b !== null) {
    if (a < b) return -1;
    if (a > b) return 1;
  }
  return unordered(a) - unordered(b);
};
function unordered(cell: Cell): number {
  if (cell === null) return 2;
  return Number.isNaN(cell) ? 1 : 0;
}

export const missingColumn = (column: string): Fault =>
  new Fault(
    'COLUMN_UNKNOWN',
    `The data has no column "${column}", which the declared ties need.`,
    'Check the names under protect: and dependence:.',
  );

/** With several rows named "Ann", a tie would reach only one of them. */
const sharedName = (unit: string): Fault =>
  new Fault(
    'DATA_MALFORMED',
    `Records are left out by their names (maxUsed), and several rows share one in the unit column "${unit}".`,
    'Protect persons (secret: person) if one person has several rows, or name each row once.',
  );

const severalRows = (unit: string): Fault =>
  new Fault(
    'DATA_MALFORMED',
    `A tie names a record, but several rows have that name in the unit column "${unit}".`,
    'Protect persons (secret: person) if one person has several rows, or name each row once.',
  );
