/** Chain of one person's states, as known to the attacker: initial distribution and transitions. */
export interface StateChain {
  readonly start: readonly number[];
  readonly transition: readonly (readonly number[])[];
}

/** Beliefs about each step, one probability per state. */
export type Beliefs = readonly (readonly number[])[];

/** Before anything was released. */
export function beliefsBefore({ start, transition }: StateChain, steps: number): Beliefs {
  const beliefs = [start];
  while (beliefs.length < steps) beliefs.push(after(beliefs.at(-1)!, transition));
  return beliefs.slice(0, steps);
}

/** Bayes' rule at each step separately: an attacker who takes the steps for independent. */
export const beliefsPerStep = (chain: StateChain, logLikelihood: readonly (readonly number[])[]): Beliefs =>
  beliefsBefore(chain, logLikelihood.length).map((prior, t) => normalised(weighed(prior, logLikelihood[t]!)));

/**
 * Posteriors of each step given all releases, by forward-backward message passing: exact for an
 * attacker who knows the transitions and every contribution to the releases except one person's.
 */
export function smoothedBeliefs({ start, transition }: StateChain, logLikelihood: readonly (readonly number[])[]): Beliefs {
  const forward: number[][] = [];
  let prior: readonly number[] = start;
  for (const seen of logLikelihood) {
    const now = normalised(weighed(prior, seen));
    forward.push(now);
    prior = after(now, transition);
  }
  let later = start.map(() => 1);
  const beliefs: number[][] = [];
  for (let t = logLikelihood.length - 1; t >= 0; t--) {
    beliefs.unshift(normalised(forward[t]!.map((p, state) => p * later[state]!)));
    const seen = weighed(later, logLikelihood[t]!);
    later = normalised(transition.map((row) => row.reduce((sum, p, next) => sum + p * seen[next]!, 0)));
  }
  return beliefs;
}

/** Stationary distribution of the chain. */
export function stationaryBelief(transition: StateChain['transition']): readonly number[] {
  let now: readonly number[] = transition.map(() => 1 / transition.length);
  for (let k = 0; k < 100_000; k++) {
    // Half a step at a time, so that a chain that goes in circles comes to rest too.
    const next = after(now, transition).map((p, state) => (p + now[state]!) / 2);
    const moved = next.reduce((most, p, state) => Math.max(most, Math.abs(p - now[state]!)), 0);
    now = next;
    if (moved < 1e-15) break;
  }
  return now;
}

/** The chain backwards in time: P(state before | state now), where it is at rest. */
export function reversed(transition: StateChain['transition'], rest: readonly number[]): readonly (readonly number[])[] {
  return transition.map((_, now) => normalised(transition.map((row, before) => rest[before]! * row[now]!)));
}

const after = (belief: readonly number[], transition: StateChain['transition']): readonly number[] =>
  transition.map((_, next) => belief.reduce((sum, p, state) => sum + p * transition[state]![next]!, 0));

function weighed(belief: readonly number[], logs: readonly number[]): number[] {
  const most = logs.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return belief.map((p, state) => p * Math.exp(logs[state]! - most));
}
const normalised = (weights: readonly number[]): number[] => {
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / sum);
};
