import { Fault } from '../../../base/errors.js';
import { BrokenChain } from '../chain/chain.js';
import { busyFault, corrupt } from '../faults.js';

type FaultMaker = (place: string) => Fault;
const at = (place: string) => ({ place: { file: place } });

const unreached: FaultMaker = (place) =>
  new Fault(
    'LEDGER_BUSY',
    'The server of the ledger cannot be reached, or the connection to it was lost.',
    'Check the address after ledger:, and that the server is running; then try again.',
    at(place),
  );
const notEntered: FaultMaker = (place) =>
  new Fault(
    'ACCESS_DENIED',
    'The server of the ledger does not let this user in.',
    'Name the user after ledger: (postgres://keeper@host/budgets); the password comes from FUGU_LEDGER_PASSWORD, PGPASSWORD or ~/.pgpass. Check sslmode and sslrootcert, too.',
    at(place),
  );
const notAllowed: FaultMaker = (place) =>
  new Fault(
    'ACCESS_DENIED',
    'The database does not let this user keep the ledger.',
    'It needs the rights that docs/how-to/postgres.md lists, or, for the first time, the right to create a schema in the database.',
    at(place),
  );
const noDatabase: FaultMaker = (place) =>
  new Fault(
    'DATA_NOT_FOUND',
    'There is no such database for the ledger.',
    'Create it, or check the name after ledger:.',
    at(place),
  );
const full: FaultMaker = (place) =>
  new Fault('DISK_FULL', 'The server of the ledger has no room left.', 'Give it some and try again.', at(place));
const exchanged: FaultMaker = (place) =>
  new Fault(
    'DISK_FAILED',
    'Something between here and the server of the ledger has exchanged the session: its commits may not wait for the disk.',
    'Let the pooler pool by session, not by transaction, or name the server itself after ledger:.',
    at(place),
  );
const readOnly: FaultMaker = (place) =>
  new Fault(
    'READ_ONLY',
    'The database of the ledger cannot be written.',
    'Name the server that takes writes, not a copy of it.',
    at(place),
  );
const unfit: FaultMaker = (place) =>
  new Fault(
    'POLICY_INVALID',
    'A name is too long for this ledger, or holds the letter 0.',
    'Shorten population or analyst.',
    at(place),
  );
const failed: FaultMaker = (place) =>
  new Fault(
    'DISK_FAILED',
    'The server of the ledger could not answer.',
    'Look into its log, then run "fugu ledger POLICY verify".',
    at(place),
  );

/** By SQLSTATE or the system's error code; the server's own message is not repeated. */
const faultsByCode: readonly [RegExp, FaultMaker][] = [
  // The driver has no code for a connection that ended.
  [/^(|08...|57P0.|53300|ECONN\w+|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|EACCES)$/, unreached],
  // A lock that was held for too long, a deadlock, or a link of this number written without the lock.
  [/^(55P03|40P01|40001|57014|25P03|23505)$/, busyFault],
  [/^(28...|DEPTH_ZERO.*|SELF_SIGNED.*|UNABLE_TO.*|CERT_.*|ERR_TLS.*|ERR_SSL.*|EPROTO|HOSTNAME_MISMATCH)$/, notEntered],
  [/^42501$/, notAllowed],
  [/^3D000$/, noDatabase],
  [/^53[1]00$/, full],
  [/^25006$/, readOnly],
  [/^EXCHANGED$/, exchanged],
  [/^(22021|22P05|54000)$/, unfit],
  [/^XX00[12]$/, (place) => corrupt(place, 'PostgreSQL finds its tables malformed')],
  [/^(42P01|42703|3F000)$/, (place) => corrupt(place, 'its tables are gone, or are not those of a ledger')],
];

export function serverFault(error: unknown, place: string, entering = false): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof BrokenChain) return corrupt(place, error.message);
  const code = codeOf(error);
  // Errors of the driver: no password, or encryption on one side only; unless the server has gone meanwhile.
  if (entering && code === '' && !/^Connection terminated/.test(String((error as Error)?.message))) return notEntered(place);
  return (faultsByCode.find(([sign]) => sign.test(code))?.[1] ?? (entering ? notEntered : failed))(place);
}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');
/** True if the server itself reported the transaction as undone; otherwise it may have been committed without a reply. */
export const isUndone = (error: unknown): boolean =>
  /^(?!08|57P0)[0-9A-Z]{5}$/.test(codeOf(error)) &&
  'severity' in (error as object) &&
  (error as { severity?: unknown }).severity === 'ERROR';
export const isLost = (error: unknown): boolean => /^(|08...|57P0.|ECONNRESET|EPIPE)$/.test(codeOf(error));
