import { publicRecords as countRecords } from '../count/kept-rows.js';
import { pinned } from '../engine/engine.js';
import type { Policy } from '../policy/policy.js';
import { deskOf, type Session } from '../release/session.js';

/** How many records a session is about: public. */
export function publicRecords(session: Session): Promise<number> {
  const { policy, engine } = deskOf(session);
  return pinned(engine, (data) => countRecords(data, policy));
}

/** Most rows that change when one record is replaced. */
export const rowsPerRecord = (policy: Policy): number => (policy.protect.secret === 'person' ? policy.protect.maxRows : 1);
