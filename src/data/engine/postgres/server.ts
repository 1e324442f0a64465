import { Fault } from '../../../base/errors.js';
import type { PostgresConnection } from './connection.js';

/** Oldest server version with the features used here. */
const least = 140_000;

/** A superuser, or a role that may access the server's files, has more rights than reading tables needs: any error would do more harm. */
export async function refuseServer(connection: PostgresConnection, instead: string): Promise<void> {
  const { rows } = await connection.run(
    `SELECT current_setting('server_version_num'), current_setting('server_encoding'), r.rolsuper,
       pg_has_role(current_user, 'pg_read_server_files', 'MEMBER') OR pg_has_role(current_user, 'pg_write_server_files', 'MEMBER')
         OR pg_has_role(current_user, 'pg_execute_server_program', 'MEMBER')
     FROM pg_roles AS r WHERE r.rolname = current_user`,
  );
  const [version, encoding, superuser, files] = rows[0] ?? [];
  if (Number(version) < least) throw new Fault('DATA_NOT_FOUND', 'The server is older than PostgreSQL 14.', 'Use a newer one.');
  if (encoding !== 'UTF8')
    throw new Fault('DATA_NOT_FOUND', 'The database does not keep its text as UTF-8.', 'Use one that does.');
  if (superuser === 't' || files === 't')
    throw new Fault(
      'ACCESS_DENIED',
      superuser === 't'
        ? 'This user of the database may do everything.'
        : 'This user of the database may use the files of the server.',
      instead,
    );
}
