import { basename, resolve } from 'node:path';
import * as z from 'zod';
import { countingSort, type FactorGraph, fromPairs } from '../dependence/graph/factor-graph.js';
import { boundless, graphBytes, type Room } from '../dependence/graph/room.js';
import { logOddsRatio } from '../dependence/model/odds.js';
import type { Cell } from '../engine/engine.js';
import { Fault } from '../errors.js';
import { add, compare, floor, fromNumber, multiply, one, subtract, toNumber } from '../exact/rational.js';
import type { Column, Policy } from '../policy/policy.js';
import { section, word } from '../policy/schema.js';
import type { TieKind } from './kind.js';
import { noName } from './name-list.js';
import type { RecordTable } from './records.js';
import { tiedColumn } from './strength.js';
import { readTransitions, type Transition } from './transitions.js';

export interface SequenceDependence {
  readonly kind: 'sequence';
  readonly by: string;
  readonly order: string;
  readonly state: string;
  readonly transition: string;
}

const shape = section(
  {
    kind: z.literal('sequence'),
    by: word('by column'),
    order: word('order column'),
    state: word('state column'),
    transition: word('transition'),
  },
  'Write {kind: sequence, by: person, order: week, state: place, transition: weekly.json}.',
);

/** Steps of one person, or of one thing, one after another. */
export const sequence: TieKind<SequenceDependence, z.output<typeof shape>> = {
  kind: 'sequence',
  shape,
  declare: (told, path, context) => {
    tiedColumn({ column: told.state }, path, context);
    return { ...told, transition: resolve(context.directory, told.transition) };
  },
  file: 'transition',
  columns: (d) => [
    { column: d.by, key: 'by', role: 'sequence', read: 'name' },
    { column: d.order, key: 'order', role: 'order', read: 'cell' },
  ],
  explain: (d) =>
    `the ${d.state} of one ${d.by} changes from one ${d.order} to the next as ${basename(d.transition)} says, each step depending only on the one before.`,
  words: (d) => `The steps of one "${d.by}" in the order of "${d.order}" form a Markov chain with the declared transitions.`,
  step: (d) => `the ${d.state} of one ${d.by} at one ${d.order}`,
  records: {
    graph: (d, { policy, records, room }) => sequenceGraph(d, policy, records, room),
    pull: (d) => (readTransitions(d.transition).every(staysRather) ? d.state : undefined),
  },
};

/**
 * Steps of one person in order: each is tied to the next by the transition matrix. Of a set of matrices any may be the true one, and the chain of
 * each lies in the class of the largest odds ratio. Where a chain starts only tilts its first step.
 */
function sequenceGraph(
  dependence: SequenceDependence,
  policy: Policy,
  records: RecordTable,
  room: Room = boundless,
): FactorGraph {
  const transitions = readTransitions(dependence.transition);
  refuseOtherStates(transitions[0]!, policy.columns.get(dependence.state), dependence);
  const logOdds = Math.max(...transitions.map((m) => logOddsRatio(Float64Array.from(m.flat()), [m.length, m.length], 0)));
  const when = records.cellsOf(dependence.order);
  const owners = records.namesIn(dependence.by);
  room.need(records.bytes + 16 * owners.length + graphBytes(records.count, 2 * owners.length));
  const left = new Uint32Array(owners.length);
  const right = new Uint32Array(owners.length);
  let size = 0;
  for (const rows of rowsBy(owners)) {
    const order = inOrder(rows, when, dependence);
    for (let k = 1; k < order.length; k++) {
      left[size] = records.recordOf[order[k - 1]!]!;
      right[size++] = records.recordOf[order[k]!]!;
    }
  }
  return fromPairs(records.count, left.subarray(0, size), right.subarray(0, size), logOdds);
}

/** Of two states, whichever holds now is more likely to hold next: the matrix shows it, to the last bit. */
const staysRather = (m: Transition): boolean =>
  m.length === 2 &&
  compare(multiply(fromNumber(m[0]![0]!), fromNumber(m[1]![1]!)), multiply(fromNumber(m[0]![1]!), fromNumber(m[1]![0]!))) >= 0;

/** The rows of each owner, in the table's order; rows without one belong to no sequence. */
function* rowsBy(owners: Uint32Array): Iterable<readonly number[]> {
  const names = 1 + owners.reduce((most, own) => (own === noName ? most : Math.max(most, own)), 0);
  const all = Uint32Array.from({ length: owners.length }, (_, r) => r);
  const { order, begin } = countingSort(names + 1, all, (r) => Math.min(owners[r]!, names));
  for (let own = 0; own < names; own++)
    if (begin[own + 1]! > begin[own]!) yield [...order.subarray(begin[own]!, begin[own + 1]!)];
}

/** By number when all are numbers, else by text (which puts ISO dates in order). Two steps at one time have no order to form a chain in. */
function inOrder(rows: readonly number[], when: readonly Cell[], dependence: SequenceDependence): readonly number[] {
  const times = rows.map((row) => ({ row, at: when[row] ?? null }));
  const numeric = times.every(({ at }) => at !== null && `${at}`.trim() !== '' && !Number.isNaN(Number(at)));
  const keyed = times.map(({ row, at }) => ({ row, missing: at === null, key: numeric ? Number(at) : `${at}` }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  if (keyed.some(({ missing, key }, k) => missing || (k > 0 && key === keyed[k - 1]!.key)))
    throw new Fault(
      'DATA_MALFORMED',
      `Some steps of one "${dependence.by}" have no "${dependence.order}", or share one, so they are in no order.`,
      'Every step of a sequence needs a time of its own.',
    );
  return keyed.map(({ row }) => row);
}

/** A state the matrix does not know would be tied by nothing. */
function refuseOtherStates(transition: Transition, state: Column | undefined, dependence: SequenceDependence): void {
  const states = state && statesOf(state);
  if (states !== undefined && states !== transition.length)
    throw new Fault(
      'MODEL_INVALID',
      `The column "${dependence.state}" has ${states} values, but the transition matrix has ${transition.length} states.`,
      'One row and one column per declared value, in the order declared.',
      { place: { file: dependence.transition } },
    );
}
const statesOf = (column: Column): number | undefined => {
  if (column.type === 'category') return column.values.length;
  if (column.type === 'integer') return toNumber({ num: floor(add(subtract(column.bounds[1], column.bounds[0]), one)), den: 1n });
  return undefined;
};
