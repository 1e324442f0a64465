import { changedMeanwhile } from '../data-file.js';
import type { Connection } from './connection.js';

/**
 * Which files of the server hold tables, which parts they have, what they and their columns are called, and what views and row security say. A snapshot does not
 * keep these: a table that is emptied (TRUNCATE), written anew (ALTER TABLE, REFRESH) or given the name of another is seen without rows by whoever took a snapshot
 * before and reads it afterwards, a part that is added is seen with all of its own, and a view that is replaced shows something else.
 */
function marksOf(oids: readonly number[]): string {
  const list = (what: string, from: string) => `(SELECT string_agg(${what}) FROM ${from})`;
  const columns = list(`concat_ws(' ', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation), ',' ORDER BY a.attnum`, 'pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped'); // biome-ignore format: one line
  const parts = list(`CAST(i.inhrelid AS TEXT), ',' ORDER BY i.inhrelid`, 'pg_inherits AS i WHERE i.inhparent = c.oid');
  const shown = list(`CAST(w.ev_action AS TEXT), ',' ORDER BY w.oid`, `pg_rewrite AS w WHERE w.ev_class = c.oid AND w.ev_type = '1'`); // biome-ignore format: one line
  const passing = list(`concat_ws(' ', p.polpermissive, p.polcmd, p.polroles, p.polqual), ',' ORDER BY p.oid`, 'pg_policy AS p WHERE p.polrelid = c.oid AND c.relrowsecurity'); // biome-ignore format: one line
  const table = `jsonb_build_array(c.oid, n.nspname, c.relname, c.relfilenode, c.relrowsecurity, c.relforcerowsecurity, ${columns}, ${parts}, ${shown}, ${passing})`;
  return `SELECT md5(string_agg(CAST(${table} AS TEXT), ' ' ORDER BY c.oid)) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = ANY (CAST('{${oids.join()}}' AS OID[]))`;
}

export const readMarks = async (connection: Connection, oids: readonly number[]): Promise<string> =>
  String((await connection.run(marksOf(oids))).rows[0]![0]);

/**
 * Asked while the transaction that has just read the tables keeps them from being changed further, and by a connection that sees what is there now, not the
 * snapshot.
 */
export async function refuseChanged(connection: Connection, oids: readonly number[], marks: string): Promise<void> {
  if ((await readMarks(connection, oids)) !== marks) throw changedMeanwhile();
}
