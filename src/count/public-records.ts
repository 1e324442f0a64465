import type { Engine } from '../engine/engine.js';
import type { Policy } from '../policy/policy.js';
import { Binder, dialectNamed } from './dialect.js';
import { keptRows } from './kept-rows.js';

/**
 * How many records there are: a number that replacing one record does not change, so it may steer an analysis and be told (docs/known-limits.md).
 * With secret `person` that is the number of persons; the number of rows would depend on how many rows one person has.
 */
export async function publicRecords(engine: Engine, policy: Policy): Promise<number> {
  if (policy.protect.secret !== 'person') return (await engine.size()).open();
  const binder = new Binder();
  const single = { ...policy, protect: { ...policy.protect, maxRows: 1 } };
  const one = keptRows(dialectNamed(engine.dialect), binder, single, await engine.columns(), []);
  const rows = (await engine.rows({ sql: `SELECT count(*) FROM (${one})`, values: binder.values })).open();
  return Number(rows[0]?.[0] ?? 0);
}
