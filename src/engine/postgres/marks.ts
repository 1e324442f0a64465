import { changedMeanwhile } from '../data-file.js';
import type { Connection } from './connection.js';

/**
 * Which files of the server hold tables, and which parts they have. A snapshot does not keep them: a table that is emptied (TRUNCATE) or written anew (ALTER TABLE,
 * REFRESH) is seen without rows by whoever took a snapshot before and reads it afterwards, and a part that is added is seen with all of its own.
 */
function marksOf(oids: readonly number[]): string {
  const file = (oid: string) => `CAST(${oid} AS TEXT) || ':' || coalesce(CAST(pg_relation_filenode(${oid}) AS TEXT), '-')`;
  const parts = `(SELECT string_agg(${file('CAST(relid AS OID)')}, ',' ORDER BY CAST(relid AS OID)) FROM pg_partition_tree(CAST(o AS REGCLASS)))`;
  return `SELECT string_agg(${file('o')} || coalesce(' of ' || ${parts}, ''), ' ' ORDER BY o) FROM unnest(CAST('{${oids.join()}}' AS OID[])) AS o`;
}

export const readMarks = async (connection: Connection, oids: readonly number[]): Promise<string> =>
  String((await connection.run(marksOf(oids))).rows[0]![0]);

/**
 * Which tables inherit from which. Whoever reads a table reads those that inherit from it by now, whatever the snapshot is, and only a look from outside of it tells:
 * no function of the server does.
 */
export const readHeirs = async (connection: Connection, oids: readonly number[]): Promise<string> =>
  String(
    (
      await connection.run(
        `SELECT string_agg(CAST(inhrelid AS TEXT) || ' of ' || CAST(inhparent AS TEXT), ',' ORDER BY inhrelid, inhparent) FROM pg_inherits WHERE inhparent IN (${oids.join()})`,
      )
    ).rows[0]![0],
  );

/** Asked in the transaction that has just read the tables: functions of the server look at what is there now, not at the snapshot. */
export async function refuseChanged(connection: Connection, oids: readonly number[], marks: string): Promise<void> {
  if ((await readMarks(connection, oids)) !== marks) throw changedMeanwhile();
}
