import { Fault } from '../../../base/errors.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { tieKindOf } from '../../../data/ties/kinds.js';
import { recordTies, structureColumns } from '../../../data/ties/record-ties.js';
import type { RecordTable } from '../../../data/ties/records.js';
import type { Dependence, Policy } from '../../../policy/policy.js';
import { combine, type FactorGraph, untied } from '../../../privacy/dependence/graph/factor-graph.js';

/** Columns that define the ties. */
export const columnsOfTies = (policy: Policy): readonly string[] => structureColumns(policy.dependence).names;

/** Actual ties on this column: the groups themselves, even if noise is calibrated for the largest group allowed. */
export async function attackerGraph(
  policy: Policy,
  engine: Snapshot,
  records: RecordTable,
  column: string,
): Promise<FactorGraph> {
  const graphs = await Promise.all(
    policy.dependence.filter((d) => appliesTo(d, column)).map((d) => graphOf(d, policy, engine, records)),
  );
  return graphs.length > 0 ? combine(graphs) : untied(records.count);
}

const appliesTo = (d: Dependence, column: string): boolean =>
  tieKindOf(d).records !== undefined && (!('column' in d) || d.column === undefined || d.column === column);

function graphOf(d: Dependence, policy: Policy, engine: Snapshot, records: RecordTable): FactorGraph | Promise<FactorGraph> {
  const ties = tieKindOf(d).records;
  if (ties?.actual) return ties.graph(ties.actual(d), { policy, records, engine });
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `Ties of kind "${d.kind}" cannot be attacked through a policy yet.`,
    'Groups and ties can; for a model file use "fugu posterior MODEL".',
  );
}

/** Records that the answer is about: all, or those that the limit on ties admits. */
export async function shownRecords(policy: Policy, engine: Snapshot, records: RecordTable, leftOut: number): Promise<Uint8Array> {
  const shown = new Uint8Array(records.count).fill(1);
  if (leftOut === 0) return shown;
  const { unused } = await recordTies(policy.dependence, { policy, engine });
  if (unused?.names.length !== leftOut)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'The release left out other records than this policy would.',
      'Attack it with the policy it was made under, on the same data.',
    );
  for (const name of unused.names) shown[records.firstNamed(name)!] = 0;
  return shown;
}
