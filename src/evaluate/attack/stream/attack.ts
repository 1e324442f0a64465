import { Fault } from '../../../base/errors.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { noName } from '../../../data/ties/name-list.js';
import { readRecords } from '../../../data/ties/records.js';
import { type SequenceDependence, sequenceTie } from '../../../data/ties/sequence.js';
import { readTransitions } from '../../../data/ties/transitions.js';
import type { CategoryColumn, Policy } from '../../../policy/policy.js';
import { lossFunction, temporalLeakage } from '../../../privacy/dependence/temporal/temporal.js';
import { columnView } from '../../../query/count/column-view.js';
import { type GainSummary, gainOf, gainSummary, logNoise } from '../gain.js';
import type { ReleasedStep } from './released-steps.js';
import {
  type Beliefs,
  beliefsBefore,
  beliefsPerStep,
  reversed,
  type StateChain,
  smoothedBeliefs,
  stationaryBelief,
} from './trajectory.js';

/**
 * Posteriors of attackers about people's states, step by step, after a stream.
 * Computed from the private data: for the steward, never for publication.
 */
export interface StreamAttack {
  readonly private: true;
  readonly column: string;
  readonly states: readonly string[];
  readonly promised: ReleasedStep['promised'];
  readonly persons: number;
  readonly attacked: number;
  readonly attackers: readonly StreamAttacker[];
  readonly exposed: readonly Trajectory[];
  readonly notes: readonly string[];
}
/** With the gains at all steps of the attacked persons. */
export interface StreamAttacker extends GainSummary {
  readonly name: string;
  /** Share of steps at which the most likely path is right. */
  readonly right: number;
}
/** One person over time. Beliefs are in the state that was true at each step. */
export interface Trajectory {
  readonly name: string;
  readonly steps: readonly TrajectoryStep[];
}
export interface TrajectoryStep {
  readonly at: number;
  readonly actual: string;
  readonly before: number;
  readonly apart: number;
  readonly along: number;
  /** Largest belief that the promise permits. */
  readonly limit: number;
  /** Change of log-odds that releases about all steps can bring about at most, by leakage over time; absent for other than pure noise. */
  readonly leakage?: number;
  readonly gain: number;
}

export const sequenceOf = (policy: Policy): SequenceDependence => {
  const found = policy.dependence.filter((d) => d.kind === sequenceTie.kind) as unknown as readonly SequenceDependence[];
  if (found.length === 1) return found[0]!;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    'A stream is attacked along one declared sequence.',
    'Declare it: dependence: [{kind: sequence, by: person, order: week, state: place, transition: weekly.json}].',
  );
};

export async function runStreamAttack(
  policy: Policy,
  engine: Snapshot,
  released: readonly ReleasedStep[],
  { show = 3, limit = 2000 }: { readonly show?: number; readonly limit?: number } = {},
): Promise<StreamAttack> {
  const { by, order, state, transition } = sequenceOf(policy);
  const column = policy.columns.get(state) as CategoryColumn;
  const matrix = readTransitions(transition).forward[0]!;
  const rest = stationaryBelief(matrix);
  const chain: StateChain = { start: rest, transition: matrix };
  const over = { forward: lossFunction(matrix), backward: lossFunction(reversed(matrix, rest)) };
  const people = await readPeople(policy, engine, { by, order, state, column, released });
  const states = column.values;
  const counts = released.map(() => new Float64Array(states.length));
  for (const { rows } of people) for (const { step, at } of rows) if (at >= 0) counts[step]![at]!++;
  const attacked = people.filter(({ rows }) => rows.every(({ at }) => at >= 0)).slice(0, limit);
  const found = attacked.map((person) => attackPerson(person, { chain, over, released, states, counts }));
  const steps = attacked.reduce((n, { rows }) => n + rows.length, 0);
  const { promised } = released[0]!;
  return {
    private: true,
    column: state,
    states,
    promised,
    persons: people.length,
    attacked: attacked.length,
    attackers: attackerNames.map((name, a) => ({
      name,
      ...gainSummary(
        found.flatMap((f) => f.gains[a]!),
        promised.epsilon,
      ),
      right: found.reduce((n, f) => n + f.right[a]!, 0) / Math.max(1, steps),
    })),
    exposed: [...found]
      .sort((a, b) => Math.max(...b.gains[1]) - Math.max(...a.gains[1]))
      .slice(0, show)
      .map(({ name, steps }) => ({ name, steps })),
    notes: [
      'Both attackers know the state of everybody else at every step, and how states follow one another in the long run; the second also how one follows the other.',
      'Beliefs are exact for these attackers: passed forward and backward along the chain, with the first of the declared matrices and a start at rest.',
      'This is one stream: the promise speaks about the worst one, so a smaller gain here proves nothing.',
      ...(attacked.length < people.length
        ? ['Not everybody was attacked: only those whose every state is declared, up to a limit.']
        : []),
    ],
  };
}

const attackerNames = ['ignores the sequence, knows everyone else', 'knows the sequence, knows everyone else'] as const;

/** One number or list for each of the two attackers. */
type ByAttacker<T> = readonly [apart: T, along: T];

interface StreamScene {
  readonly chain: StateChain;
  readonly over: Parameters<typeof temporalLeakage>[1];
  readonly released: readonly ReleasedStep[];
  readonly states: readonly string[];
  /** People in each state, step by step. */
  readonly counts: readonly Float64Array[];
}

function attackPerson(
  { name, rows }: Person,
  { chain, over, released, states, counts }: StreamScene,
): Trajectory & { readonly right: ByAttacker<number>; readonly gains: ByAttacker<readonly number[]> } {
  const logs = rows.map(({ step, at }) => likelihoods(released[step]!, states, counts[step]!, at));
  const before = beliefsBefore(chain, rows.length);
  const [apart, along] = [beliefsPerStep(chain, logs), smoothedBeliefs(chain, logs)];
  const gains = (beliefs: Beliefs) => beliefs.map((belief, t) => gainOf(before[t]!, belief));
  const right = (beliefs: Beliefs) => beliefs.filter((belief, t) => belief.indexOf(Math.max(...belief)) === rows[t]!.at).length;
  const all = [gains(apart), gains(along)] as const;
  const leakage = leakageOf(
    rows.map(({ step }) => released[step]!.epsilon),
    over,
  );
  return {
    name,
    gains: all,
    right: [right(apart), right(along)],
    steps: rows.map(({ step, at }, t) => ({
      at: released[step]!.units[0],
      actual: states[at]!,
      before: before[t]![at]!,
      apart: apart[t]![at]!,
      along: along[t]![at]!,
      limit: largestBelief(before[t]![at]!, released[0]!.promised.epsilon),
      ...(leakage && { leakage: leakage[t]! }),
      gain: all[1][t]!,
    })),
  };
}

interface Person {
  readonly name: string;
  /** In order; `step` is an index into the released steps, `at` the state, -1 for an undeclared one. */
  readonly rows: readonly { readonly step: number; readonly at: number }[];
}
interface ReadPeople {
  readonly by: string;
  readonly order: string;
  readonly state: string;
  readonly column: CategoryColumn;
  readonly released: readonly ReleasedStep[];
}

/** Steps of all people, as far as they were released. */
async function readPeople(
  policy: Policy,
  engine: Snapshot,
  { by, order, state, column, released }: ReadPeople,
): Promise<readonly Person[]> {
  const records = await readRecords(policy, engine, { names: [by], cells: [by, order, state] });
  const [owners, when, who] = [records.namesIn(by), records.cellsOf(order), records.cellsOf(by)];
  const view = columnView(column);
  const cells = records.cellsOf(state);
  view.load(cells, cells.length);
  const states = view.indices();
  const people = new Map<number, { name: string; rows: { step: number; at: number; when: number }[] }>();
  owners.forEach((owner, row) => {
    const at = Number(when[row]);
    const step = released.findIndex(({ units: [first, last] }) => at >= first && at <= last);
    if (owner === noName || step < 0) return;
    const person = people.get(owner) ?? { name: String(who[row]), rows: [] };
    person.rows.push({ step, at: states[row]!, when: at });
    people.set(owner, person);
  });
  return [...people.values()].map(({ name, rows }) => ({ name, rows: rows.sort((a, b) => a.when - b.when) }));
}

/** Likelihood of the release for each state of this person, everybody else being as in the data. */
function likelihoods(
  { noisy, noise }: ReleasedStep,
  states: readonly string[],
  counts: Float64Array,
  actual: number,
): readonly number[] {
  const log = logNoise(noise);
  return states.map((_, guess) =>
    states.reduce((sum, name, cell) => {
      const others = counts[cell]! - (cell === actual ? 1 : 0);
      return sum + log((noisy.get(name) ?? 0) - others - (cell === guess ? 1 : 0));
    }, 0),
  );
}

function leakageOf(
  epsilons: readonly (number | undefined)[],
  over: Parameters<typeof temporalLeakage>[1],
): Float64Array | undefined {
  const pure = epsilons.filter((e) => e !== undefined);
  return pure.length === epsilons.length ? temporalLeakage(Float64Array.from(pure), over).leakage : undefined;
}

/** The largest belief that odds e^epsilon times as large leave. */
const largestBelief = (prior: number, epsilon: number): number => 1 / (1 + ((1 - prior) / prior) * Math.exp(-epsilon));
