import type { Engine } from '../engine/engine.js';
import type { Exact } from '../engine/exact.js';
import type { Policy } from '../policy/policy.js';
import { compileCounting, readCells } from '../query/compile.js';
import { rowCounter } from '../query/count-rows.js';
import type { Measure } from '../query/measure.js';

/** Up to this many cells (rows x columns) a table with many measures is read once and counted here; longer ones are counted by the database. */
const streamedCells = 20_000_000;

/** The exact integers of every measure: planned by shape, same integers either way. */
export async function countCells(
  engine: Engine,
  policy: Policy,
  measures: readonly Measure[],
): Promise<readonly Exact<readonly bigint[]>[]> {
  const rows = (await engine.size()).open();
  const many = measures.length >= 4;
  return many && rows * measures.length <= streamedCells
    ? countStreaming(engine, policy, measures)
    : countByDatabase(engine, policy, measures);
}
