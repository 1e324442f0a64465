import type { Amplifier } from '../dependence/amplifier.js';
import { combine, type FactorGraph, untied } from '../dependence/graph/factor-graph.js';
import { after, combinedBytes, graphBytes, type Room, refuseBeyondHeap, roomOf } from '../dependence/graph/room.js';
import { type GraphRoute, graphAmplifier } from '../dependence/graph-amplifier.js';
import type { Engine } from '../engine/engine.js';
import { nameText } from '../engine/name.js';
import { Fault } from '../errors.js';
import { everyRecord, type RecordClass } from '../mechanism/record-class.js';
import type { Adversary, Dependence, Policy, TiesDependence } from '../policy/policy.js';
import { factorsGraph } from './factors.js';
import { gaussianGraph } from './gaussian.js';
import { groupsGraph } from './groups.js';
import { type RecordColumns, type RecordTable, readRecords } from './records.js';
import { tiesGraph } from './relation.js';
import { sequenceGraph } from './sequence.js';
import { markOf, spareTies, type TieLimit, usedRecords } from './used-records.js';
import { wordsFor } from './words.js';

/** Ties between whole records (rows, persons, steps). `columns` ties the answers inside one record, which is all one secret here. */
type RecordDependence = Exclude<Dependence, { kind: 'columns' }>;

export interface RecordTies {
  readonly amplifiers: readonly Amplifier[];
  /** The records whose rows releases may not use, when a limit on ties leaves some out. */
  readonly unused?: { readonly column: string; readonly names: readonly string[] };
}

interface Source {
  readonly policy: Policy;
  readonly records: RecordTable;
  readonly engine: Engine;
  readonly room: Room;
}
const builders: {
  [K in RecordDependence['kind']]: (d: Extract<Dependence, { kind: K }>, source: Source) => FactorGraph | Promise<FactorGraph>;
} = {
  groups: (d, { records, room }) => groupsGraph(d, records, room),
  ties: (d, { policy, records, engine, room }) => tiesGraph(d, policy, records, engine, room),
  sequence: (d, { policy, records, room }) => sequenceGraph(d, policy, records, room),
  gaussian: (d, { policy, records }) => gaussianGraph(d, policy, records.count, spelt(records)),
  factors: (d, { records }) => factorsGraph(d, records.count, spelt(records)),
};
/** Model files are written by hand, as the data may be. */
const spelt =
  ({ named }: RecordTable) =>
  (id: string) =>
    named(nameText(id));
const build = (d: RecordDependence, source: Source) =>
  (builders[d.kind] as (d: RecordDependence, source: Source) => FactorGraph | Promise<FactorGraph>)(d, source);

const structureColumns = (list: readonly RecordDependence[]): RecordColumns => ({
  names: list.flatMap((d) => (d.kind === 'groups' ? d.by : d.kind === 'sequence' ? [d.by] : [])),
  cells: list.flatMap((d) => (d.kind === 'sequence' ? [d.order] : [])),
});

export async function recordTies(policy: Policy, engine: Engine, list: readonly Dependence[]): Promise<RecordTies> {
  const tied = list.filter((d): d is RecordDependence => d.kind !== 'columns');
  const shared = {
    scope: (record: RecordClass) => record === everyRecord,
    assumptions: [independence(policy, tied.length > 0), ...list.map(wordsFor)],
  };
  if (tied.length === 0) return { amplifiers: [independentRecords(shared)] };
  const reach = reachOf(tied, policy.protect.adversary);
  refuseHiddenGroupsBesideTies(tied);
  const room = roomOf(engine.room);
  const hidden = tied.every((d) => d.kind === 'groups' && d.maxSize !== undefined);
  const least = (count: number) => (hidden ? 0 : graphBytes(count, 0));
  const records = await readRecords(policy, engine, structureColumns(tied), room, least);
  room.need(records.bytes + least(records.count));
  const graphs: FactorGraph[] = [];
  for (const d of tied) graphs.push(await build(d, { policy, records, engine, room: after(graphs, room) }));
  if (graphs.length > 1) after(graphs, room).need(records.bytes + combinedBytes(graphs));
  const everyone: GraphRoute = {
    ...shared,
    name: 'ties',
    graph: combine(graphs),
    adversary: policy.protect.adversary,
    reach,
    how: 'Dependence calculus over the declared ties.',
  };
  const limited = tied.filter((d) => d.kind === 'ties' && d.maxTies !== undefined).length;
  const limits = tied.flatMap((d, k): TieLimit[] => {
    const graph = graphs[k]!;
    return d.kind === 'ties' && d.maxTies !== undefined ? [{ graph, most: d.maxTies, spare: spareTies(graph, limited) }] : [];
  });
  if (limits.length > 0) refuseBeyondHeap(namedBytes * records.count);
  const used = limits.length > 0 ? usedRecords(limits, (r) => records.nameOf(r)!, policy.population) : undefined;
  return used?.includes(0) ? leaveOut(everyone, used, limits, policy, records) : { amplifiers: [graphAmplifier(everyone)] };
}

/** What choosing records by their names holds for each of them. */
const namedBytes = 240;

/** The bound for the records that are used, and the one for everybody, in case earlier releases used others. */
function leaveOut(
  everyone: GraphRoute,
  used: Uint8Array,
  limits: readonly TieLimit[],
  { protect }: Policy,
  records: RecordTable,
): RecordTies {
  const unused: string[] = [];
  for (let record = 0; record < records.count; record++) {
    const name = used[record] ? undefined : records.nameOf(record);
    if (name !== undefined) unused.push(name);
  }
  const some: GraphRoute = {
    ...everyone,
    name: 'ties of used records',
    used,
    conditions: [{ mark: markOf(unused), need: { kind: 'rows' } }],
    leftOut: { used: records.count - unused.length, unused: unused.length },
    assumptions: [...everyone.assumptions, leavingOut(limits, unused.length, records.count)],
    how: 'Dependence calculus over the declared ties, with the effects of the used records.',
  };
  return { amplifiers: [graphAmplifier(some), graphAmplifier(everyone)], unused: { column: protect.unit!, names: unused } };
}

const leavingOut = (limits: readonly TieLimit[], unused: number, all: number): string =>
  `${unused} of ${all} records are left out of every release, so that no used record is tied to more than ${limits.map((l) => l.most).join(' and ')} used ones (and none left out to more than ${limits.map((l) => l.most + l.spare).join(' and ')}). Which ones depends on the ties only, never on a value; answers are about the others. Those left out are protected like everybody.`;

const independence = ({ protect }: Policy, tied: boolean): string =>
  `Different ${protect.secret === 'person' ? 'persons' : 'rows'} are independent of one another${tied ? ' except for the declared ties' : ''}; a tie that is not declared is not protected.`;

const independentRecords = (shared: Pick<GraphRoute, 'scope' | 'assumptions'>): Amplifier =>
  graphAmplifier({
    ...shared,
    name: 'independent',
    graph: untied(1),
    adversary: 'informed',
    reach: 'any',
    how: 'Records are declared independent: leakage is the base cost.',
  });

/** `reach: direct` is an assumption about an uninformed attacker, and must hold for all ties at once. */
function reachOf(list: readonly Dependence[], adversary: Adversary): 'any' | 'direct' {
  const direct = list.filter((d): d is TiesDependence => d.kind === 'ties' && d.reach === 'direct');
  if (direct.length === 0) return 'any';
  if (adversary !== 'uninformed')
    throw new Fault(
      'POLICY_INVALID',
      'reach: direct holds against an uninformed attacker only.',
      'Write adversary: uninformed under protect:, or leave reach out.',
    );
  if (direct.length !== list.length)
    throw new Fault(
      'POLICY_INVALID',
      'reach: direct must hold for every declared tie.',
      'Declare reach: direct for all ties, or for none.',
    );
  return 'direct';
}

/** A public bound on group sizes stands for groups nobody has seen: nothing can be said about how other ties would run across them. */
function refuseHiddenGroupsBesideTies(list: readonly RecordDependence[]): void {
  if (list.length > 1 && list.some((d) => d.kind === 'groups' && d.maxSize !== undefined))
    throw new Fault(
      'POLICY_INVALID',
      'maxSize hides who is in which group, so it cannot be combined with other ties.',
      'Leave maxSize out (the groups are then taken as known to the attacker), or declare nothing else between records.',
    );
}
