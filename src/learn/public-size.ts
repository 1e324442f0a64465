import { Binder, dialectNamed } from '../count/dialect.js';
import { keptRows } from '../count/kept-rows.js';
import type { Policy } from '../policy/policy.js';
import { deskOf, type Session } from '../release/session.js';

/**
 * How many records there are: a number that replacing one record does not change, so it may steer an analysis (docs/known-limits.md).
 * With secret `person` that is the number of persons; the number of rows would depend on how many rows one person has.
 */
export async function publicRecords(session: Session): Promise<number> {
  const { policy, engine } = deskOf(session);
  if (policy.protect.secret !== 'person') return (await engine.size()).open();
  const binder = new Binder();
  const single = { ...policy, protect: { ...policy.protect, maxRows: 1 } };
  const one = keptRows(dialectNamed(engine.dialect), binder, single, await engine.columns(), []);
  const rows = (await engine.rows({ sql: `SELECT count(*) FROM (${one})`, values: binder.values })).open();
  return Number(rows[0]?.[0] ?? 0);
}

/** Most rows that change when one record is replaced. */
export const rowsPerRecord = (policy: Policy): number => (policy.protect.secret === 'person' ? policy.protect.maxRows : 1);
