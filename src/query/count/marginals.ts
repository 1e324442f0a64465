import { one } from '../../base/exact/rational.js';
import type { Snapshot } from '../../data/engine/engine.js';
import { cellCount } from '../../policy/domain.js';
import type { Policy } from '../../policy/policy.js';
import type { AdditiveMechanism } from '../../privacy/mechanism/additive.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import { countByDatabase, countTogether } from './count.js';
import { countInScans } from './in-scans.js';
import type { Axis, Measure } from './measure.js';

/** Many marginals over the same keys, each by the numbers of its keys; every one is a whole table, without a filter. */
export interface MarginalSet {
  readonly axes: readonly Axis[];
  readonly tables: readonly (readonly number[])[];
}

/** Rows x tables up to which the rows are read once and counted here; longer data is counted by the database: in few scans, or table by table. */
const streamedRows = 2_000_000_000;

/**
 * Draws the noise, counts every marginal, then adds the noise to the `vector` of the counts: in this order,
 * so that the time the noise takes cannot depend on the data.
 */
export async function noisyMarginals(
  engine: Snapshot,
  policy: Policy,
  marginals: MarginalSet,
  { vector, mechanism, payment }: NoisedVector,
): Promise<bigint[]> {
  const add = mechanism.prepare(payment);
  const streams = (await engine.size()).open() * marginals.tables.length <= streamedRows;
  const counts = streams
    ? (await countTogether(engine, policy, measuresOf(marginals))).map((cells) => cells.open())
    : await countMarginals(engine, policy, marginals);
  return add(vector(counts));
}
interface NoisedVector {
  readonly vector: (counts: readonly (readonly bigint[])[]) => bigint[];
  readonly mechanism: AdditiveMechanism;
  readonly payment: Payment;
}

const measuresOf = ({ axes, tables }: MarginalSet): readonly Measure[] =>
  tables.map((own) => ({
    mechanism: 'additive',
    name: 'table',
    cells: [],
    grid: one,
    sensitivity: new Map(),
    counting: { filter: [], keys: own.map((k) => axes[k]!), value: { kind: 'one' } },
  }));

/** Counted by the database. */
export async function countMarginals(
  engine: Snapshot,
  policy: Policy,
  { axes, tables }: MarginalSet,
): Promise<readonly (readonly bigint[])[]> {
  if (engine.dialect.eachOf) {
    const cells = tables.map((own) => new Array<bigint>(cellCount(own.map((k) => axes[k]!))).fill(0n));
    await countInScans(engine, policy, { axes, tables }, (table, cell, count) => {
      cells[table]![cell] = count;
    });
    return cells;
  }
  return (await countByDatabase(engine, policy, measuresOf({ axes, tables }))).map((cells) => cells.open());
}
