import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { add, compare, floor, fromNumber, multiply, one, subtract, toNumber } from '../../base/exact/rational.js';
import { basename, resolve } from '../../base/platform/paths.js';
import type { Adversary, Column, Policy } from '../../policy/policy.js';
import { section, word } from '../../policy/schema.js';
import { chainAmplifier } from '../../privacy/dependence/chain/chain-amplifier.js';
import type { ChainTransitions } from '../../privacy/dependence/chain/chain-leakage.js';
import { informedTransitions, uninformedTransitions } from '../../privacy/dependence/chain/chain-transitions.js';
import { type StationaryDistribution, stationaryDistribution } from '../../privacy/dependence/chain/stationary.js';
import { countingSort, type FactorGraph, fromPairs } from '../../privacy/dependence/graph/factor-graph.js';
import { graphBytes, type MemoryLimit, unlimitedMemory } from '../../privacy/dependence/graph/memory-limit.js';
import { logOddsRatio } from '../../privacy/dependence/model/odds.js';
import type { Cell, Snapshot } from '../engine/engine.js';
import { countStructure, quoteName, readStructure } from '../engine/structure.js';
import type { Alone, OneChain, TieKind } from './kind.js';
import { namesBelow } from './name-list.js';
import { missingColumn, type RecordTable } from './records.js';
import { type SlicingColumn, slicingBy } from './slicing-column.js';
import { tiedColumn } from './strength.js';
import { everyTransition, originWords, readTransitions, type Transition, type Transitions } from './transitions.js';

export interface SequenceDependence {
  readonly kind: 'sequence';
  readonly by: string;
  readonly order: string;
  readonly state: string;
  readonly transition: string;
  /** Start of the sequences: in the stationary distribution, or anywhere (when absent). */
  readonly start?: 'stationary' | 'free';
}

const shape = section(
  {
    kind: z.literal('sequence'),
    by: word('by column'),
    order: word('order column'),
    state: word('state column'),
    transition: word('transition'),
    start: z
      .enum(['stationary', 'free'], { error: 'A sequence starts stationary or free.' })
      .optional()
      .describe('stationary: as if it had been going on for ever; free: anywhere.'),
  },
  'Write {kind: sequence, by: person, order: week, state: place, transition: weekly.json}.',
);

/** Steps of one person, or of one thing, one after another. */
export const sequenceTie: TieKind<SequenceDependence, z.output<typeof shape>> = {
  kind: 'sequence',
  shape,
  declare: (entry, path, context) => {
    tiedColumn({ column: entry.state }, path, context);
    const { start, ...rest } = entry;
    return { ...rest, transition: resolve(context.directory, entry.transition), ...(start && { start }) };
  },
  file: 'transition',
  columns: (d) => [
    { column: d.by, key: 'by', role: 'sequence', read: 'name' },
    { column: d.order, key: 'order', role: 'order', read: 'cell' },
  ],
  explain: (d, secret) =>
    `the ${d.state} of one ${d.by} changes from one ${d.order} to the next as ${basename(d.transition)} says, each step depending only on the one before.${
      secret === 'person' ? ' All steps of a person are one secret: what was spent on it never grows back.' : ''
    }`,
  words: (d) =>
    `The steps of one "${d.by}" in the order of "${d.order}" form a Markov chain with the declared transitions${d.start === 'stationary' ? ', which has been going on for ever' : ''}.${originWords(readTransitions(d.transition))}`,
  step: (d) => `the ${d.state} of one ${d.by} at one ${d.order}`,
  order: (d) => d.order,
  records: {
    graph: (d, { policy, records, room }) => sequenceGraph(d, policy, records, room),
    pull: (d) => (everyTransition(readTransitions(d.transition)).every(staysRather) ? d.state : undefined),
    chain: chainOf,
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
  room: MemoryLimit = unlimitedMemory,
): FactorGraph {
  const logOdds = logOddsOf(transitionsOf(dependence, policy));
  const when = records.cellsOf(dependence.order);
  const owners = records.namesIn(dependence.by);
  room.require(records.bytes + 16 * owners.length + graphBytes(records.count, 2 * owners.length));
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

/** The declared matrices, over the states that the column has. */
function transitionsOf(dependence: SequenceDependence, policy: Policy): Transitions {
  const transitions = readTransitions(dependence.transition);
  refuseOtherStates(transitions, policy.columns.get(dependence.state), dependence);
  return transitions;
}

const logOddsOf = (transitions: Transitions): number => Math.max(...everyTransition(transitions).map(oneStep));
const oneStep = (m: Transition): number => logOddsRatio(Float64Array.from(m.flat()), [m.length, m.length], 0);

/**
 * One chain of all declared steps for everybody, where the order is a declared integer and the steps of the data are steps of it: then no record need be read
 * (privacy/dependence/chain/chain.proof.md). Undefined where they are not.
 */
async function chainOf(d: SequenceDependence, { policy, engine, assumptions }: Alone): Promise<OneChain | undefined> {
  const by = slicingBy(d.order, policy);
  if (!by) return undefined;
  const transitions = transitionsOf(d, policy);
  const steps = await stepsOf(d, by, engine);
  if (steps.repeated > 0) throw noOrder(d);
  if (steps.elsewhere > 0) return undefined;
  const gaps = steps.skipped > 0;
  const { adversary, window = 1 } = policy.protect;
  if (gaps && window > 1)
    throw new Fault(
      'POLICY_INVALID',
      `A window of steps in a row needs every step, and some "${d.by}" skips steps of "${d.order}".`,
      'Leave window out, or fill in the steps that are missing (the state may be missing there).',
    );
  const whole = window > 1 || 2 * steps.longest > by.last - by.first;
  const amplifier = chainAmplifier({
    name: 'chain',
    first: by.first,
    last: by.last,
    order: by.slicing,
    transitions: chainDistributions(d, transitions, adversary),
    logOdds: logOddsOf(transitions),
    gaps,
    window,
    assumptions: [...assumptions, ...(gaps ? [skipping(d)] : [])],
    method: 'The noise covers the declared ties between steps, by what was spent on each step.',
    alone: whole,
  });
  return { amplifier, whole };
}

const skipping = (d: SequenceDependence): string =>
  `Some "${d.by}" skips steps of "${d.order}": steps that follow one another in the data are taken for neighbours, whichever are skipped.`;

/** Transfer of odds through steps: for an informed adversary by the odds ratios, for others by the tables. */
function chainDistributions(d: SequenceDependence, transitions: Transitions, adversary: Adversary): readonly ChainTransitions[] {
  if (adversary === 'informed') return [informedTransitions(transitions.forward, transitions.backward)];
  return transitions.forward.map((m, k) => {
    const backward = transitions.backward?.[k];
    if (backward) return uninformedTransitions(m, { backward });
    return uninformedTransitions(m, d.start === 'stationary' ? { stationary: chainStationary(m, d) } : 'free');
  });
}

function chainStationary(m: Transition, d: SequenceDependence): StationaryDistribution {
  const stationary = stationaryDistribution(m);
  if (stationary) return stationary;
  throw new Fault(
    'MODEL_INVALID',
    'The transition matrix has no one stationary law: its states cannot all reach one another.',
    'Leave start: stationary out, or declare "forward" and "backward".',
    { place: { file: d.transition } },
  );
}

/** Number of steps that share owner and time with another, lie outside the declared steps, or are missing between two of an owner. */
async function stepsOf({ by: owner, order }: SequenceDependence, by: SlicingColumn, engine: Snapshot) {
  const types = new Map((await engine.columns()).map((c) => [c.name, c.type]));
  for (const column of [owner, order]) if (!types.has(column)) throw missingColumn(column);
  const name = engine.dialect.name(quoteName(owner), types.get(owner)!);
  const type = types.get(order);
  // Any other type is left to the records themselves, and so are times that are no whole numbers.
  if (type !== 'integer' && type !== 'text') return { repeated: 0, elsewhere: 1, skipped: 0, longest: 0 };
  const time = type === 'integer' ? quoteName(order) : engine.dialect.wholeInText(quoteName(order));
  const steps = `(SELECT ${name} AS owner, ${time} AS moment FROM fugu_data) AS steps`;
  const off = [`moment < ${by.first}`, `moment > ${by.last}`, ...by.missing.map((x) => `moment = ${x}`)];
  const count = async (sql: string): Promise<number> => countStructure(engine, { sql, values: [] });
  const repeated = await count(
    `SELECT 1 FROM ${steps} WHERE owner IS NOT NULL AND moment IS NOT NULL GROUP BY owner, moment HAVING count(*) > 1`,
  );
  const elsewhere = await count(`SELECT 1 FROM ${steps} WHERE moment IS NULL OR ${off.join(' OR ')}`);
  if (elsewhere > 0) return { repeated, elsewhere, skipped: 0, longest: 0 };
  const skipped = await count(
    `SELECT 1 FROM ${steps} WHERE owner IS NOT NULL GROUP BY owner HAVING max(moment) - min(moment) + 1 > count(*)`,
  );
  let longest = 0;
  const most = `SELECT max(length) FROM (SELECT count(*) AS length FROM ${steps} WHERE owner IS NOT NULL GROUP BY owner) AS lengths`;
  for await (const [found] of readStructure(engine, { sql: most, values: [] })) longest = Number(found ?? 0);
  return { repeated, elsewhere, skipped, longest };
}

/** True if consecutive steps of two states are positively dependent: each state makes itself more likely next. Exact, without rounding. */
const staysRather = (m: Transition): boolean =>
  m.length === 2 &&
  compare(multiply(fromNumber(m[0]![0]!), fromNumber(m[1]![1]!)), multiply(fromNumber(m[0]![1]!), fromNumber(m[1]![0]!))) >= 0;

/** The rows of each owner, in the table's order; rows without one belong to no sequence. */
function* rowsBy(owners: Uint32Array): Iterable<readonly number[]> {
  const names = namesBelow(owners);
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
  keyed.sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key));
  if (keyed.some(({ missing, key }, k) => missing || (k > 0 && key === keyed[k - 1]!.key))) throw noOrder(dependence);
  return keyed.map(({ row }) => row);
}

const noOrder = ({ by, order }: SequenceDependence): Fault =>
  new Fault(
    'DATA_MALFORMED',
    `Some steps of one "${by}" have no "${order}", or share one, so they are in no order.`,
    'Every step of a sequence needs a time of its own.',
  );

/** A state the matrix does not know would be tied by nothing. */
function refuseOtherStates(
  { forward, states: named }: Transitions,
  state: Column | undefined,
  dependence: SequenceDependence,
): void {
  const states = state && statesOf(state);
  const wrong = (what: string) =>
    new Fault('MODEL_INVALID', what, 'One row and one column per declared value, in the order declared.', {
      place: { file: dependence.transition },
    });
  if (states !== undefined && states !== forward[0]!.length)
    throw wrong(
      `The column "${dependence.state}" has ${states} values, but the transition matrix has ${forward[0]!.length} states.`,
    );
  if (named && state?.type === 'category' && state.values.some((value, k) => value !== named[k]))
    throw wrong(`The transition matrix names other states, or in another order, than the column "${dependence.state}".`);
}
const statesOf = (column: Column): number | undefined => {
  if (column.type === 'category') return column.values.length;
  if (column.type === 'integer') return toNumber({ num: floor(add(subtract(column.bounds[1], column.bounds[0]), one)), den: 1n });
  return undefined;
};
