import type { Cell, Engine } from '../engine/engine.js';
import { nameReader } from '../engine/name.js';
import { quoteName, readStructure } from '../engine/structure.js';
import { Fault } from '../errors.js';
import type { Policy } from '../policy/policy.js';

/**
 * The records of a table as numbers 0..count-1, with the columns that ties speak about: one per person (secret `person`), else one per row.
 * What is read here is structure the attacker is declared to know, and rows stand in the order of what was read of them, not in that of the table: the
 * result is a function of the set of rows read (rows that read the same are interchangeable), so no bound shows how the table is stored.
 */
export interface RecordTable {
  readonly count: number;
  /** Record of each table row. */
  readonly recordOf: Uint32Array;
  /** Where the database had each table row; nothing that bounds rest on may depend on it. */
  readonly placeOf: Uint32Array;
  /** Names in a column, one per table row; null where there is none. */
  readonly namesIn: (column: string) => readonly (string | null)[];
  /** Cells of a column, one per table row. */
  readonly cellsOf: (column: string) => readonly Cell[];
  /** Records by their name in the unit column; rows without a name have none. */
  readonly names: ReadonlyMap<string, number>;
  /** The one record with this name; undefined when there is none. */
  readonly named: (name: string | undefined) => number | undefined;
  readonly nameOf: (record: number) => string | undefined;
}

/** What to read: names of groups and owners, and cells that name nobody. */
export interface RecordColumns {
  readonly names: readonly string[];
  readonly cells?: readonly string[];
}

export async function readRecords(policy: Policy, engine: Engine, columns: RecordColumns): Promise<RecordTable> {
  const { secret, unit } = policy.protect;
  const types = new Map((await engine.columns()).map((c) => [c.name, c.type]));
  const typeOf = (column: string) => {
    const type = types.get(column);
    if (type !== undefined) return type;
    throw new Fault(
      'COLUMN_UNKNOWN',
      `The data has no column "${column}", which the declared ties need.`,
      'Check the names under protect: and dependence:.',
    );
  };
  const name = nameReader(engine.dialect);
  const named = new Map([...(unit === undefined ? [] : [unit]), ...columns.names].map((c) => [c, [] as (string | null)[]]));
  const cells = new Map((columns.cells ?? []).map((c) => [c, [] as Cell[]]));
  const lists: Cell[][] = [...named.values(), ...cells.values()];
  const select = [
    ...[...named.keys()].map((c) => name(quoteName(c), typeOf(c))),
    ...[...cells.keys()].map((c) => typeOf(c) && quoteName(c)),
  ];
  let rows = 0;
  for await (const row of readStructure(engine, { sql: `SELECT ${select.join(', ') || '1'} FROM fugu_data`, values: [] })) {
    lists.forEach((list, c) => {
      list.push(row[c]!);
    });
    rows++;
  }
  const placeOf = inOrderOf(lists, rows);
  const names = new Map<string, number>();
  const nameOf: (string | undefined)[] = [];
  const repeated = new Set<string>();
  const recordOf = new Uint32Array(rows);
  const units = unit === undefined ? undefined : named.get(unit)!;
  for (let r = 0; r < rows; r++) {
    const id = units?.[r] ?? undefined;
    const known = id === undefined ? undefined : names.get(id);
    if (id !== undefined && known !== undefined) repeated.add(id);
    recordOf[r] = secret === 'person' && known !== undefined ? known : nameOf.push(id) - 1;
    if (id !== undefined && known === undefined) names.set(id, recordOf[r]!);
  }
  return {
    count: nameOf.length,
    recordOf,
    placeOf,
    namesIn: (column) => named.get(column)!,
    cellsOf: (column) => cells.get(column)!,
    names,
    named: (own) => {
      if (own === undefined) return undefined;
      if (secret !== 'person' && repeated.has(own)) throw severalRows(unit!);
      return names.get(own);
    },
    nameOf: (r) => nameOf[r],
  };
}

/** Puts rows in the order of their cells, first column first, and returns where each was. */
function inOrderOf(lists: readonly Cell[][], rows: number): Uint32Array {
  const place = Uint32Array.from({ length: rows }, (_, r) => r);
  place.sort((a, b) => {
    for (const list of lists) {
      const order = compareCells(list[a]!, list[b]!);
      if (order !== 0) return order;
    }
    return 0;
  });
  for (const list of lists) {
    const read = list.slice();
    for (let r = 0; r < rows; r++) list[r] = read[place[r]!]!;
  }
  return place;
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
const unordered = (cell: Cell): number => (cell === null ? 2 : Number.isNaN(cell) ? 1 : 0);

/** A tie to "Ann" would miss all but one of Ann's rows. */
const severalRows = (unit: string): Fault =>
  new Fault(
    'DATA_MALFORMED',
    `A tie names a record, but several rows have that name in the unit column "${unit}".`,
    'Protect persons (secret: person) if one person has several rows, or name each row once.',
  );
