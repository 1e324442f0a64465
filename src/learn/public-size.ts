import { publicRecords as countRecords } from '../count/kept-rows.js';
import { pinned } from '../engine/engine.js';
import { Fault } from '../errors.js';
import type { Policy } from '../policy/policy.js';
import { deskOf, type Session } from '../release/session.js';

/**
 * How many records a session is about: public. Whoever will hold the rows says what one takes: more than there is room for is refused before anything is
 * booked, wherever the rows come from.
 */
export function publicRecords(session: Session, bytesPerRow = 0): Promise<number> {
  const { policy, engine } = deskOf(session);
  return pinned(engine, async (data) => {
    const records = await countRecords(data, policy);
    refuseToHold(records * rowsPerRecord(policy) * bytesPerRow, data.room);
    return records;
  });
}

function refuseToHold(bytes: number, room: number): void {
  if (bytes <= room) return;
  const megabytes = (n: number) => Math.ceil(n / 1e6);
  throw new Fault(
    'ENGINE_MEMORY',
    `The rows have to be held here and need about ${megabytes(bytes)} MB of memory; ${megabytes(room)} MB are allowed.`,
    `Set FUGU_MEMORY=${megabytes(1.05 * bytes)}MB or more if the machine has it, or ask about fewer columns.`,
    { details: { needed: Math.ceil(bytes), allowed: Math.floor(room) } },
  );
}

/** Most rows that change when one record is replaced. */
export const rowsPerRecord = (policy: Policy): number => (policy.protect.secret === 'person' ? policy.protect.maxRows : 1);
