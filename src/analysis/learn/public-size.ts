import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import type { HowCounted } from '../../query/count/count.js';
import { leavesOut } from '../../query/count/kept-rows.js';
import { type Look, publicReads } from '../../release/session/public-read.js';
import type { Session } from '../../release/session/session.js';

/** Public number of records of a session in the present data. */
export const publicRecords = (session: Session): Promise<number> => session.read(publicReads.records);

/**
 * Check of the data about to be read: noise planned for so many records is wrong for another number. Records may have been added
 * between plan and release.
 */
export const stillAsMany =
  (records: number) =>
  async (look: Look): Promise<void> => {
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
export async function recordsHeld(
  session: Session,
  columns: readonly string[],
  bytesPerRow: number,
): Promise<{ readonly records: number; readonly counting: HowCounted }> {
  const { policy, room } = session;
  const records = await publicRecords(session);
  refuseToHold(records * rowsPerRecord(policy), bytesPerRow, room);
  return { records, counting: { where: 'here', streamed: { columns }, held: { upTo: Math.floor(room / bytesPerRow) } } };
}

/**
 * The same for the ties of a relation declared as known, for analyses that select among them in memory and read these columns of tied
 * people.
 */
export async function tiesHeld(
  session: Session,
  relation: string,
  columns: readonly string[],
  bytesPerTie: number,
): Promise<HowCounted> {
  const { room } = session;
  refuseToHold(await session.read(publicReads.relationSize, relation), bytesPerTie, room);
  return { where: 'here', streamed: { columns }, held: { upTo: Math.floor(room / bytesPerTie) } };
}

/** Number of persons in several groups of a column that a tie declares as known; read before anything is reserved. */
export const inSeveralGroups = (session: Session, by: string): Promise<number> => session.read(publicReads.membersOfSeveral, by);

export function refuseToHold(rows: number, bytesPerRow: number, room: number): void {
  const bytes = rows * bytesPerRow;
  if (bytes <= room) return;
  const megabytes = (n: number) => Math.ceil(n / 1e6);
  const most = Math.floor(room / bytesPerRow);
  throw new Fault(
    'ENGINE_MEMORY',
    `The rows have to be held here and need about ${megabytes(bytes)} MB of memory; ${megabytes(room)} MB are allowed, which is enough for ${most.toLocaleString('en-US')} rows.`,
    `Set FUGU_MEMORY=${megabytes(1.05 * bytes)}MB or more if the machine has it, or ask about fewer columns.`,
    { details: { needed: Math.ceil(bytes), allowed: Math.floor(room), rows: most } },
  );
}

/** Most rows that change when one record is replaced. */
export const rowsPerRecord = (policy: Policy): number => (policy.protect.secret === 'person' ? policy.protect.maxRows : 1);

/**
 * True if every record is exactly one counted row. Under pairs of values a person with more rows than `maxRows` is left out, so the
 * number of remaining rows is not public.
 */
export const oneRowEach = (policy: Policy): boolean => rowsPerRecord(policy) === 1 && !leavesOut(policy);
