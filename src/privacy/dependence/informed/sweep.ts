import { type FactorGraph, manyIncidences } from '../graph/factor-graph.js';
import { roundedUp } from '../graph/forest.js';
import { closedWeight, openWeight, pushThrough } from '../graph/push.js';
import { type Pusher, TangentTables, tangents } from '../graph/tangents.js';

/** Messages that are asked for; of a pairwise graph, factors and their places are never read. */
export interface MessageQuestion {
  readonly graph: FactorGraph;
  readonly costs: Float64Array;
  readonly caps: Float64Array;
  /** D of a tie from every record to its twin; 0 for none. */
  readonly twin: number;
}

/** True for graphs so large that messages are updated one after the other, to two or three digits. */
export const isLargeGraph = ({ pairwise, member }: FactorGraph): boolean => pairwise && member.length >= manyIncidences;

export interface Sweeper {
  /** to = F(from), rounded up. */
  (from: Float64Array, to: Float64Array): void;
  leaks(from: Float64Array): Float64Array;
  /** True if the last messages are hopeless. */
  exceeds(hopeless: Hopeless): boolean;
  readonly pushed: (p: number, loss: number) => number;
}

/** Some record leaks more than `most` although its cap is larger. */
export interface Hopeless {
  readonly most: number;
  readonly caps: Float64Array;
}

/** `state` has the total of node u at 2u. */
export function exceeds(state: Float64Array, records: number, { most, caps }: Hopeless): boolean {
  for (let u = 0; u < records; u++) if (state[2 * u]! > most && caps[u]! > most) return true;
  return false;
}

/** Working arrays for one question about a large graph. */
interface Scratch {
  readonly ties: readonly [Float64Array, Float64Array, Float64Array, Float64Array];
  readonly nodes: readonly [Float64Array, Float64Array];
}
const arrays = new WeakMap<Uint32Array, Scratch>();

/**
 * Working arrays shared by all questions about the same ties, which are answered one at a time: allocation would take longer than
 * use.
 */
export function scratchFor({ member, nodes }: FactorGraph): Scratch {
  const known = arrays.get(member);
  if (known) return known;
  const ties = () => new Float64Array(member.length);
  const made: Scratch = {
    ties: [ties(), ties(), ties(), ties()],
    nodes: [new Float64Array(2 * nodes), new Float64Array(2 * nodes)],
  };
  arrays.set(member, made);
  return made;
}

/** Releases the arrays when no further question about these ties is expected. */
export const releaseScratch = ({ member }: FactorGraph): boolean => arrays.delete(member);

export function sweeper({ graph, costs, caps, twin }: MessageQuestion): Sweeper {
  const { member, factors, nodes, records, pairwise } = graph;
  const size = member.length;
  const scratch = isLargeGraph(graph) ? scratchFor(graph) : undefined;
  const through = scratch?.ties[0] ?? new Float64Array(size);
  const behind = new Float64Array(pairwise ? 0 : factors);
  const toTwin = tangents(twin);
  const pushed = pushOf(graph);
  // At 2u the total of node u, at 2u + 1 the largest message over one of its factors; adjacent, since both are read together.
  const state = scratch?.nodes[0] ?? new Float64Array(2 * nodes);
  for (let u = 0; u < nodes; u++) state[2 * u + 1] = (caps[u]! - costs[u]!) * roundedUp;

  const gather = (from: Float64Array): void => {
    for (let u = 0; u < nodes; u++) state[2 * u] = costs[u]!;
    for (let p = 0; p < size; p++) {
      const m = pushed(p, from[p]!);
      through[p] = m;
      const at = 2 * member[p]!;
      state[at] = (state[at]! + m) * roundedUp;
    }
    // The message to the twin is the total of the record itself.
    if (twin > 0)
      for (let u = 0; u < records; u++) {
        const own = state[2 * u]!;
        state[2 * u] = (own + toTwin(Math.min(own, state[2 * u + 1]!))) * roundedUp;
      }
  };
  /** Message of w = member[p] to the rest of p's factor: its own cost and the messages of all its other factors. */
  const offer = (p: number): number => Math.max(0, (state[2 * member[p]!]! - through[p]!) * roundedUp);
  const spreadPairs = (to: Float64Array): void => {
    for (let p = 0; p < size; p += 2) {
      to[p] = Math.min(offer(p + 1), state[2 * member[p]! + 1]!);
      to[p + 1] = Math.min(offer(p), state[2 * member[p + 1]! + 1]!);
    }
  };
  const spread = (to: Float64Array): void => {
    const { start, factorOf } = graph;
    for (let f = 0; f < factors; f++) {
      let total = 0;
      for (let p = start[f]!; p < start[f + 1]!; p++) total = (total + offer(p)) * roundedUp;
      behind[f] = total;
    }
    for (let p = 0; p < size; p++) {
      const f = factorOf[p]!;
      const two = start[f + 1]! - start[f]! === 2;
      const loss = two ? offer(p === start[f]! ? p + 1 : p - 1) : Math.max(0, (behind[f]! - offer(p)) * roundedUp);
      to[p] = Math.min(loss, state[2 * member[p]! + 1]!);
    }
  };
  const sweep = (from: Float64Array, to: Float64Array): void => {
    gather(from);
    if (pairwise) spreadPairs(to);
    else spread(to);
  };
  return Object.assign(sweep, {
    pushed,
    leaks: (from: Float64Array): Float64Array => {
      gather(from);
      return Float64Array.from({ length: nodes }, (_, u) => state[2 * u]!);
    },
    exceeds: (hopeless: Hopeless) => exceeds(state, records, hopeless),
  });
}

/** Push through incidence p, rounded up. */
export function pushOf(graph: FactorGraph): (p: number, loss: number) => number {
  const { member, commonOdds } = graph;
  const tables = new TangentTables(member.length);
  const common = commonOdds === undefined ? undefined : tables.of(commonOdds);
  if (common) return (_, loss) => common(loss);
  const { logOdds } = graph;
  const some = fewKinds(logOdds, tables);
  if (some) return (p, loss) => some.pushers[some.kind[p]!]!(loss);
  const shut = new Float64Array(member.length);
  const passing = new Float64Array(member.length);
  for (let p = 0; p < member.length; p++) {
    const same = p > 0 && logOdds[p] === logOdds[p - 1];
    shut[p] = same ? shut[p - 1]! : closedWeight(logOdds[p]!);
    passing[p] = same ? passing[p - 1]! : openWeight(logOdds[p]!);
  }
  return (p, loss) => {
    const d = logOdds[p]!;
    return loss > 0 && d > 0 ? pushThrough(loss, d, shut[p]!, passing[p]!) : 0;
  };
}

/** Table of each incidence; undefined if some strength has no table. */
function fewKinds(logOdds: Float64Array, tables: TangentTables) {
  const pushers: Pusher[] = [];
  const place = new Map<number, number>();
  const kind = new Uint8Array(logOdds.length);
  for (let p = 0; p < logOdds.length; p++) {
    const d = logOdds[p]!;
    let known = place.get(d);
    if (known === undefined) {
      const made = tables.of(d);
      if (!made) return undefined;
      known = pushers.push(made) - 1;
      place.set(d, known);
    }
    kind[p] = known;
  }
  return { pushers, kind };
}
