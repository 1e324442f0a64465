import type { FactorGraph } from '../graph/factor-graph.js';
import { roundedUp } from '../graph/forest.js';
import { closed, open, pushThrough } from '../graph/push.js';

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
  /** The messages found, for the next similar question. */
  readonly found: Float64Array;
}

export interface MessageOptions {
  /** Stop when certified this closely. */
  readonly tolerance?: number;
  /** Accept this much after `softWork` updates of one incidence. */
  readonly loose?: number;
  readonly softWork?: number;
  readonly hardWork?: number;
  /** Where to start climbing: the messages of a similar question. Any numbers will do, the certificate does not care. */
  readonly start?: Float64Array;
}

/** Rounds without progress after which only rounding is left to gain. */
const patience = 60;

/** `caps[u]`: the component's whole effect, which bounds every message in it. */
export function messages(graph: FactorGraph, effects: Float64Array, caps: Float64Array, options: MessageOptions = {}): Messages {
  const { tolerance = 1e-10, loose = 1e-3, softWork = options.start ? 4e6 : 1.2e7, hardWork = 2e8 } = options;
  const size = graph.member.length;
  const step = sweeper(graph, effects, caps);
  const lag = graph.nodes > graph.records ? 2 : 1;
  // B, F(B), … F^lag(B); the floor is F^lag(0), lowered beyond any rounding.
  let trail = Array.from({ length: lag + 1 }, () => new Float64Array(size));
  for (let k = 0; k < lag; k++) step(trail[k]!, trail[k + 1]!);
  const floor = trail[lag]!.map((x) => x * (1 - 1e-6));
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
  const measure = () => {
    gap = gapOf(trail[lag]!, trail[0]!, floor);
    stalled = gap.drift < 0.9 * best.drift ? 0 : stalled + 1;
    if (gap.drift < best.drift) best = { ...gap, at: trail[0]!.slice() };
  };
  for (
    let quiet = 0, before = Number.POSITIVE_INFINITY;
    gap.drift > tolerance && rounds * size < hardWork && stalled < patience;
  ) {
    if (gap.drift <= loose && rounds * size >= softWork) break;
    rotate();
    rounds++;
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
  if (best.kappa < 0.5) {
    const raise = (1 / (1 - best.kappa)) * (1 + 2 ** -50);
    const certain = best.at.map((x) => x * raise);
    // One more application of F keeps it a bound and undoes part of the raise.
    step(certain, trail[0]!);
    return { leaks: step.leaks(trail[0]!), rounds, kappa: best.kappa, from: 'below', found: best.at };
  }
  return fromAbove(graph, caps, step, rounds, hardWork);
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
function fromAbove(graph: FactorGraph, caps: Float64Array, step: Sweeper, spent: number, hardWork: number): Messages {
  let now: Float64Array = Float64Array.from(graph.member, (u) => caps[u]!);
  let next: Float64Array = new Float64Array(now.length);
  let rounds = 0;
  for (let gain = 1; gain > 1e-9 && rounds * now.length < hardWork / 2 && rounds < 5000; rounds++) {
    step(now, next);
    gain = 0;
    for (let p = 0; p < now.length; p++) {
      if (next[p]! > now[p]!) next[p] = now[p]!;
      if (now[p]! - next[p]! > gain * now[p]!) gain = 1 - next[p]! / now[p]!;
    }
    [now, next] = [next, now];
  }
  return { leaks: step.leaks(now), rounds: rounds + spent, kappa: 0, from: 'above', found: now };
}

interface Sweeper {
  /** to = F(from), rounded up. */
  (from: Float64Array, to: Float64Array): void;
  leaks(from: Float64Array): Float64Array;
}

function sweeper(graph: FactorGraph, effects: Float64Array, caps: Float64Array): Sweeper {
  const { member, logOdds, start, factorOf, factors, nodes, pairwise } = graph;
  const size = member.length;
  const shut = new Float64Array(size);
  const passing = new Float64Array(size);
  for (let p = 0; p < size; p++) {
    const same = p > 0 && logOdds[p] === logOdds[p - 1];
    shut[p] = same ? shut[p - 1]! : closed(logOdds[p]!);
    passing[p] = same ? passing[p - 1]! : open(logOdds[p]!);
  }
  const through = new Float64Array(size);
  const sums = new Float64Array(nodes);
  const behind = new Float64Array(pairwise ? 0 : factors);

  const gather = (from: Float64Array): void => {
    sums.set(effects);
    for (let p = 0; p < size; p++) {
      const effect = from[p]!;
      const d = logOdds[p]!;
      const m = effect > 0 && d > 0 ? pushThrough(effect, d, shut[p]!, passing[p]!) : 0;
      through[p] = m;
      const u = member[p]!;
      sums[u] = (sums[u]! + m) * roundedUp;
    }
  };
  /** What w = member[p] passes on to the rest of p's factor: its own effect and what all other factors bring it. */
  const offer = (p: number): number => Math.max(0, (sums[member[p]!]! - through[p]!) * roundedUp);
  const spreadPairs = (to: Float64Array): void => {
    for (let p = 0; p < size; p += 2) {
      const u = member[p]!;
      const w = member[p + 1]!;
      to[p] = Math.min(offer(p + 1), (caps[u]! - effects[u]!) * roundedUp);
      to[p + 1] = Math.min(offer(p), (caps[w]! - effects[w]!) * roundedUp);
    }
  };
  const spread = (to: Float64Array): void => {
    for (let f = 0; f < factors; f++) {
      let total = 0;
      for (let p = start[f]!; p < start[f + 1]!; p++) total = (total + offer(p)) * roundedUp;
      behind[f] = total;
    }
    for (let p = 0; p < size; p++) {
      const u = member[p]!;
      const f = factorOf[p]!;
      const two = start[f + 1]! - start[f]! === 2;
      const effect = two ? offer(p === start[f]! ? p + 1 : p - 1) : Math.max(0, (behind[f]! - offer(p)) * roundedUp);
      to[p] = Math.min(effect, (caps[u]! - effects[u]!) * roundedUp);
    }
  };
  const sweep = (from: Float64Array, to: Float64Array): void => {
    gather(from);
    if (pairwise) spreadPairs(to);
    else spread(to);
  };
  return Object.assign(sweep, {
    leaks: (from: Float64Array): Float64Array => {
      gather(from);
      return sums.slice();
    },
  });
}
