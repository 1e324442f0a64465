import { one } from '../../base/exact/rational.js';
import type { Snapshot } from '../../data/engine/engine.js';
import { declaredColumn } from '../../policy/domain.js';
import type { Policy } from '../../policy/policy.js';
import type { AdditiveMechanism } from '../../privacy/mechanism/additive.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import { chooseKeptRows } from './chosen-rows.js';
import { columnView, loadChunk } from './column-view.js';
import { countByDatabase } from './count.js';
import { countInScans } from './in-scans.js';
import { type Axis, columnsOfKey, type Measure } from './measure.js';
import { keyRows } from './read-rows.js';
import { compileStream } from './stream.js';

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
  vector: (counts: readonly (readonly bigint[])[]) => bigint[],
  mechanism: AdditiveMechanism,
  payment: Payment,
): Promise<bigint[]> {
  const add = mechanism.prepare(payment);
  const streams = (await engine.size()).open() * marginals.tables.length <= streamedRows;
  return add(vector(await (streams ? streamMarginals(engine, policy, marginals) : countMarginals(engine, policy, marginals))));
}

/** Counted by the database. */
export async function countMarginals(
  engine: Snapshot,
  policy: Policy,
  { axes, tables }: MarginalSet,
): Promise<readonly (readonly bigint[])[]> {
  if (engine.dialect.eachOf) {
    const cells = tables.map((own) => new Array<bigint>(own.reduce((n, k) => n * axes[k]!.size, 1)).fill(0n));
    await countInScans(engine, policy, { axes, tables }, (table, cell, count) => {
      cells[table]![cell] = count;
    });
    return cells;
  }
  const measures = tables.map(
    (own): Measure => ({
      mechanism: 'additive',
      name: 'table',
      cells: [],
      grid: one,
      sensitivity: new Map(),
      counting: { filter: [], keys: own.map((k) => axes[k]!), value: { kind: 'one' } },
    }),
  );
  return (await countByDatabase(engine, policy, measures)).map((cells) => cells.open());
}

async function streamMarginals(
  engine: Snapshot,
  policy: Policy,
  { axes, tables }: MarginalSet,
): Promise<readonly (readonly bigint[])[]> {
  const names = [...new Set(axes.flatMap(columnsOfKey))];
  // Bounding the rows of a person compares the text of all columns, so cells are read as the engine shows them.
  const asWritten = policy.protect.secret !== 'person';
  const { statement, columns, written } = compileStream(
    names,
    policy,
    await engine.columns(),
    engine.dialect,
    asWritten,
    [],
    await chooseKeptRows(engine, policy),
  );
  const views = new Map(names.map((name) => [name, columnView(declaredColumn(policy, name), written.get(name))]));
  const fillers = axes.map((axis) => keyRows(policy, views, axis));
  let places = axes.map(() => new Int32Array(0));
  // Counts in doubles: no data has 2^53 rows.
  const sums = tables.map((own) => new Float64Array(own.reduce((n, k) => n * axes[k]!.size, 1)));
  for await (const part of engine.stream(statement)) {
    const chunk = part.open();
    loadChunk(views, columns, chunk);
    if ((places[0]?.length ?? 0) < chunk.rows) places = axes.map(() => new Int32Array(chunk.rows));
    for (const [k, fill] of fillers.entries()) fill(places[k]!, chunk.rows);
    for (const [t, own] of tables.entries()) add(sums[t]!, own, axes, places, chunk.rows);
  }
  return sums.map((cells) => Array.from(cells, BigInt));
}

function add(
  sums: Float64Array,
  own: readonly number[],
  axes: readonly Axis[],
  places: readonly Int32Array[],
  rows: number,
): void {
  const [i, j] = own;
  if (own.length === 2) {
    const [a, b, width] = [places[i!]!, places[j!]!, axes[j!]!.size];
    for (let r = 0; r < rows; r++) sums[a[r]! * width + b[r]!]!++;
    return;
  }
  for (let r = 0; r < rows; r++) {
    let cell = 0;
    for (const k of own) cell = cell * axes[k]!.size + places[k]![r]!;
    sums[cell]!++;
  }
}
