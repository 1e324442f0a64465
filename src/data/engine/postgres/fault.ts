import { Fault } from '../../../base/errors.js';
import { unreachable, untrusted } from '../server-access.js';

const failed = (message: string, hint: string) => new Fault('ENGINE_FAILED', message, hint);
export const postgresTimeout = () =>
  new Fault('ENGINE_DEADLINE', 'The database did not answer in time.', 'Ask for less at once, or raise the deadline.');
/** By a code of its own: who keeps a ledger there has other words for it. */
export const schemaChanged = () => Object.assign(new Error('exchanged'), { code: 'EXCHANGED' });
const lost = () =>
  failed('The connection to the database was lost.', 'Check that the server is running and can be reached, then try again.');
const notEntered = () =>
  new Fault(
    'ACCESS_DENIED',
    'The database could not be entered: there is no password, or only one side wants encryption.',
    'Set PGPASSWORD or write the password into ~/.pgpass, which nobody else may read (chmod 600); check sslmode in data.source.',
  );

/** Faults by SQLSTATE or system error code: the server's message quotes cells, so it is never read. */
const known: readonly [RegExp, () => Fault][] = [
  [/^57014$/, postgresTimeout],
  [/^(08...|57P0.|ECONNRESET|EPIPE)$/, lost],
  [
    unreachable,
    () => failed('The database cannot be reached.', 'Check host and port in data.source, and that the server is running.'),
  ],
  [
    /^EXCHANGED$/,
    () =>
      failed(
        'Something between here and the database has exchanged the session in which queries run.',
        'Let the pooler pool by session, not by transaction, or name the database itself in data.source.',
      ),
  ],
  [/^53300$/, () => failed('The database has no connection to spare.', 'Try again later.')],
  [
    /^28...$/,
    () =>
      new Fault(
        'ACCESS_DENIED',
        'The database does not let this user in.',
        'Name the user in data.source (postgres://reader@host/town); the password comes from PGPASSWORD or ~/.pgpass.',
      ),
  ],
  [/^3D000$/, () => new Fault('DATA_NOT_FOUND', 'There is no such database on the server.', 'Check the name in data.source.')],
  [
    /^42501$/,
    () =>
      new Fault(
        'ACCESS_DENIED',
        'The database does not let this user read the data.',
        'GRANT SELECT on the table, and USAGE on its schema.',
      ),
  ],
  [
    /^53[12]00$/,
    () => new Fault('ENGINE_MEMORY', 'The database ran out of memory or disk.', 'Ask for less at once, or give the server more.'),
  ],
  [
    untrusted,
    () =>
      failed(
        'No encrypted connection to the database could be made, or its certificate is not trusted.',
        'Name the certificate of its authority with ?sslrootcert=FILE in data.source, or say which sslmode the server is to be trusted with.',
      ),
  ],
];

/** `connecting`: no statement was sent yet, and an error without a code comes from the driver itself. */
export function postgresFault(error: unknown, connecting = false): Fault {
  if (error instanceof Fault) return error;
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  const found = known.find(([sign]) => sign.test(code))?.[1]();
  if (found) return found;
  if (connecting) return notEntered();
  // The driver itself has no code for a connection that ended.
  if (error instanceof Error && error.message.startsWith('Connection terminated')) return lost();
  return failed('The database could not answer.', 'Check that the data is still there and readable, then try again.');
}
