import type { Cell, Engine } from '../engine/engine.js';
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
  /** Structure columns, one cell per table row. */
  readonly column: (name: string) => readonly Cell[];
  /** Records by their name in the unit column; rows without a name have none. */
  readonly names: ReadonlyMap<string, number>;
  /** The one record with this name; undefined when there is none. */
  readonly named: (id: string) => number | undefined;
  readonly nameOf: (record: number) => string | undefined;
}

export async function readRecords(policy: Policy, engine: Engine, columns: readonly string[]): Promise<RecordTable> {
  const { secret, unit } = policy.protect;
  const wanted = [...new Set(unit === undefined ? columns : [unit, ...columns])];
  const present = new Set((await engine.columns()).map((c) => c.name));
  const absent = wanted.find((name) => !present.has(name));
  if (absent !== undefined)
    throw new Fault(
      'COLUMN_UNKNOWN',
      `The data has no column "${absent}", which the declared ties need.`,
      'Check the names under protect: and dependence:.',
    );
  const cells = new Map(wanted.map((name) => [name, [] as Cell[]]));
  const lists = [...cells.values()];
  const select = wanted.length > 0 ? wanted.map(quoteName).join(', ') : '1';
  let rows = 0;
  for await (const row of readStructure(engine, { sql: `SELECT ${select} FROM fugu_data`, values: [] })) {
    lists.forEach((list, c) => {
      list.push(row[c]!);
    });
    rows++;
  }
  const names = new Map<string, number>();
  const nameOf: (string | undefined)[] = [];
  const repeated = new Set<string>();
  const recordOf = new Uint32Array(rows);
  const units = unit === undefined ? undefined : cells.get(unit)!;
  for (let r = 0; r < rows; r++) {
    const id = units === undefined || units[r] === null ? undefined : text(units[r]!);
    const known = id === undefined ? undefined : names.get(id);
    if (id !== undefined && known !== undefined) repeated.add(id);
    recordOf[r] = secret === 'person' && known !== undefined ? known : nameOf.push(id) - 1;
    if (id !== undefined && known === undefined) names.set(id, recordOf[r]!);
  }
  const named = (id: string) => {
    if (secret !== 'person' && repeated.has(id)) throw severalRows(unit!);
    return names.get(id);
  };
  return { count: nameOf.length, recordOf, column: (name) => cells.get(name)!, names, named, nameOf: (r) => nameOf[r] };
}

/** A tie to "Ann" would miss all but one of Ann's rows. */
const severalRows = (unit: string): Fault =>
  new Fault(
    'DATA_MALFORMED',
    `A tie names a record, but several rows have that name in the unit column "${unit}".`,
    'Protect persons (secret: person) if one person has several rows, or name each row once.',
  );

/** Structure values compare as text: 7, 7n and "7" are one name. */
export const text = (cell: NonNullable<Cell>): string => `${cell}`;
