import type { FactorGraph } from '../graph/factor-graph.js';
import { converge } from './converge.js';
import { type Hopeless, isLargeGraph, type MessageQuestion, type Sweeper, scratchFor, sweeper } from './sweep.js';

/**
 * Bounds by belief propagation on graphs with loops: one message B(f,u) per incidence, with B* <= F(B*). We climb from below and
 * certify the result (informed.proof.md, "Messages").
 */
export interface PropagatedBounds {
  /** e_u + sum over the factors of u of push(B(f,u), D(f,u)), rounded up, per node. */
  readonly leaks: Float64Array;
  readonly rounds: number;
  /** Relative amount by which B was raised to be certain; 0 if the bound came from above. */
  readonly kappa: number;
  readonly from: 'below' | 'above';
  /** Messages that F does not raise, if found from below; overwritten by the next question about the same ties. */
  readonly certain?: Float64Array;
}

export interface PropagationOptions {
  /** Stop when certified this closely. */
  readonly tolerance?: number;
  /** Accept this much after `softWork` updates of one incidence. */
  readonly loose?: number;
  readonly softWork?: number;
  readonly hardWork?: number;
  /** On large graphs: messages that move by less than this part of themselves are settled. */
  readonly part?: number;
  /** Messages to start from, such as those of a similar question. Any numbers are safe: the certificate does not depend on them. */
  readonly start?: Float64Array | undefined;
  /** Every record is tied by this D to its twin in a copy of the graph (informed.proof.md, "Twins"); `caps` are of both. */
  readonly twin?: number;
  /** When to give up and return the caps. */
  readonly hopeless?: Hopeless | undefined;
}

/** Rounds without progress after which only rounding errors are left. */
const patience = 60;
/** Largest number of steps of F after which a cost reaches every incidence it can, past records without costs. */
const longestLag = 4;

/**
 * Bounds for these costs by belief propagation. `caps[u]` is the total cost of the component, which bounds every message in it.
 */
export function propagate(
  graph: FactorGraph,
  costs: Float64Array,
  caps: Float64Array,
  options: PropagationOptions = {},
): PropagatedBounds {
  const question = { graph, costs, caps, twin: options.twin ?? 0 };
  const step = sweeper(question);
  const { best, rounds, spare, hopeless } = isLargeGraph(graph) ? settle(question, step, options) : climb(graph, step, options);
  if (hopeless) return { leaks: caps.slice(), rounds, kappa: 0, from: 'above' };
  const [certain, sent] = spare;
  const raised = (by: number): Float64Array => {
    for (let p = 0; p < certain.length; p++) certain[p] = best.at[p]! * by;
    step(certain, sent);
    return sent;
  };
  // With much saturation, or records without costs, a small raise that F does not exceed is found long before kappa is small.
  if (isLargeGraph(graph) && best.kappa > 2e-3)
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
  return fromAbove(question, step, rounds, options.hardWork ?? mostWork);
}

const mostWork = 2e8;

/** Messages of a large graph, near the fixed point of F. */
function settle(question: MessageQuestion, step: Sweeper, options: PropagationOptions): Climbed {
  const { graph, costs, caps } = question;
  const { loose = 1e-3, hardWork = mostWork, part = 0, start, hopeless } = options;
  const scratch = scratchFor(graph);
  const everybody = part === 0 && costs.every((e) => e > 0);
  const largest = costs.reduce((m, e) => Math.max(m, e), 0);
  // Convergence for slightly raised costs leaves F a margin, even past records without a cost.
  const raise = everybody ? 0 : 2 * loose * largest;
  const raised = raise ? { ...question, costs: costs.map((e) => e + raise), caps: caps.map((c) => c + raise) } : question;
  const { found, rounds, ...settled } = converge(raised, step.pushed, {
    within: raise ? raise / 4 : (loose / 2) * largest,
    part,
    work: hardWork,
    on: { through: scratch.ties[1], state: scratch.nodes[1] },
    start,
    hopeless,
  });
  const spare = [scratch.ties[2], scratch.ties[3]] as const;
  let kappa = Number.POSITIVE_INFINITY;
  if (everybody) {
    step(found, spare[0]);
    kappa = kappaOf(question, found, spare[0]);
  }
  return { best: { kappa, drift: kappa, at: found }, spare, rounds, hopeless: settled.hopeless };
}

/** Least kappa of a certificate if every record has a cost: F(0) is the other end's cost, at most its cap. */
function kappaOf({ graph: { member }, costs, caps }: MessageQuestion, at: Float64Array, sent: Float64Array): number {
  let kappa = 0;
  for (let p = 0; p < at.length; p++) {
    const u = member[p]!;
    const floor = Math.min(costs[member[p ^ 1]!]!, caps[u]! - costs[u]!) * lowered;
    const gap = sent[p]! - at[p]!;
    if (gap > kappa * floor) kappa = (gap / floor) * (1 + 2 ** -50);
  }
  return kappa;
}

/** 0, F(0), F^2(0), … until no further coordinates become positive. */
function fromZero(size: number, step: Sweeper): Float64Array[] {
  const iterates = [new Float64Array(size), new Float64Array(size)];
  step(iterates[0]!, iterates[1]!);
  for (let zeros = zerosIn(iterates[1]!), before = size; zeros > 0 && zeros < before && iterates.length <= longestLag; ) {
    iterates.push(new Float64Array(size));
    step(iterates.at(-2)!, iterates.at(-1)!);
    [before, zeros] = [zeros, zerosIn(iterates.at(-1)!)];
  }
  return iterates;
}

/** Factor that lowers the computed F^k(0) in a certificate, by far more than rounding and tangents can have raised it. */
const lowered = 1 - 1e-5;

interface Climbed {
  readonly best: { readonly kappa: number; readonly drift: number; readonly at: Float64Array };
  readonly rounds: number;
  /** Arrays of the graph's size that are free for use. */
  readonly spare: readonly [Float64Array, Float64Array];
  readonly hopeless: boolean;
}

/** Climbs towards the fixed point of F, from below and with leaps: it proves nothing by itself. */
function climb(graph: FactorGraph, step: Sweeper, options: PropagationOptions): Climbed {
  const { tolerance = 1e-10, loose = 1e-3, softWork = 1.2e7, hardWork = mostWork, hopeless } = options;
  const size = graph.member.length;
  // B, F(B), … F^lag(B).
  let iterates = fromZero(size, step);
  const lag = iterates.length - 1;
  const floor = iterates[lag]!.map((x) => x * lowered);
  if (options.start) {
    iterates[0]!.set(options.start);
    for (let k = 0; k < lag; k++) step(iterates[k]!, iterates[k + 1]!);
  }
  const rotate = () => {
    iterates = [...iterates.slice(1), iterates[0]!];
    step(iterates[lag - 1]!, iterates[lag]!);
  };
  let rounds = lag;
  let gap = gapOf(iterates[lag]!, iterates[0]!, floor);
  let best = { ...gap, at: iterates[0]!.slice() };
  let stalled = 0;
  let over = false;
  const measure = () => {
    gap = gapOf(iterates[lag]!, iterates[0]!, floor);
    stalled = gap.drift < 0.9 * best.drift ? 0 : stalled + 1;
    if (!(gap.drift < best.drift)) return;
    best.at.set(iterates[0]!);
    best = { ...gap, at: best.at };
  };
  for (
    let quiet = 0, before = Number.POSITIVE_INFINITY;
    gap.drift > tolerance && rounds * size < hardWork && stalled < patience && !over;
  ) {
    if (gap.drift <= loose && rounds * size >= softWork) break;
    rotate();
    rounds++;
    if (hopeless) over = step.exceeds(hopeless);
    measure();
    const shrink = gap.drift / before;
    before = gap.drift;
    // The error now shrinks by a constant factor along one direction: extrapolate to its limit, then converge again.
    if (++quiet >= 2 + lag && shrink > 0.2 && shrink < 0.995 && gap.drift > tolerance) {
      leap(iterates[lag]!, iterates[lag - 1]!, Math.min(50, shrink / (1 - shrink)));
      iterates = [iterates[lag]!, ...iterates.slice(0, lag)];
      for (let k = 0; k < lag; k++) step(iterates[k]!, iterates[k + 1]!);
      rounds += lag;
      measure();
      quiet = 0;
      before = Number.POSITIVE_INFINITY;
    }
  }
  return { best, rounds, spare: [iterates[0]!, iterates[1]!], hopeless: over };
}

function zerosIn(values: Float64Array): number {
  let zeros = 0;
  for (const x of values) if (x === 0) zeros++;
  return zeros;
}

/** kappa: least number with after - before <= kappa floor. drift: the same for |after - before|, the stopping criterion. */
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

/** Every iterate is a bound; stops when a round improves hardly anything. */
function fromAbove({ graph, caps }: MessageQuestion, step: Sweeper, spent: number, hardWork: number): PropagatedBounds {
  let now: Float64Array = Float64Array.from(graph.member, (u) => caps[u]!);
  let next: Float64Array = new Float64Array(now.length);
  let rounds = 0;
  const [least, most] = isLargeGraph(graph) ? [1e-2, 16] : [1e-9, 5000];
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
