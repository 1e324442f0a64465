import type { Cell, Engine } from '../engine/engine.js';
import { nameReader } from '../engine/name.js';
import { quoteName, readStructure } from '../engine/structure.js';
import { Fault } from '../errors.js';
import type { Policy } from '../policy/policy.js';

/**
 * The records of a table as numbers 0..count-1, with the columns that ties speak about: one per person (secret `person`), else one per row.
 * What is read here is structure the attacker is declared to know.
 */
export interface RecordTable {
  readonly count: number;
  /** Record of each table row. */
  readonly recordOf: Uint32Array;
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
  const named = new Map([...columns.names, ...(unit === undefined ? [] : [unit])].map((c) => [c, [] as (string | null)[]]));
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

/** A tie to "Ann" would miss all but one of Ann's rows. */
const severalRows = (unit: string): Fault =>
  new Fault(
    'DATA_MALFORMED',
    `A tie names a record, but several rows have that name in the unit column "${unit}".`,
    'Protect persons (secret: person) if one person has several rows, or name each row once.',
  );
