import type { Engine } from '../engine/engine.js';
import { quoteName, readStructure } from '../engine/structure.js';
import { Fault } from '../errors.js';
import { nextUp } from '../exact/rational.js';
import type { Policy, TiesDependence } from '../policy/policy.js';
import { type FactorGraph, fromPairs } from './factor-graph.js';
import { strength } from './groups.js';
import type { RecordTable } from './records.js';

/** Ties from an edge table: friends, kin, contacts. Both ends must be names in the unit column. */
export async function tiesGraph(
  dependence: TiesDependence,
  policy: Policy,
  records: RecordTable,
  engine: Engine,
): Promise<FactorGraph> {
  if (policy.protect.unit === undefined)
    throw new Fault(
      'POLICY_INVALID',
      'Ties name records, but no column says how the records are named.',
      'Add unit: COLUMN under protect:.',
    );
  const left: number[] = [];
  const right: number[] = [];
  const odds: number[] = [];
  const view = quoteName(`fugu_relation_${dependence.relation}`);
  const extra = dependence.oddsColumn === undefined ? '' : ', odds';
  for await (const [a, b, ratio] of readStructure(engine, { sql: `SELECT c0, c1${extra} FROM ${view}`, values: [] })) {
    const u = records.named(a as string);
    const w = records.named(b as string);
    if (u === undefined || w === undefined)
      throw new Fault(
        'DATA_MALFORMED',
        `The ties of relation "${dependence.relation}" name records that are not in the data.`,
        'Every end of a tie must be a value of the unit column; remove the others from the table.',
      );
    if (u === w) continue;
    left.push(u);
    right.push(w);
    odds.push(dependence.oddsColumn === undefined ? strength(dependence.oddsRatio) : readOdds(ratio, dependence));
  }
  return fromPairs(records.count, Uint32Array.from(left), Uint32Array.from(right), Float64Array.from(odds));
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
