import { changedMeanwhile } from '../data-file.js';
import { inTurn } from '../once.js';
import type { ShownTable } from '../shown-table.js';
import { quoteName, quoteText } from '../structure.js';
import type { StatementRunner } from './client.js';
import { TrinoRefused } from './fault.js';
import { tableName } from './spelling.js';
import type { TrinoTableName } from './table.js';

/**
 * Method by which a table is kept stable: versioned tables are read at one version, generated ones never change.
 * Others are counted and hashed before and after every statement, and results from a changed table are discarded.
 */
export type TableStability = 'version' | 'never changes' | 'watched';

/** By what a catalog is made of. A view in a catalog with versions has none itself. */
export async function stabilityOf(client: StatementRunner, place: TrinoTableName): Promise<TableStability> {
  const sql = `SELECT connector_name FROM system.metadata.catalogs WHERE catalog_name = ${quoteText(place.catalog)}`;
  const made = String((await client.all(sql)).rows[0]?.[0] ?? '');
  if (made === 'tpch' || made === 'tpcds') return 'never changes';
  if (made !== 'iceberg') return 'watched';
  try {
    return (await versionsOf(client, [place]))[0] === undefined ? 'watched' : 'version';
  } catch (error) {
    if (error instanceof TrinoRefused && error.errorName === 'TABLE_NOT_FOUND') return 'watched';
    throw error;
  }
}

/** The version each table is at; undefined for one that was never written to. The numbers are longer than a double, so they come as text. */
export async function versionsOf(
  client: StatementRunner,
  places: readonly TrinoTableName[],
): Promise<readonly (string | undefined)[]> {
  if (places.length === 0) return [];
  const one = (place: TrinoTableName, i: number) =>
    `SELECT ${i} AS place, CAST(snapshot_id AS VARCHAR) AS version FROM ${tableName({ ...place, table: `${place.table}$refs` })} WHERE name = 'main'`;
  const { rows } = await client.all(places.map(one).join(' UNION ALL '));
  const found = new Map(rows.map(([i, version]) => [Number(i), String(version)]));
  return places.map((_, i) => found.get(i));
}

export const atVersion = (version: string | undefined): string =>
  version !== undefined && /^\d{1,20}$/.test(version) ? ` FOR VERSION AS OF ${version}` : '';

/** Fields of one row, as they are summed up together. */
const fieldsAtOnce = 200;

/** The number of rows of each table, and a sum over all of them in which their order plays no part. */
export async function stateOf(
  client: StatementRunner,
  tables: readonly ShownTable[],
): Promise<readonly (readonly [rows: number, sum: string])[]> {
  if (tables.length === 0) return [];
  const one = ({ from, columns }: ShownTable, i: number) =>
    `SELECT ${i} AS place, count(*) AS size, ${summed(columns)} AS summed FROM ${from}`;
  const { rows } = await client.all(tables.map(one).join(' UNION ALL '));
  const found = new Map(rows.map(([i, size, sum]) => [Number(i), [Number(size), String(sum)] as const]));
  return tables.map((_, i) => found.get(i)!);
}

function summed(columns: ShownTable['columns']): string {
  const own = columns.map(({ name }) => quoteName(name));
  const parts = Array.from({ length: Math.ceil(own.length / fieldsAtOnce) }, (_, i) =>
    own.slice(i * fieldsAtOnce, (i + 1) * fieldsAtOnce),
  );
  const rows = parts.map((part) => `ROW(${part.join(', ')})`);
  return rows.length === 0 ? `''` : `to_hex(checksum(${rows.length === 1 ? rows[0] : `ROW(${rows.join(', ')})`}))`;
}

/** Watches tables. Statements that end while a check is still to come share it. */
export class Watch {
  readonly #client: StatementRunner;
  readonly #tables: readonly ShownTable[];
  readonly #state: string;
  readonly #checkInTurn = inTurn();
  #next: Promise<void> | undefined;

  constructor(client: StatementRunner, tables: readonly ShownTable[], state: unknown) {
    this.#client = client;
    this.#tables = tables;
    this.#state = JSON.stringify(state);
  }

  /** Faults when something has moved. */
  unchanged(): Promise<void> {
    if (this.#tables.length === 0) return Promise.resolve();
    const check =
      this.#next ??
      this.#checkInTurn(async () => {
        this.#next = undefined;
        if (JSON.stringify(await stateOf(this.#client, this.#tables)) !== this.#state) throw changedMeanwhile();
      });
    this.#next = check;
    return check;
  }
}
