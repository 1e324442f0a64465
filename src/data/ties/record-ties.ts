import { Fault } from '../../base/errors.js';
import type { Adversary, Dependence, Policy } from '../../policy/policy.js';
import type { Amplifier } from '../../privacy/dependence/amplifier.js';
import { combine, type FactorGraph, untied } from '../../privacy/dependence/graph/factor-graph.js';
import {
  combinedBytes,
  graphBytes,
  memoryAfter,
  memoryLimit,
  refuseBeyondHeap,
} from '../../privacy/dependence/graph/memory-limit.js';
import { type GraphRoute, graphAmplifier } from '../../privacy/dependence/graph-amplifier.js';
import { everyRecord, type RecordClass } from '../../privacy/mechanism/record-class.js';
import type { Snapshot } from '../engine/engine.js';
import type { BetweenRecords, GraphSource } from './kind.js';
import { type TieKinds, tieKindColumns, tieKindOf, tieKinds } from './kinds.js';
import { type RecordColumns, type RecordTable, readRecords } from './records.js';
import { slicingsOf } from './slicings.js';
import { markOf, spareTies, type TieLimit, type UseLimits, usedRecords } from './used-records.js';

/** Receives the completed fraction of the work. */
export type ProgressListener = (done: number) => void;
const noProgress: ProgressListener = () => undefined;

export interface RecordTies {
  readonly amplifiers: readonly Amplifier[];
  /** The records whose rows releases may not use, when a limit on ties leaves some out. */
  readonly unused?: { readonly column: string; readonly names: readonly string[] };
}

/** A declared dependence with the part of its kind that ties whole records (rows, persons, steps). */
interface TiedDependence {
  readonly d: Dependence;
  readonly ties: BetweenRecords<Dependence>;
}

export function structureColumns(list: readonly Dependence[], kinds: TieKinds = tieKinds): RecordColumns {
  const columns = list.flatMap((d) => tieKindColumns(d, kinds));
  const of = (read: 'name' | 'cell') => columns.filter((c) => c.read === read).map((c) => c.column);
  return { names: of('name'), cells: of('cell') };
}

/** What the ties of a policy are read from. */
export interface TieSource {
  readonly policy: Policy;
  readonly engine: Snapshot;
  readonly kinds?: TieKinds | undefined;
  readonly progress?: ProgressListener | undefined;
}

export async function recordTies(list: readonly Dependence[], source: TieSource): Promise<RecordTies> {
  const { policy, engine, kinds = tieKinds } = source;
  const tied = list.flatMap((d): TiedDependence[] => {
    const ties = tieKindOf(d, kinds).records;
    return ties ? [{ d, ties }] : [];
  });
  const shared = {
    scope: (record: RecordClass) => record === everyRecord,
    assumptions: [independence(policy, tied.length > 0), ...list.map((d) => tieKindOf(d, kinds).words(d))],
  };
  if (tied.length === 0) return { amplifiers: [independentRecords(shared)] };
  const reach = reachOf(tied, policy.protect.adversary);
  refuseCombined(tied);
  const { adversary, secret, window = 1 } = policy.protect;
  const [only] = tied;
  const alone = { policy, engine, assumptions: shared.assumptions };
  const chain = tied.length === 1 && secret !== 'person' ? await only!.ties.chain?.(only!.d, alone) : undefined;
  if (chain?.whole) return { amplifiers: [chain.amplifier] };
  if (window > 1) throw noWindow();
  const { records, graphs, values } = await readGraphs(tied, source);
  const everyone: GraphRoute = {
    ...shared,
    name: 'ties',
    graph: combine(graphs),
    adversary,
    reach,
    ...pullOf(tied, policy),
    ...(values.size > 0 && { values }),
    method: 'The noise covers the declared ties between records.',
  };
  const limits = limitsOf(tied, graphs, { policy, records, engine, room: memoryLimit(engine.room) });
  const used = limits && usedRecords({ ...limits, records: records.count, nameOf: (r) => records.nameOf(r) }, policy.population);
  return limits && used?.includes(0)
    ? leaveOut(everyone, records, { used, limits, unit: policy.protect.unit! })
    : { amplifiers: [graphAmplifier(everyone), ...(chain ? [chain.amplifier] : [])] };
}

/** Reads the records, with the graph of each tie and the values by which costs are recorded. */
async function readGraphs(tied: readonly TiedDependence[], source: TieSource) {
  const { policy, engine, kinds = tieKinds, progress = noProgress } = source;
  const room = memoryLimit(engine.room);
  const hidden = tied.every(({ d, ties }) => ties.alone?.(d) !== undefined);
  const least = (count: number) => (hidden ? 0 : graphBytes(count, 0));
  // Unobserved records have no values.
  const slicings = hidden ? [] : slicingsOf(policy, kinds);
  const structure = structureColumns(tied.map(({ d }) => d), kinds); // biome-ignore format: one line
  const numbers = slicings.map(({ column, read }) => ({ column: column.name, read }));
  const records = await readRecords(policy, engine, { ...structure, numbers }, { room, least });
  progress(0.4);
  room.require(records.bytes + least(records.count));
  const graphs: FactorGraph[] = [];
  for (const { d, ties } of tied) {
    graphs.push(await ties.graph(d, { policy, records, engine, room: memoryAfter(graphs, room) }));
    progress(0.4 + (0.4 * graphs.length) / tied.length);
  }
  if (graphs.length > 1) memoryAfter(graphs, room).require(records.bytes + combinedBytes(graphs));
  const values = new Map(slicings.map(({ slicing, column }) => [slicing, ofRecords(records, records.numbersIn(column.name))]));
  return { records, graphs, values };
}

type Limits = Pick<UseLimits, 'limits'> & Required<Pick<UseLimits, 'groups'>>;

/** Declared limits on ties and groups, if there are any. */
function limitsOf(tied: readonly TiedDependence[], graphs: readonly FactorGraph[], source: GraphSource): Limits | undefined {
  const { records } = source;
  const mostTies = tied.map(({ d, ties }) => ties.limit?.(d));
  const limited = mostTies.filter((most) => most !== undefined).length;
  const limits = mostTies.flatMap((most, k): TieLimit[] => {
    const graph = graphs[k]!;
    return most === undefined ? [] : [{ graph, most, spare: spareTies(graph, limited) }];
  });
  const groups = tied.flatMap(({ d, ties }) => ties.groupLimits?.(d, source) ?? []);
  // Rows are left out by name: one name, one record, whichever of them the limit would leave out.
  if (groups.length > 0) records.refuseSharedNames();
  if (limits.length + groups.length === 0) return undefined;
  refuseBeyondHeap(namedBytes * records.count);
  return { limits, groups };
}

/** A number for each row, by record: costs are recorded by values only if a row is a record. */
function ofRecords({ count, recordOf }: RecordTable, numbers: Float64Array): Float64Array {
  const own = new Float64Array(count);
  for (let row = 0; row < numbers.length; row++) own[recordOf[row]!] = numbers[row]!;
  return own;
}

/** Bytes per record needed to choose records by their names. */
const namedBytes = 240;

interface Choice {
  /** One for each record that is used. */
  readonly used: Uint8Array;
  readonly limits: Limits;
  readonly unit: string;
}

/** The bound for the records that are used, and the one for everybody, in case earlier releases used others. */
function leaveOut(everyone: GraphRoute, records: RecordTable, { used, limits, unit }: Choice): RecordTies {
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
    method: 'The noise covers the declared ties between records; only used records change an answer.',
  };
  return { amplifiers: [graphAmplifier(some), graphAmplifier(everyone)], unused: { column: unit, names: unused } };
}

function leavingOut({ limits, groups }: Limits, unused: number, all: number): string {
  const kept: string[] = [];
  if (limits.length > 0) {
    const most = limits.map((l) => l.most).join(' and ');
    const spare = limits.map((l) => l.most + l.spare).join(' and ');
    kept.push(`no used record is tied to more than ${most} used ones (and none left out to more than ${spare})`);
  }
  if (groups.length > 0) {
    const most = [...new Set(groups.map((g) => g.most))].join(' and ');
    kept.push(`no group has more than ${most} used members, rows without a name aside`);
  }
  return `${unused} of ${all} records are left out of every release, so that ${kept.join(' and ')}. Which ones depends on the ties only, never on a value; answers are about the others. Those left out are protected like everybody.`;
}

const independence = ({ protect }: Policy, tied: boolean): string =>
  `Different ${protect.secret === 'person' ? 'persons' : 'rows'} are independent of one another${tied ? ' except for the declared ties' : ''}; a tie that is not declared is not protected.`;

const independentRecords = (shared: Pick<GraphRoute, 'scope' | 'assumptions'>): Amplifier =>
  graphAmplifier({
    ...shared,
    name: 'independent',
    graph: untied(1),
    adversary: 'informed',
    reach: 'any',
    method: 'No ties between records were declared, so no extra noise is needed.',
  });

/** `reach: direct` is an assumption about an uninformed attacker, and must hold for all ties at once. */
function reachOf(list: readonly TiedDependence[], adversary: Adversary): 'any' | 'direct' {
  const direct = list.filter(({ d, ties }) => ties.reach?.(d) === 'direct');
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

/** All ties are positive only if they act through one column with one value per record. */
function pullOf(list: readonly TiedDependence[], { protect }: Policy): { pull?: 'alike' } {
  if (protect.secret === 'person' && protect.maxRows > 1) return {};
  const through = new Set(list.map(({ d, ties }) => ties.pull?.(d)));
  return through.size === 1 && !through.has(undefined) ? { pull: 'alike' } : {};
}

/** A window of steps is one secret only if a single chain describes how they depend on one another. */
const noWindow = (): Fault =>
  new Fault(
    'POLICY_INVALID',
    'A window of steps needs a sequence that is the only tie, in the order of a declared integer whose bounds hold every step.',
    'Declare the order column, such as week: {type: integer, bounds: [0, 51]}, or leave window out.',
  );

function refuseCombined(list: readonly TiedDependence[]): void {
  const why = list.length > 1 ? list.map(({ d, ties }) => ties.alone?.(d)).find((reason) => reason !== undefined) : undefined;
  if (why) throw new Fault('POLICY_INVALID', why.message, why.hint);
}
