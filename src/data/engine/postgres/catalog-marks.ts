import { changedMeanwhile } from '../data-file.js';
import type { PostgresConnection } from './connection.js';

/** Objects that come with the server have smaller oids. */
export const firstUserOid = 16_384;

/** Objects that statements reach: tables, and whether any function or type among them did not come with the server. */
export interface ReachedObjects {
  readonly oids: readonly number[];
  readonly made: boolean;
}
export const sameObjects = (one: ReachedObjects, other: ReachedObjects): boolean =>
  one.made === other.made && String(one.oids) === String(other.oids);

const list = (what: string, from: string): string => `(SELECT string_agg(${what}) FROM ${from})`;

/**
 * Catalog state that a snapshot does not preserve: table files, partitions, names of tables and columns, views, row security
 * and readers. TRUNCATE, ALTER TABLE, REFRESH, renaming, attaching a partition or replacing a view would change what is read.
 */
function tablesIn(oids: string): string {
  const formula = `(SELECT d.xmin FROM pg_attrdef AS d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated <> '')`;
  const columns = list(`concat_ws(' ', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation, ${formula}), ',' ORDER BY a.attnum`, 'pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped'); // biome-ignore format: one line
  const parts = list(`CAST(i.inhrelid AS TEXT), ',' ORDER BY i.inhrelid`, 'pg_inherits AS i WHERE i.inhparent = c.oid');
  const shown = list(`CAST(w.ev_action AS TEXT), ',' ORDER BY w.oid`, `pg_rewrite AS w WHERE w.ev_class = c.oid AND w.ev_type = '1'`); // biome-ignore format: one line
  const passing = list(`concat_ws(' ', p.polpermissive, p.polcmd, p.polroles, p.polqual), ',' ORDER BY p.oid`, 'pg_policy AS p WHERE p.polrelid = c.oid AND c.relrowsecurity'); // biome-ignore format: one line
  const table = `jsonb_build_array(c.oid, n.nspname, c.relname, c.relfilenode, c.relowner, CASE WHEN c.relkind = 'v' THEN c.reloptions END, c.relrowsecurity, c.relforcerowsecurity, ${columns}, ${parts}, ${shown}, ${passing})`;
  return list(
    `CAST(${table} AS TEXT), ' ' ORDER BY c.oid`,
    `pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = ANY (${oids})`,
  );
}

/** Row security depends on the reader, and behind a view on its owner; each of them with all roles they inherit. */
function readersOf(oids: string): string {
  const who = `WITH RECURSIVE who(oid) AS (
      SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user
      UNION SELECT c.relowner FROM pg_class AS c WHERE c.oid = ANY (${oids})
      UNION SELECT m.roleid FROM who AS w JOIN pg_auth_members AS m ON m.member = w.oid
    )`;
  const rights = list(`CAST(m.xmin AS TEXT), ',' ORDER BY m.roleid, m.grantor`, 'pg_auth_members AS m WHERE m.member = r.oid');
  return `(${who} SELECT string_agg(concat_ws(' ', r.oid, r.rolname, r.rolsuper, r.rolbypassrls, r.rolinherit, ${rights}), ',' ORDER BY r.oid) FROM who AS w JOIN pg_roles AS r ON r.oid = w.oid)`;
}

/**
 * Functions, casts, ENUM labels and parts of composite types change without any lock, and calls inside functions are unknown:
 * all of them are compared by the transaction that wrote them last, so that a change and its reversal are detected too.
 */
const ownThings = [
  ...['pg_proc', 'pg_cast', 'pg_enum'].map((catalog) =>
    list(`concat_ws(' ', o.oid, o.xmin), ',' ORDER BY o.oid`, `${catalog} AS o WHERE o.oid >= ${firstUserOid}`),
  ),
  list(
    `concat_ws(' ', a.attrelid, a.attnum, a.xmin), ',' ORDER BY a.attrelid, a.attnum`,
    `pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind = 'c' WHERE c.oid >= ${firstUserOid}`,
  ),
];

function catalogMarksSql({ oids, made }: ReachedObjects): string {
  const numbers = `CAST('{${oids.join()}}' AS OID[])`;
  const looks = [tablesIn(numbers), readersOf(numbers), ...(made ? ownThings : [])];
  return `SELECT md5(CAST(jsonb_build_array(${looks.join(', ')}) AS TEXT))`;
}

export const readCatalogMarks = async (connection: PostgresConnection, reached: ReachedObjects): Promise<string> =>
  String((await connection.run(catalogMarksSql(reached))).rows[0]![0]);

/**
 * Called while the transaction that has just read the tables locks them against
 * changes, on a connection that sees the current catalog, not the snapshot.
 */
export async function refuseCatalogChange(connection: PostgresConnection, reached: ReachedObjects, marks: string): Promise<void> {
  if ((await readCatalogMarks(connection, reached)) !== marks) throw changedMeanwhile();
}
