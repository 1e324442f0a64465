import { addUp, logUp, mulUp } from '../../base/exact/outward.js';
import { type Rational, toNumberDown } from '../../base/exact/rational.js';
import type { Adversary } from '../../policy/policy.js';
import { attractiveBound, attractiveBoundText } from './alike/attractive-bound.js';
import { attractiveTies } from './alike/attractive-ties.js';
import { assemble, type FactorGraph, withOdds } from './graph/factor-graph.js';
import { lazy } from './graph/pair-graph.js';
import { contraction } from './graph/push.js';
import { type GraphWalk, walkGraph } from './graph/walk.js';
import { type GraphLayout, layoutGraph } from './informed/graph-layout.js';
import { type InformedOptions, informedBound, type WarmStart, warmStart } from './informed/informed.js';
import { type UniformBound, uniformBound } from './informed/uniform-bound.js';
import { largestBelow, largestNear } from './largest-below.js';
import type { Model } from './model/model.js';
import { graphsOf } from './model/model-graph.js';
import { directAssumption, directBound } from './uninformed/direct.js';
import { type Percolation, percolation } from './uninformed/percolation.js';
import { uninformedForest } from './uninformed/uninformed.js';
import { vStructures } from './uninformed/v-structure.js';

/** Declared ties: a graph of odds ratios, or a model with tables, from which a graph is derived. */
export type GraphOrModel = FactorGraph | Model;
const isModel = (subject: GraphOrModel): subject is Model => 'ids' in subject;

export interface CalculatorOptions {
  /** `direct`: ties reach no further than their ends (uninformed only; see direct.ts for what that assumes). */
  readonly reach?: 'any' | 'direct';
  /** Total-variation radius of the tables of a model, for the uninformed bound. */
  readonly radius?: number;
  /** All ties of a graph are attractive and its records two-valued: an assumption that must be stated with the bound. */
  readonly pull?: 'alike';
  /** 1 for records that spend if a single number is given as the cost; all records when absent. */
  readonly used?: Uint8Array;
}

export interface LeakageBounds {
  /** Upper bound on the leakage of each record; rounded up. */
  readonly perRecord: Float64Array;
  readonly worst: { readonly record: number; readonly leakage: number };
  /** Total cost of the largest component: the leakage by group privacy. */
  readonly group: number;
  /** Every number is a proven bound, rounded conservatively. */
  readonly certified: true;
  readonly method: string;
}

/** Leakage calculator for one graph or model. Every result depends on the call alone, never on earlier calls. */
export interface LeakageCalculator {
  readonly records: number;
  readonly graph: FactorGraph;
  /** A single number is the cost of every used record. */
  leakage(recordCosts: Float64Array | number): LeakageBounds;
  /** Worst leakage if every used record spends this; above `most` it need not be precise. */
  worst(base: number, most?: number): number;
  /** Estimate, not a bound, of the worst record's leakage per unit of a small base. */
  amplification(): number;
  /** Largest number of used records in one component. */
  readonly group: number;
  /** Layout of the graph, and messages to start from. */
  readonly laid?: GraphLayout;
  start(): WarmStart | undefined;
  /** Bound for large graphs if every used record spends the same and only the worst one matters. */
  common?(): UniformBound | undefined;
}

export function leakageCalculator(
  subject: GraphOrModel,
  adversary: Adversary,
  options: CalculatorOptions = {},
): LeakageCalculator {
  const { reach = 'any', radius = 0, pull, used } = options;
  if (reach === 'direct' && adversary === 'informed')
    throw new RangeError('reach: direct holds against an uninformed adversary only');
  if (reach === 'direct' && !isModel(subject)) return directCalculator(subject, used);
  const graphs = isModel(subject) ? graphsOf(subject) : [subject];
  const laid = graphs.map(layoutGraph);
  const first = graphs[0]!;
  const together = laid[0]!.walk.looped.includes(1) ? attractiveBoundOf(subject, pull) : undefined;
  const spread = spreader(first.records, used);
  // For the worst record alone, most of a large graph need not be visited.
  const quick = lazy(() => (isModel(subject) || reach === 'direct' || together ? undefined : uniformBound(laid[0]!, used)));
  // Large graphs start from the messages of a small base, which are the same for every call.
  let starts: readonly (WarmStart | undefined)[] | undefined;
  const startAt = (k: number): WarmStart | undefined => {
    starts ??= laid.map((l) => quick()?.start(small) ?? (isLarge(l.graph) ? warmStart(l, spread(small), small) : undefined));
    return starts[k];
  };
  const answer = (input: Float64Array | number, most?: number, only: Pick<InformedOptions, 'worst'> = {}): LeakageBounds => {
    const recordCosts = spread(input);
    const [base, ...others] = graphs.map((g, k) => {
      const start = typeof input === 'number' ? startAt(k) : undefined;
      return informedBound(g, recordCosts, laid[k]!, { ...(start && { start }), ...(most !== undefined && { most }), ...only });
    });
    const bounds = [base!, ...others].map((b) => b.leaks);
    const words = [describe(base!.methods, base!.capped)];
    if (adversary === 'uninformed' && isModel(subject)) {
      // A table known only within a radius has no certain odds ratio, so the informed bound does not apply.
      if (radius > 0) bounds.splice(0, bounds.length, base!.group);
      bounds.push(uninformedForest(subject, recordCosts, { radius }));
      if (radius === 0) bounds.push(vStructures(subject, recordCosts, 'none'));
      words.push('forests of pairwise tables by their own conditionals');
    }
    if (reach === 'direct') {
      bounds.push(directBound(first, recordCosts));
      words.push(`direct reach (assumes: ${directAssumption.independent})`);
    }
    if (together && radius === 0) {
      bounds.push(together(recordCosts));
      words.push(attractiveBoundText);
    }
    const perRecord = bounds.length === 1 ? bounds[0]! : least(bounds);
    return {
      perRecord,
      worst: worstOf(perRecord),
      group: worstOf(base!.group).leakage,
      certified: true,
      method: words.join('; '),
    };
  };
  return {
    records: first.records,
    graph: first,
    leakage: (recordCosts) => answer(recordCosts),
    worst: (base, most) => quick()?.worst(base, closely) ?? answer(base, most, { worst: closely }).worst.leakage,
    amplification: () => quick()?.amplification() ?? startAt(0)?.amplification ?? answer(small).worst.leakage / small,
    group: mostUsed(laid[0]!, used),
    laid: laid[0]!,
    start: () => startAt(0),
    common: quick,
  };
}

/** Bound for attractive ties, infinite for records it does not cover. */
function attractiveBoundOf(
  subject: GraphOrModel,
  pull: 'alike' | undefined,
): ((recordCosts: Float64Array) => Float64Array) | undefined {
  const pulls = isModel(subject)
    ? attractiveTies(subject)
    : pull && subject.pairwise
      ? { graph: subject, coveredNodes: undefined }
      : undefined;
  if (!pulls) return undefined;
  const { graph, coveredNodes } = pulls;
  const walked = walkGraph(graph);
  const whereCovered = (leaks: Float64Array) =>
    coveredNodes ? leaks.map((leak, i) => (coveredNodes[i] ? leak : Number.POSITIVE_INFINITY)) : leaks;
  // The bound is linear: if records spend one cost or nothing, the result for cost 1 is computed once.
  let unit: { readonly who: Float64Array; readonly leaks: Float64Array } | undefined;
  return (recordCosts) => {
    const most = recordCosts.reduce((m, e) => Math.max(m, e), 0);
    if (recordCosts.some((e) => e !== most && e !== 0)) return whereCovered(attractiveBound(graph, recordCosts, walked));
    const who = recordCosts.map((e) => (e > 0 ? 1 : 0));
    if (!unit || who.some((one, i) => one !== unit!.who[i]))
      unit = { who, leaks: whereCovered(attractiveBound(graph, who, walked)) };
    return unit.leaks.map((leak) => (leak === Number.POSITIVE_INFINITY ? leak : mulUp(leak, most)));
  };
}

/** Relative gain for which the worst record is bounded once more. */
const closely = 3e-4;

/** A base so small that leakage is as good as linear in it. */
const small = 2 ** -30;

const spreader = (records: number, used: Uint8Array | undefined) => (recordCosts: Float64Array | number) => {
  if (typeof recordCosts !== 'number') return recordCosts;
  const all = new Float64Array(records).fill(recordCosts);
  if (used) for (let u = 0; u < records; u++) if (!used[u]) all[u] = 0;
  return all;
};

/**
 * Calculator for direct reach alone, which is never above any other bound: push(e, D) <= min(e, D), and pushes of parts add up to
 * at most the push of the whole.
 */
function directCalculator(graph: FactorGraph, used: Uint8Array | undefined): LeakageCalculator {
  const walked = walkGraph(graph);
  const spread = spreader(graph.records, used);
  const leakage = (input: Float64Array | number): LeakageBounds => {
    const recordCosts = spread(input);
    const perRecord = directBound(graph, recordCosts);
    const method = `direct reach (assumes: ${directAssumption.independent})`;
    return { perRecord, worst: worstOf(perRecord), group: largestComponent(walked, recordCosts), certified: true, method };
  };
  const worst = (base: number) => worstOf(directBound(graph, spread(base))).leakage;
  return {
    records: graph.records,
    graph,
    leakage,
    worst,
    amplification: () => worst(small) / small,
    group: largestComponent(walked, spread(1)),
    start: () => undefined,
  };
}

function largestComponent(w: GraphWalk, recordCosts: Float64Array): number {
  let most = 0;
  for (let c = 0; c < w.components; c++) {
    let sum = 0;
    for (let x = w.componentStart[c]!; x < w.componentStart[c + 1]!; x++) sum = addUp(sum, recordCosts[w.order[x]!] ?? 0);
    most = Math.max(most, sum);
  }
  return most;
}

/** Largest number of used records in one component. */
function mostUsed({ graph, walk }: GraphLayout, used: Uint8Array | undefined): number {
  let most = 0;
  for (let c = 0; c < walk.components; c++) {
    let count = 0;
    for (let x = walk.componentStart[c]!; x < walk.componentStart[c + 1]!; x++) {
      const u = walk.order[x]!;
      if (u < graph.records && (!used || used[u])) count++;
    }
    most = Math.max(most, count);
  }
  return most;
}

export const leakageBounds = (
  subject: GraphOrModel,
  recordCosts: Float64Array | number,
  adversary: Adversary,
  options: CalculatorOptions = {},
): LeakageBounds => leakageCalculator(subject, adversary, options).leakage(recordCosts);

function least(bounds: readonly Float64Array[]): Float64Array {
  const out = Float64Array.from(bounds[0]!);
  for (const bound of bounds.slice(1)) for (let i = 0; i < out.length; i++) if (bound[i]! < out[i]!) out[i] = bound[i]!;
  return out;
}

function worstOf(leaks: Float64Array): { record: number; leakage: number } {
  let record = 0;
  for (let i = 1; i < leaks.length; i++) if (leaks[i]! > leaks[record]!) record = i;
  return { record, leakage: leaks[record] ?? 0 };
}

const methodWords: Record<string, string> = {
  forest: 'forests in one pass each way',
  recursion: 'small components by the recursion',
  clique: 'cliques by their closed form',
  messages: 'graphs with loops by certified messages',
};
const describe = (methods: Readonly<Record<string, number>>, capped: boolean): string =>
  `informed bound: ${Object.entries(methods)
    .filter(([, count]) => count > 0)
    .map(([name]) => methodWords[name])
    .join(', ')}${capped ? ', capped for some records' : ''}`;

/** The largest common base whose worst leakage stays within epsilon; rounded down and checked. */
export const largestBase = (
  subject: GraphOrModel,
  epsilon: Rational,
  adversary: Adversary,
  options: CalculatorOptions = {},
): Rational => largestBaseOn(leakageCalculator(subject, adversary, options), epsilon);

/** From this many incidences on, bases are found to three digits, less than any noise can show. */
const largeGraph = 40_000;
export const isLarge = (graph: FactorGraph): boolean => graph.member.length >= largeGraph;

export function largestBaseOn(input: LeakageCalculator, epsilon: Rational): Rational {
  const limit = toNumberDown(epsilon);
  if (!isLarge(input.graph)) return largestBelow((base) => input.worst(base), limit, limit);
  return largestNear((base) => input.worst(base, limit), limit, {
    top: limit,
    // Group privacy.
    sure: (limit / Math.max(1, input.group)) * (1 - 1e-9),
    guess: limit / input.amplification(),
  });
}

/** Gaussian noise under the same ties: informed adversary, rho of zCDP per record. */
const gaussianTies = (subject: GraphOrModel): Percolation => percolation(isModel(subject) ? graphsOf(subject)[0]! : subject);
export const largestRho = (subject: GraphOrModel, epsilon: Rational, delta: Rational): Rational =>
  gaussianTies(subject).largestRho(epsilon, delta);

export interface WhatIfLeakage {
  readonly oddsTimes2: number;
  readonly oddsTimes4: number;
  readonly oneMoreTie: number;
}

/** Worst informed leakage if the declaration were too weak. */
export function whatIf(subject: GraphOrModel, base: number): WhatIfLeakage {
  const graph = isModel(subject) ? graphsOf(subject)[0]! : subject;
  const worst = (g: FactorGraph) => leakageBounds(g, base, 'informed').worst.leakage;
  const times = (k: number) => worst(withOdds(graph, (d) => addUp(d, logUp(k))));
  return { oddsTimes2: times(2), oddsTimes4: times(4), oneMoreTie: worst(withTwins(graph)) };
}

/**
 * Graph with a copy of itself, each record tied to its twin as strongly as the strongest declared tie (odds ratio 2 if there is
 * none).
 */
export function withTwins(graph: FactorGraph): FactorGraph {
  const { records, nodes, member, logOdds, start } = graph;
  const strongest = logOdds.length === 0 ? logUp(2) : logOdds.reduce((m, d) => Math.max(m, d), 0);
  const size = member.length;
  // Records of the copy follow the records, hidden types of both come last.
  const own = (u: number) => (u < records ? u : u + records);
  const twin = (u: number) => (u < records ? u + records : u + nodes);
  const members = new Uint32Array(2 * size + 2 * records);
  const odds = new Float64Array(2 * size + 2 * records);
  const starts = new Uint32Array(2 * graph.factors + records + 1);
  for (let p = 0; p < size; p++) {
    members[p] = own(member[p]!);
    members[size + p] = twin(member[p]!);
    odds[p] = odds[size + p] = logOdds[p]!;
  }
  for (let f = 0; f <= graph.factors; f++) {
    starts[f] = start[f]!;
    starts[graph.factors + f] = size + start[f]!;
  }
  for (let u = 0; u < records; u++) {
    const at = 2 * size + 2 * u;
    members[at] = u;
    members[at + 1] = u + records;
    odds[at] = odds[at + 1] = strongest;
    starts[2 * graph.factors + u + 1] = at + 2;
  }
  return assemble(2 * records, 2 * nodes, starts, members, odds);
}

export interface Hub {
  readonly record: number;
  readonly ties: number;
  /**
   * Factor by which a small privacy loss that arrives over one tie leaves over all the others; from 1 on, it need not die out.
   */
  readonly passesOn: number;
}

/** Records that pass on most: they keep leakage large however small the base. */
export function hubs(subject: GraphOrModel, most = 5): Hub[] {
  const graph = isModel(subject) ? graphsOf(subject)[0]! : subject;
  const list: Hub[] = [];
  for (let u = 0; u < graph.records; u++) {
    const from = graph.nodeStart[u]!;
    const to = graph.nodeStart[u + 1]!;
    if (to - from < 2) continue;
    let sum = 0;
    let weakest = 1;
    for (let x = from; x < to; x++) {
      const t = contraction(graph.logOdds[graph.incidence[x]!]!);
      sum += t;
      weakest = Math.min(weakest, t);
    }
    const hub = { record: u, ties: to - from, passesOn: sum - weakest };
    if (list.length < most || hub.passesOn > list.at(-1)!.passesOn) {
      list.push(hub);
      list.sort((a, b) => b.passesOn - a.passesOn);
      list.length = Math.min(list.length, most);
    }
  }
  return list;
}
