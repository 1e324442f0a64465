import { Fault } from '../../../base/errors.js';
import { unreachable, untrusted } from '../server-access.js';

/** The cluster took a statement and could not answer it. Its own words are not kept: they quote cells. */
export class TrinoRefused extends Error {
  readonly errorName: string;
  /** By which the cluster knows the statement. */
  readonly query: string;
  constructor(errorName: string, query: string) {
    super('refused');
    this.errorName = errorName;
    this.query = query;
  }
}

const failed = (message: string, hint: string) => new Fault('ENGINE_FAILED', message, hint);
export const trinoTimeout = () =>
  new Fault('ENGINE_DEADLINE', 'The cluster did not answer in time.', 'Ask for less at once, or raise the deadline.');
const lost = () =>
  failed('The connection to the cluster was lost.', 'Check that its coordinator is running and can be reached, then try again.');
/** The response is invalid or incomplete. */
export const broken = () =>
  failed('The cluster did not answer to the end.', 'Nothing of it was used. Try again; if it stays so, look at the coordinator.');
export const tooLong = (length: number, most: number) =>
  new Fault(
    'LIMIT_EXCEEDED',
    `A statement for the cluster has ${length} letters; it takes ${most}.`,
    'Ask for fewer columns at once, or leave fewer records out (raise maxTies).',
    { details: { size: length, limit: most } },
  );
const notEntered = () =>
  new Fault(
    'ACCESS_DENIED',
    'The cluster does not let this user in.',
    'Name the user in data.source (trino://reader@host:8443/catalog/schema); the password comes from TRINO_PASSWORD and is sent over TLS only.',
  );
const notAllowed = () =>
  new Fault(
    'ACCESS_DENIED',
    'The cluster does not let this user read the data.',
    'Let the user SELECT from the table in the access control of the cluster.',
  );
const noMemory = () =>
  new Fault('ENGINE_MEMORY', 'The cluster ran out of memory or disk.', 'Ask for less at once, or give the cluster more.');
const missing = () =>
  new Fault('DATA_NOT_FOUND', 'The cluster has no such catalog or schema.', 'Check the address in data.source.');

/** Faults by the name of the error, from a fixed list: the cluster's message quotes cells, so it is never read. */
const known: readonly [RegExp, () => Fault][] = [
  [/^(EXCEEDED_TIME_LIMIT|EXCEEDED_CPU_LIMIT|USER_CANCELED|ABANDONED_QUERY|ADMINISTRATIVELY_(KILLED|PREEMPTED))$/, trinoTimeout],
  [/^(PERMISSION_DENIED|ACCESS_DENIED)$/, notAllowed],
  [/^(CATALOG_NOT_FOUND|SCHEMA_NOT_FOUND|MISSING_CATALOG_NAME|MISSING_SCHEMA_NAME)$/, missing],
  [/^(EXCEEDED_.*MEMORY_LIMIT|CLUSTER_OUT_OF_MEMORY|EXCEEDED_SPILL_LIMIT|OUT_OF_SPILL_SPACE|EXCEEDED_LOCAL_.*)$/, noMemory],
  [
    /^(REMOTE_HOST_GONE|REMOTE_TASK_ERROR|REMOTE_TASK_MISMATCH|PAGE_TRANSPORT_ERROR|PAGE_TRANSPORT_TIMEOUT|NO_NODES_AVAILABLE|SERVER_SHUTTING_DOWN|SERVER_STARTING_UP|TOO_MANY_REQUESTS_FAILED)$/,
    () => failed('A part of the cluster was lost while it answered.', 'Nothing of the answer was used. Try again.'),
  ],
  [/^(QUERY_QUEUE_FULL|QUERY_REJECTED)$/, () => failed('The cluster takes no more questions at the moment.', 'Try again later.')],
  [
    /^(QUERY_TEXT_TOO_LARGE|QUERY_HAS_TOO_MANY_STAGES|STACK_OVERFLOW|COMPILER_ERROR|TOO_MANY_ARGUMENTS)$/,
    () =>
      new Fault('LIMIT_EXCEEDED', 'The statement is more than the cluster can plan.', 'Ask for fewer columns or goals at once.'),
  ],
];
function refusedFault({ errorName, query }: TrinoRefused): Fault {
  const found = known.find(([sign]) => sign.test(errorName))?.[1]();
  const { code, message, hint } =
    found ?? failed('The cluster could not answer.', 'Check that the data is still there and readable, then try again.');
  return new Fault(code, message, hint, { details: { query } });
}

export function statusFault(status: number): Fault {
  if (status === 401) return notEntered();
  if (status === 403) return notAllowed();
  return status === 429 || status >= 500
    ? failed('The coordinator of the cluster is not able to answer.', 'Try again later.')
    : failed('What answers at this address is no cluster, or not a known one.', 'Check host and port in data.source.');
}

export function trinoFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof TrinoRefused) return refusedFault(error);
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  if (unreachable.test(code))
    return failed('The cluster cannot be reached.', 'Check host and port in data.source, and that its coordinator is running.');
  if (untrusted.test(code))
    return failed(
      'No encrypted connection to the cluster could be made, or its certificate is not trusted.',
      'Name the certificate of its authority with ?sslrootcert=FILE in data.source.',
    );
  return lost();
}
