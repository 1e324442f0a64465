import type { Cell } from '../engine/engine.js';
import { Fault } from '../errors.js';
import { add, floor, one, subtract, toNumber } from '../exact/rational.js';
import type { Column, Policy, SequenceDependence } from '../policy/policy.js';
import { type FactorGraph, fromPairs } from './factor-graph.js';
import { logOddsRatio } from './odds.js';
import type { RecordTable } from './records.js';
import { readTransitions, type Transition } from './transitions.js';

/**
 * Steps of one person in order: each is tied to the next by the transition matrix. Of a set of matrices any may be the true one, and the chain of
 * each lies in the class of the largest odds ratio. Where a chain starts only tilts its first step.
 */
export function sequenceGraph(dependence: SequenceDependence, policy: Policy, records: RecordTable): FactorGraph {
  const transitions = readTransitions(dependence.transition);
  refuseOtherStates(transitions[0]!, policy.columns.get(dependence.state), dependence);
  const logOdds = Math.max(...transitions.map((m) => logOddsRatio(Float64Array.from(m.flat()), [m.length, m.length], 0)));
  const when = records.cellsOf(dependence.order);
  const left: number[] = [];
  const right: number[] = [];
  for (const rows of rowsBy(records.namesIn(dependence.by))) {
    const order = inOrder(rows, when, dependence);
    for (let k = 1; k < order.length; k++) {
      left.push(records.recordOf[order[k - 1]!]!);
      right.push(records.recordOf[order[k]!]!);
    }
  }
  return fromPairs(records.count, Uint32Array.from(left), Uint32Array.from(right), logOdds);
}

/** Rows without an owner belong to no sequence. */
function rowsBy(who: readonly (string | null)[]): Iterable<number[]> {
  const steps = new Map<string, number[]>();
  who.forEach((name, r) => {
    if (name === null) return;
    const list = steps.get(name);
    if (list) list.push(r);
    else steps.set(name, [r]);
  });
  return steps.values();
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
