import { Fault } from '../../../base/errors.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { type RecordTable, readRecords } from '../../../data/ties/records.js';
import { missingLabel } from '../../../policy/code.js';
import type { CategoryColumn, Policy } from '../../../policy/policy.js';
import { standardDeviation as deviationOf } from '../../../privacy/mechanism/half-width.js';
import { columnView } from '../../../query/count/column-view.js';
import { type GainSummary, gainSummary } from '../gain.js';
import { type AttackScene, type BeliefChange, type Believer, believe, believers, tiedTo } from './beliefs.js';
import type { ReleasedTable } from './table.js';
import { attackerGraph, columnsOfTies, shownRecords } from './ties.js';

/**
 * Posteriors of attackers about records after one released table.
 * Computed from the private data: for the steward, never for publication.
 */
export interface PolicyAttack {
  readonly private: true;
  readonly column: string;
  readonly values: readonly string[];
  readonly label: string;
  readonly promised: ReleasedTable['promised'];
  readonly noise: ReleasedTable['noise'];
  readonly records: number;
  readonly attacked: number;
  readonly attackers: readonly AttackerResult[];
  readonly exposed: readonly ExposedRecord[];
  readonly notes: readonly string[];
}
/** With the gains of the attacked records. */
export interface AttackerResult extends Believer, GainSummary {
  readonly name: string;
}
export interface ExposedRecord {
  readonly name: string;
  readonly actual: string;
  readonly ties: number;
  readonly beliefs: readonly (Believer & BeliefChange)[];
}

export interface PolicyAttackOptions {
  /** Number of most exposed records to show. */
  readonly show?: number;
  /** Records to attack at most; above it every k-th. */
  readonly limit?: number;
  readonly progress?: (done: number, total: number) => void;
}

export async function attackPolicy(
  policy: Policy,
  engine: Snapshot,
  table: ReleasedTable,
  { show = 6, limit = 20_000, progress }: PolicyAttackOptions = {},
): Promise<PolicyAttack> {
  if (policy.protect.secret === 'edge' || policy.protect.maxRows > 1)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Only policies where one row is one record can be attacked.',
      'Attack a policy with secret: row, or with one row per person.',
    );
  const { scene, records } = await readScene(policy, engine, table);
  const { values, graph } = scene;
  const step = Math.max(1, Math.ceil(records.count / limit));
  const attacked = Array.from({ length: Math.ceil(records.count / step) }, (_, k) => k * step).filter((r) => values[r]! >= 0);
  const gains = believers.map(() => new Float64Array(attacked.length));
  attacked.forEach((record, k) => {
    believers.forEach((b, a) => {
      gains[a]![k] = believe(scene, record, b).gain;
    });
    if (k % 64 === 0) progress?.(k, attacked.length);
  });
  progress?.(attacked.length, attacked.length);

  const order = attacked.map((record, k) => ({ record, gain: Math.max(gains.at(-1)![k]!, gains[1]![k]!) }));
  return {
    private: true,
    column: table.column,
    values: table.values,
    label: table.label,
    promised: table.promised,
    noise: table.noise,
    records: records.count,
    attacked: attacked.length,
    attackers: believers.map((b, a) => ({ ...b, name: nameOf(b), ...gainSummary(gains[a]!, table.promised.epsilon) })),
    exposed: order
      .sort((a, b) => b.gain - a.gain || a.record - b.record)
      .slice(0, show)
      .map(({ record }) => ({
        name: records.nameOf(record) ?? `row ${records.placeOf[record]! + 1}`,
        actual: table.values[values[record]!]!,
        ties: tiedTo(graph, record).length,
        beliefs: believers.map((b) => ({ ...b, ...believe(scene, record, b) })),
      })),
    notes: notes(graph.factors > 0, attacked.length < records.count),
  };
}

/** Everything that an attack on the table works with. */
async function readScene(
  policy: Policy,
  engine: Snapshot,
  table: ReleasedTable,
): Promise<{ readonly scene: AttackScene; readonly records: RecordTable }> {
  const records = await readRecords(policy, engine, { names: columnsOfTies(policy), cells: [table.column] });
  const cells = records.cellsOf(table.column);
  if (cells.length !== records.count)
    throw new Fault('QUERY_UNSUPPORTED', 'Some persons have several rows.', 'Attack a policy where one row is one record.');
  const values = positions(policy, table, cells);
  const shown = await shownRecords(policy, engine, records, table.leftOut);
  const counts = new Float64Array(table.values.length);
  values.forEach((v, r) => {
    if (v >= 0) counts[v]! += shown[r]!;
  });
  refuseFiltered(table, counts);
  const graph = await attackerGraph(policy, engine, records, table.column);
  const { noisy, noise } = table;
  return { records, scene: { graph, values, shown, width: table.values.length, noisy, noise, counts, priors: new Map() } };
}

const nameOf = ({ ties, knows }: Believer): string => `${ties ? 'knows the ties' : 'ignores the ties'}, knows ${knows}`;

/** Positions of the records' values in the released table; -1 for values that the table has no cell for. */
function positions(
  policy: Policy,
  table: ReleasedTable,
  cells: readonly (string | number | bigint | boolean | null)[],
): Int32Array {
  const column = policy.columns.get(table.column) as CategoryColumn;
  const view = columnView(column);
  view.load(cells, cells.length);
  const at = column.values.map((code) => table.values.indexOf(code));
  const missing = table.values.indexOf(missingLabel);
  return Int32Array.from(view.indices().subarray(0, cells.length), (index) => (index < 0 ? missing : at[index]!));
}

/** A table of part of the rows would be read as one of all of them. Twelve deviations of the total rule out noise. */
function refuseFiltered(table: ReleasedTable, counts: Float64Array): void {
  const deviation = deviationOf(table.noise);
  const off = table.noisy.reduce((s, n) => s + n, 0) - counts.reduce((s, n) => s + n, 0);
  if (Math.abs(off) > 12 * deviation * Math.sqrt(counts.length))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'The table does not count the rows of this policy: its total is too far off for noise.',
      'Attack a histogram of all rows, released from the same data.',
    );
}

const notes = (tied: boolean, sampled: boolean): readonly string[] => [
  'Before the release every attacker knows how common each value is; attackers who know the ties also know what the known tied records say.',
  ...(tied
    ? [
        'A tie is played by the symmetric table with its declared odds ratio, one member of the declared class; the promise holds against all of them.',
        'At most as many tied records are unknown as can be computed exactly (20,000 states); the others are known to the attacker.',
      ]
    : ['The policy declares no ties on this column, so knowing them changes nothing.']),
  'Only this table was used; whoever sees other releases of the same people learns from all of them.',
  'This is one answer: the promise speaks about the worst answer, so a smaller gain here proves nothing.',
  ...(sampled ? ['Not all records were attacked: every k-th was.'] : []),
];
