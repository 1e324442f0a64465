import type { FactorGraph } from '../graph/factor-graph.js';
import { roundedUp } from '../graph/forest.js';
import { closed, open, pushThrough } from '../graph/push.js';
import { type Pusher, Tables, tangents } from '../graph/tangents.js';
import { settle } from './settle.js';

/**
 * The theorem on graphs with loops. One number per incidence, B(f,u): how far what lies behind factor f can move as seen from u.
 *   F(B)(f,u) = min( sum over w in f, w != u, of [ e_w + sum over f' != f of w of push(B(f',w), D(f',w)) ],  E(component) - e_u )
 * The true values satisfy B <= F(B). F is monotone and concave, so
 *  - iterates of F from above stay above the true values, and
 *  - if F^k(B) - B <= kappa F^k(0) with kappa < 1, then B / (1 - kappa) is above the true values, wherever B came from
 * (informed.proof.md). So we climb from below, with leaps, and let the second rule certify what we found.
 */
export interface Messages {
  /** e_u + sum over the factors of u of push(B(f,u), D(f,u)), rounded up, per node. */
  readonly leaks: Float64Array;
  readonly rounds: number;
  /** How much B was raised to be certain; 0 when the bound came from above. */
  readonly kappa: number;
  readonly from: 'below' | 'above';
  /** Messages that F does not raise, where they were found from below: overwritten by the next question about the same ties. */
  readonly certain?: Float64Array;
}

export interface MessageOptions {
  /** Stop when certified this closely. */
  readonly tolerance?: number;
  /** Accept this much after `softWork` updates of one incidence. */
  readonly loose?: number;
  readonly softWork?: number;
  readonly hardWork?: number;
  /** On large graphs: messages that move by less than this part of themselves are settled. */
  readonly part?: number;
  /** Where to start climbing: the messages of a similar question. Any numbers will do, the certificate does not care. */
  readonly start?: Float64Array;
  /** Every record is tied by this D to its twin in a copy of the graph (informed.proof.md, "Twins"); `caps` are of both. */
  readonly twin?: number;
  /** Give up, and leave it to the caps, once some record's leak is above `most` although the caps would let it be. */
  readonly hopeless?: { readonly most: number; readonly caps: Float64Array };
}

/** Rounds without progress after which only rounding is left to gain. */
const patience = 60;
/** What an effect takes to show behind records that have none of their own: as many steps of F as this. */
const longestLag = 4;

/** What messages are sent over: of pairs, neither factors nor their places are asked for. */
export type Sent = Pick<
  FactorGraph,
  | 'records'
  | 'nodes'
  | 'factors'
  | 'start'
  | 'member'
  | 'logOdds'
  | 'factorOf'
  | 'pairwise'
  | 'commonOdds'
  | 'nodeStart'
  | 'incidence'
>;

/** From so many incidences on messages are settled one after the other, and two or three digits have to do. */
export const manyMessages = ({ pairwise, member }: Sent): boolean => pairwise && member.length >= 40_000;

/** `caps[u]`: the component's whole effect, which bounds every message in it. */
export function messages(graph: Sent, effects: Float64Array, caps: Float64Array, options: MessageOptions = {}): Messages {
  const step = sweeper(graph, effects, caps, options.twin ?? 0);
  const { best, rounds, spare, hopeless } = find(graph, effects, caps, step, options);
  if (hopeless) return { leaks: caps.slice(), rounds, kappa: 0, from: 'above' };
  const [certain, sent] = spare;
  const raised = (by: number): Float64Array => {
    for (let p = 0; p < certain.length; p++) certain[p] = best.at[p]! * by;
    step(certain, sent);
    return sent;
  };
  // Where much is saturated, or some spend nothing, a raise that F does not follow is found long before kappa is small.
  if (manyMessages(graph) && best.kappa > 2e-3)
    for (const by of [1, 1.02, 1.1]) {
      if (best.kappa <= 1 - 1 / by) break;
      if (raised(by).every((x, p) => x <= certain[p]!))
        return { leaks: step.leaks(sent), rounds, kappa: 1 - 1 / by, from: 'below', certain };
    }
  if (best.kappa < 0.5) {
    // One more application of F keeps it a bound and undoes part of the raise.
    raised((1 / (1 - best.kappa)) * (1 + 2 ** -50));
    return { leaks: step.leaks(sent), rounds, kappa: best.kappa, from: 'below', certain };
  }
  return fromAbove(graph, caps, step, rounds, options.hardWork ?? mostWork);
}

const mostWork = 2e8;

function find(graph: Sent, effects: Float64Array, caps: Float64Array, step: Sweeper, options: MessageOptions): Climbed {
  if (!manyMessages(graph)) return climb(graph, step, options);
  const { loose = 1e-3, hardWork = mostWork, twin = 0, start, hopeless } = options;
  const lent = lend(graph);
  const everybody = effects.every((e) => e > 0);
  const largest = effects.reduce((m, e) => Math.max(m, e), 0);
  // Settled for effects that are raised a little, messages leave F that much of room also behind records that have no effect of their own.
  const raise = everybody && !options.part ? 0 : 2 * loose * largest;
  const settled = settle(
    graph,
    raise ? effects.map((e) => e + raise) : effects,
    raise ? caps.map((c) => c + raise) : caps,
    twin,
    step.pushed,
    {
      within: raise ? raise / 4 : (loose / 2) * largest,
      part: options.part ?? 0,
      work: hardWork,
      on: { through: lent.ties[1], state: lent.nodes[1] },
      ...(start && { start }),
      ...(hopeless && { hopeless }),
    },
  );
  const spare = [lent.ties[2], lent.ties[3]] as const;
  const kappa =
    everybody && !options.part ? kappaOf(graph, effects, caps, settled.found, step, spare[0]) : Number.POSITIVE_INFINITY;
  return { best: { kappa, drift: kappa, at: settled.found }, spare, rounds: settled.rounds, hopeless: settled.hopeless };
}

/** The least kappa of a certificate where everybody has an effect: F(0) is that of the other end, and no more than its cap lets through. */
function kappaOf(
  { member }: Sent,
  effects: Float64Array,
  caps: Float64Array,
  at: Float64Array,
  step: Sweeper,
  sent: Float64Array,
): number {
  step(at, sent);
  let kappa = 0;
  for (let p = 0; p < at.length; p++) {
    const u = member[p]!;
    const floor = Math.min(effects[member[p ^ 1]!]!, caps[u]! - effects[u]!) * lowered;
    const gap = sent[p]! - at[p]!;
    if (gap > kappa * floor) kappa = (gap / floor) * (1 + 2 ** -50);
  }
  return kappa;
}

/** 0, F(0), F^2(0), … until no more coordinates see an effect. */
function fromZero(size: number, step: Sweeper): Float64Array[] {
  const trail = [new Float64Array(size), new Float64Array(size)];
  step(trail[0]!, trail[1]!);
  for (let zeros = zerosIn(trail[1]!), before = size; zeros > 0 && zeros < before && trail.length <= longestLag; ) {
    trail.push(new Float64Array(size));
    step(trail.at(-2)!, trail.at(-1)!);
    [before, zeros] = [zeros, zerosIn(trail.at(-1)!)];
  }
  return trail;
}

/** What is called F^k(0) in a certificate is this much of what was computed: far less than roundings and tangents can have raised it. */
const lowered = 1 - 1e-5;

interface Climbed {
  readonly best: { readonly kappa: number; readonly drift: number; readonly at: Float64Array };
  readonly rounds: number;
  /** Of the graph's size, and free. */
  readonly spare: readonly [Float64Array, Float64Array];
  readonly hopeless: boolean;
}

/** Towards the values that F leaves alone, from below and with leaps: proves nothing by itself. */
function climb(graph: Sent, step: Sweeper, options: MessageOptions): Climbed {
  const { tolerance = 1e-10, loose = 1e-3, softWork = 1.2e7, hardWork = mostWork, hopeless } = options;
  const size = graph.member.length;
  // B, F(B), … F^lag(B).
  let trail = fromZero(size, step);
  const lag = trail.length - 1;
  const floor = trail[lag]!.map((x) => x * lowered);
  if (options.start) {
    trail[0]!.set(options.start);
    for (let k = 0; k < lag; k++) step(trail[k]!, trail[k + 1]!);
  }
  const rotate = () => {
    trail = [...trail.slice(1), trail[0]!];
    step(trail[lag - 1]!, trail[lag]!);
  };
  let rounds = lag;
  let gap = gapOf(trail[lag]!, trail[0]!, floor);
  let best = { ...gap, at: trail[0]!.slice() };
  let stalled = 0;
  let over = false;
  const measure = () => {
    gap = gapOf(trail[lag]!, trail[0]!, floor);
    stalled = gap.drift < 0.9 * best.drift ? 0 : stalled + 1;
    if (!(gap.drift < best.drift)) return;
    best.at.set(trail[0]!);
    best = { ...gap, at: best.at };
  };
  for (
    let quiet = 0, before = Number.POSITIVE_INFINITY;
    gap.drift > tolerance && rounds * size < hardWork && stalled < patience && !over;
  ) {
    if (gap.drift <= loose && rounds * size >= softWork) break;
    rotate();
    rounds++;
    if (hopeless) over = step.exceeds(hopeless.most, hopeless.caps);
    measure();
    const shrink = gap.drift / before;
    before = gap.drift;
    // The error now shrinks by one factor per round along one direction: leap to where it would end, then settle again.
    if (++quiet >= 2 + lag && shrink > 0.2 && shrink < 0.995 && gap.drift > tolerance) {
      leap(trail[lag]!, trail[lag - 1]!, Math.min(50, shrink / (1 - shrink)));
      trail = [trail[lag]!, ...trail.slice(0, lag)];
      for (let k = 0; k < lag; k++) step(trail[k]!, trail[k + 1]!);
      rounds += lag;
      measure();
      quiet = 0;
      before = Number.POSITIVE_INFINITY;
    }
  }
  return { best, rounds, spare: [trail[0]!, trail[1]!], hopeless: over };
}

function zerosIn(values: Float64Array): number {
  let zeros = 0;
  for (const x of values) if (x === 0) zeros++;
  return zeros;
}

/** kappa: the least with after - before <= kappa floor. drift: the same for the distance, which says when to stop. */
function gapOf(after: Float64Array, before: Float64Array, floor: Float64Array): { kappa: number; drift: number } {
  let kappa = 0;
  let drift = 0;
  for (let p = 0; p < after.length; p++) {
    const gap = after[p]! - before[p]!;
    if (gap > kappa * floor[p]!) kappa = (gap / floor[p]!) * (1 + 2 ** -50);
    if (-gap > drift * floor[p]!) drift = -gap / floor[p]!;
  }
  return { kappa, drift: Math.max(kappa, drift) };
}

function leap(now: Float64Array, last: Float64Array, stride: number): void {
  for (let p = 0; p < now.length; p++) now[p] = Math.max(0, now[p]! + stride * (now[p]! - last[p]!));
}

/** Every iterate is a bound; stops when a round gains next to nothing. */
function fromAbove(graph: Sent, caps: Float64Array, step: Sweeper, spent: number, hardWork: number): Messages {
  let now: Float64Array = Float64Array.from(graph.member, (u) => caps[u]!);
  let next: Float64Array = new Float64Array(now.length);
  let rounds = 0;
  const [least, most] = manyMessages(graph) ? [1e-2, 16] : [1e-9, 5000];
  for (let gain = 1; gain > least && rounds * now.length < hardWork / 2 && rounds < most; rounds++) {
    step(now, next);
    gain = 0;
    for (let p = 0; p < now.length; p++) {
      if (next[p]! > now[p]!) next[p] = now[p]!;
      if (now[p]! - next[p]! > gain * now[p]!) gain = 1 - next[p]! / now[p]!;
    }
    [now, next] = [next, now];
  }
  return { leaks: step.leaks(now), rounds: rounds + spent, kappa: 0, from: 'above' };
}

interface Sweeper {
  /** to = F(from), rounded up. */
  (from: Float64Array, to: Float64Array): void;
  leaks(from: Float64Array): Float64Array;
  /** Whether the messages last sent make some record leak more than this although its cap is larger. */
  exceeds(most: number, caps: Float64Array): boolean;
  /** What incidence p lets through of an effect. */
  readonly pushed: (p: number, effect: number) => number;
}

/** What one question about a large graph works on. */
interface Lent {
  readonly ties: readonly [Float64Array, Float64Array, Float64Array, Float64Array];
  readonly nodes: readonly [Float64Array, Float64Array];
}
const arrays = new WeakMap<Uint32Array, Lent>();

/** The same arrays for every question about the same ties, as one is answered before the next: making and dropping them would take longer than using them. */
function lend({ member, nodes }: Sent): Lent {
  const known = arrays.get(member);
  if (known) return known;
  const ties = () => new Float64Array(member.length);
  const made: Lent = {
    ties: [ties(), ties(), ties(), ties()],
    nodes: [new Float64Array(2 * nodes), new Float64Array(2 * nodes)],
  };
  arrays.set(member, made);
  return made;
}

function sweeper(graph: Sent, effects: Float64Array, caps: Float64Array, twin: number): Sweeper {
  const { member, start, factorOf, factors, nodes, records, pairwise } = graph;
  const size = member.length;
  const lent = manyMessages(graph) ? lend(graph) : undefined;
  const through = lent?.ties[0] ?? new Float64Array(size);
  const behind = new Float64Array(pairwise ? 0 : factors);
  const toTwin = tangents(twin);
  const pushed = pushing(graph);
  // Of node u: at 2u what it has from everybody, at 2u + 1 the most that can lie behind one of its factors. Side by side, as they are read together.
  const state = lent?.nodes[0] ?? new Float64Array(2 * nodes);
  for (let u = 0; u < nodes; u++) state[2 * u + 1] = (caps[u]! - effects[u]!) * roundedUp;

  const gather = (from: Float64Array): void => {
    for (let u = 0; u < nodes; u++) state[2 * u] = effects[u]!;
    for (let p = 0; p < size; p++) {
      const m = pushed(p, from[p]!);
      through[p] = m;
      const at = 2 * member[p]!;
      state[at] = (state[at]! + m) * roundedUp;
    }
    // What the twin has from everybody else is what the record itself has.
    if (twin > 0)
      for (let u = 0; u < records; u++) {
        const own = state[2 * u]!;
        state[2 * u] = (own + toTwin(Math.min(own, state[2 * u + 1]!))) * roundedUp;
      }
  };
  /** What w = member[p] passes on to the rest of p's factor: its own effect and what all other factors bring it. */
  const offer = (p: number): number => Math.max(0, (state[2 * member[p]!]! - through[p]!) * roundedUp);
  const spreadPairs = (to: Float64Array): void => {
    for (let p = 0; p < size; p += 2) {
      to[p] = Math.min(offer(p + 1), state[2 * member[p]! + 1]!);
      to[p + 1] = Math.min(offer(p), state[2 * member[p + 1]! + 1]!);
    }
  };
  const spread = (to: Float64Array): void => {
    for (let f = 0; f < factors; f++) {
      let total = 0;
      for (let p = start[f]!; p < start[f + 1]!; p++) total = (total + offer(p)) * roundedUp;
      behind[f] = total;
    }
    for (let p = 0; p < size; p++) {
      const f = factorOf[p]!;
      const two = start[f + 1]! - start[f]! === 2;
      const effect = two ? offer(p === start[f]! ? p + 1 : p - 1) : Math.max(0, (behind[f]! - offer(p)) * roundedUp);
      to[p] = Math.min(effect, state[2 * member[p]! + 1]!);
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
    exceeds: (most: number, caps: Float64Array): boolean => {
      for (let u = 0; u < records; u++) if (state[2 * u]! > most && caps[u]! > most) return true;
      return false;
    },
  });
}

/** What incidence p lets through of an effect, rounded up. */
export function pushing({ member, logOdds, commonOdds }: Sent): (p: number, effect: number) => number {
  const tables = new Tables(member.length);
  const common = commonOdds === undefined ? undefined : tables.of(commonOdds);
  if (common) return (_, effect) => common(effect);
  const some = fewKinds(logOdds, tables);
  if (some) return (p, effect) => some.pushers[some.kind[p]!]!(effect);
  const shut = new Float64Array(member.length);
  const passing = new Float64Array(member.length);
  for (let p = 0; p < member.length; p++) {
    const same = p > 0 && logOdds[p] === logOdds[p - 1];
    shut[p] = same ? shut[p - 1]! : closed(logOdds[p]!);
    passing[p] = same ? passing[p - 1]! : open(logOdds[p]!);
  }
  return (p, effect) => {
    const d = logOdds[p]!;
    return effect > 0 && d > 0 ? pushThrough(effect, d, shut[p]!, passing[p]!) : 0;
  };
}

/** Which table each incidence is pushed by; undefined where there is not one for each. */
function fewKinds(logOdds: Float64Array, tables: Tables) {
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
