import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import { dropsWholePersons } from '../../query/count/contribution-bound.js';
import type { ExecutionPlan } from '../../query/count/count.js';
import { type PublicReader, publicReads } from '../../release/session/public-read.js';
import type { PrivacySession } from '../../release/session/session.js';

/** Public number of records of a session in the present data. */
export const publicSize = (session: PrivacySession): Promise<number> => session.read(publicReads.records);

/**
 * Check of the data about to be read: noise planned for so many records is wrong for another number. Records may have been added
 * between plan and release.
 */
export const refuseChangedSize =
  (records: number) =>
  async (look: PublicReader): Promise<void> => {
    if ((await look(publicReads.records)) === records) return;
    throw new Fault(
      'ENGINE_FAILED',
      'The number of records has changed since this was planned.',
      'Ask again: the noise is fitted to it.',
    );
  };

/**
 * Public number of records for analyses that hold the rows in memory, and the summary of that; more than fit are refused before
 * anything is reserved, whatever the source.
 */
export async function recordsInMemory(
  session: PrivacySession,
  columns: readonly string[],
  bytesPerRow: number,
): Promise<{ readonly records: number; readonly counting: ExecutionPlan }> {
  const { policy, memoryLimit } = session;
  const records = await publicSize(session);
  refuseTooManyRows(records * rowsPerRecord(policy), bytesPerRow, memoryLimit);
  return { records, counting: { where: 'here', streamed: { columns }, held: { upTo: Math.floor(memoryLimit / bytesPerRow) } } };
}

/**
 * The same for the ties of a relation declared as known, for analyses that select among them in memory and read these columns of tied
 * people.
 */
export async function tiesInMemory(
  session: PrivacySession,
  relation: string,
  columns: readonly string[],
  bytesPerTie: number,
): Promise<ExecutionPlan> {
  const { memoryLimit } = session;
  refuseTooManyRows(await session.read(publicReads.relationSize, relation), bytesPerTie, memoryLimit);
  return { where: 'here', streamed: { columns }, held: { upTo: Math.floor(memoryLimit / bytesPerTie) } };
}

/** Number of persons in several groups of a column that a tie declares as known; read before anything is reserved. */
export const personsInSeveralGroups = (session: PrivacySession, by: string): Promise<number> =>
  session.read(publicReads.membersOfSeveral, by);

export function refuseTooManyRows(rows: number, bytesPerRow: number, memoryLimit: number): void {
  const bytes = rows * bytesPerRow;
  if (bytes <= memoryLimit) return;
  const megabytes = (n: number) => Math.ceil(n / 1e6);
  const most = Math.floor(memoryLimit / bytesPerRow);
  throw new Fault(
    'ENGINE_MEMORY',
    `The rows have to be held here and need about ${megabytes(bytes)} MB of memory; ${megabytes(memoryLimit)} MB are allowed, which is enough for ${most.toLocaleString('en-US')} rows.`,
    `Set FUGU_MEMORY=${megabytes(1.05 * bytes)}MB or more if the machine has it, or ask about fewer columns.`,
    { details: { needed: Math.ceil(bytes), allowed: Math.floor(memoryLimit), rows: most } },
  );
}

/** Most rows that change when one record is replaced. */
export const rowsPerRecord = (policy: Policy): number => (policy.protect.secret === 'person' ? policy.protect.maxRows : 1);

/**
 * True if every record is exactly one counted row. Under pairs of values a person with more rows than `maxRows` is left out, so the
 * number of remaining rows is not public.
 */
export const oneRowEach = (policy: Policy): boolean => rowsPerRecord(policy) === 1 && !dropsWholePersons(policy);
