import type { Cell, Engine } from '../engine/engine.js';
import { quoteName, readStructure } from '../engine/structure.js';
import { Fault } from '../errors.js';
import type { Policy } from '../policy/policy.js';

/**
 * The records of a table as numbers 0..count-1, with the columns that ties speak about: one per row (secret `row`, `answer`), or one per
 * person (secret `person`). What is read here is structure the attacker is declared to know.
 */
export interface RecordTable {
  readonly count: number;
  /** Record of each table row. */
  readonly recordOf: Uint32Array;
  /** Structure columns, one cell per table row. */
  readonly column: (name: string) => readonly Cell[];
  /** The record with this name in the unit column. */
  readonly named: (id: string) => number | undefined;
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
  const ids = new Map<string, number>();
  const recordOf = new Uint32Array(rows);
  const units = unit === undefined ? undefined : cells.get(unit)!;
  let count = 0;
  for (let r = 0; r < rows; r++) {
    const id = units === undefined || units[r] === null ? undefined : text(units[r]!);
    const known = id === undefined ? undefined : ids.get(id);
    if (secret === 'person' && known !== undefined) {
      recordOf[r] = known;
      continue;
    }
    recordOf[r] = count;
    if (id !== undefined && known === undefined) ids.set(id, count);
    count++;
  }
  return { count, recordOf, column: (name) => cells.get(name)!, named: (id) => ids.get(id) };
}

/** Structure values compare as text: 7, 7n and "7" are one name. */
export const text = (cell: NonNullable<Cell>): string => `${cell}`;
