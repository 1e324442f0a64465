import { type FactorGraph, fromPairs } from '../dependence/graph/factor-graph.js';
import { boundless, graphBytes, type Room } from '../dependence/graph/room.js';
import type { Engine } from '../engine/engine.js';
import { countStructure, quoteName, readBlocks } from '../engine/structure.js';
import { Fault } from '../errors.js';
import { nextUp } from '../exact/rational.js';
import type { Policy, TiesDependence } from '../policy/policy.js';
import { strength } from './groups.js';
import type { RecordTable } from './records.js';

/** Ties from an edge table: friends, kin, contacts. Both ends must be names in the unit column. */
export async function tiesGraph(
  dependence: TiesDependence,
  policy: Policy,
  records: RecordTable,
  engine: Engine,
  room: Room = boundless,
): Promise<FactorGraph> {
  if (policy.protect.unit === undefined)
    throw new Fault(
      'POLICY_INVALID',
      'Ties name records, but no column says how the records are named.',
      'Add unit: COLUMN under protect:.',
    );
  const view = quoteName(`fugu_relation_${dependence.relation}`);
  const extra = dependence.oddsColumn === undefined ? '' : ', odds';
  // A symmetric relation lists every tie both ways round, with one strength.
  const once = policy.relations.get(dependence.relation)?.symmetric ? ' WHERE c0 < c1' : '';
  const statement = { sql: `SELECT c0, c1${extra} FROM ${view}${once}`, values: [] };
  const most = await countStructure(engine, statement);
  room.need(records.bytes + 24 * most + graphBytes(records.count, 2 * most));
  const left = new Uint32Array(most);
  const right = new Uint32Array(most);
  const odds = dependence.oddsColumn === undefined ? strength(dependence.oddsRatio) : new Float64Array(most);
  let size = 0;
  for await (const { rows, columns } of readBlocks(engine, statement)) {
    const [a, b, ratio] = columns;
    for (let r = 0; r < rows; r++) {
      const u = records.named(a![r] as string);
      const w = records.named(b![r] as string);
      if (u === undefined || w === undefined)
        throw new Fault(
          'DATA_MALFORMED',
          `The ties of relation "${dependence.relation}" name records that are not in the data.`,
          'Every end of a tie must be a value of the unit column; remove the others from the table.',
        );
      if (u === w) continue;
      left[size] = u;
      right[size] = w;
      if (typeof odds !== 'number') odds[size] = readOdds(ratio![r], dependence);
      size++;
    }
  }
  return fromPairs(
    records.count,
    left.subarray(0, size),
    right.subarray(0, size),
    typeof odds === 'number' ? odds : odds.subarray(0, size),
  );
}

/** The engine reads the strengths as doubles, at most one rounding away from what was written: take the next larger one. */
function readOdds(cell: unknown, dependence: TiesDependence): number {
  const ratio = Number(cell);
  if (!(ratio >= 1))
    throw new Fault(
      'DATA_MALFORMED',
      `The odds ratios of relation "${dependence.relation}" must be numbers of at least 1.`,
      'Write 1 for strangers and inf for copies.',
    );
  return strength(Number.isInteger(ratio) ? ratio : nextUp(ratio));
}
