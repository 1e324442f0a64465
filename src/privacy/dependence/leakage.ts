import { addUp } from '../../base/exact/outward.js';
import type { Adversary } from '../../policy/policy.js';
import { attractiveBoundOf, attractiveBoundText } from './alike/attractive-bound.js';
import { type FactorGraph, isLarge } from './graph/factor-graph.js';
import { lazy } from './graph/pair-graph.js';
import { type GraphWalk, nodesOf, walkGraph } from './graph/walk.js';
import { type GraphLayout, layoutGraph } from './informed/graph-layout.js';
import { type InformedBound, type InformedOptions, informedBound, type WarmStart, warmStart } from './informed/informed.js';
import { costsOf, uniformBound } from './informed/uniform-bound.js';
import { type GraphOrModel, graphsOf, isModel } from './model/model-graph.js';
import { directAssumption, directBound } from './uninformed/direct.js';
import { uninformedForest } from './uninformed/uninformed.js';
import { vStructures } from './uninformed/v-structure.js';

export interface CalculatorOptions {
  /** `direct`: ties reach no further than their ends (uninformed only; see direct.ts for what that assumes). */
  readonly reach?: 'any' | 'direct';
  /** Total-variation radius of the tables of a model, for the uninformed bound. */
  readonly radius?: number;
  /** All ties of a graph are attractive and its records two-valued: an assumption that must be stated with the bound. */
  readonly pull?: 'alike' | undefined;
  /** 1 for records that spend if a single number is given as the cost; all records when absent. */
  readonly used?: Uint8Array | undefined;
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
}

/** Relative gain for which the worst record is bounded once more. */
const closely = 3e-4;

/** A base so small that leakage is as good as linear in it. */
const small = 2 ** -30;

const directText = `direct reach (assumes: ${directAssumption.independent})`;

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
  const [first, walk] = [graphs[0]!, laid[0]!.walk];
  const together = walk.looped.includes(1) ? attractiveBoundOf(subject, pull) : undefined;
  // For the worst record alone, most of a large graph need not be visited.
  const quick = lazy(() => (isModel(subject) || reach === 'direct' || together ? undefined : uniformBound(laid[0]!, used)));
  // Large graphs start from the messages of a small base, which are the same for every call.
  const starts = lazy(() =>
    laid.map(
      (l) => quick()?.start(small) ?? (isLarge(l.graph) ? warmStart(l, costsOf(first.records, used, small), small) : undefined),
    ),
  );
  /** Further bounds of which the least counts, each with its words. */
  const others = (recordCosts: Float64Array): (readonly [Float64Array, string])[] => {
    const bounds: (readonly [Float64Array, string])[] = [];
    if (adversary === 'uninformed' && isModel(subject)) {
      const text = 'forests of pairwise tables by their own conditionals';
      bounds.push([uninformedForest(subject, recordCosts, { radius }), text]);
      if (radius === 0) bounds.push([vStructures(subject, recordCosts, 'none'), text]);
    }
    if (reach === 'direct') bounds.push([directBound(first, recordCosts), directText]);
    if (together && radius === 0) bounds.push([together(recordCosts), attractiveBoundText]);
    return bounds;
  };
  const answer = (input: Float64Array | number, only: InformedOptions = {}): LeakageBounds => {
    const recordCosts = typeof input === 'number' ? costsOf(first.records, used, input) : input;
    const informed = graphs.map((g, k) => {
      const start = typeof input === 'number' ? starts()[k] : undefined;
      return informedBound(g, recordCosts, laid[k]!, { ...only, start });
    });
    const base = informed[0]!;
    const more = others(recordCosts);
    // A table known only within a radius has no certain odds ratio, so the informed bound does not apply.
    const valid =
      adversary === 'uninformed' && isModel(subject) && radius > 0 ? [base.group] : informed.map(({ leaks }) => leaks);
    const method = [...new Set([informedText(base), ...more.map(([, text]) => text)])].join('; ');
    return boundsOf(leastOf([...valid, ...more.map(([leaks]) => leaks)]), worstOf(base.group).leakage, method);
  };
  return {
    graph: first,
    leakage: (recordCosts) => answer(recordCosts),
    worst: (base, most) => quick()?.worst(base, closely) ?? answer(base, { most, worst: closely }).worst.leakage,
    amplification: () => quick()?.amplification() ?? starts()[0]?.amplification ?? answer(small).worst.leakage / small,
    group: largestComponent(walk, costsOf(first.records, used, 1)),
    laid: laid[0]!,
    start: () => starts()[0],
  };
}

/**
 * Calculator for direct reach alone, which is never above any other bound: push(e, D) <= min(e, D), and pushes of parts add up to
 * at most the push of the whole.
 */
function directCalculator(graph: FactorGraph, used: Uint8Array | undefined): LeakageCalculator {
  const walked = walkGraph(graph);
  const leakage = (input: Float64Array | number): LeakageBounds => {
    const recordCosts = typeof input === 'number' ? costsOf(graph.records, used, input) : input;
    return boundsOf(directBound(graph, recordCosts), largestComponent(walked, recordCosts), directText);
  };
  const worst = (base: number) => worstOf(directBound(graph, costsOf(graph.records, used, base))).leakage;
  return {
    graph,
    leakage,
    worst,
    amplification: () => worst(small) / small,
    group: largestComponent(walked, costsOf(graph.records, used, 1)),
    start: () => undefined,
  };
}

const boundsOf = (perRecord: Float64Array, group: number, method: string): LeakageBounds => ({
  perRecord,
  worst: worstOf(perRecord),
  group,
  certified: true,
  method,
});

/** The most that the records of one component spend; hidden types spend nothing. */
function largestComponent(w: GraphWalk, recordCosts: Float64Array): number {
  let most = 0;
  for (let c = 0; c < w.components; c++)
    most = Math.max(
      most,
      nodesOf(w, c).reduce((sum, u) => addUp(sum, recordCosts[u] ?? 0), 0),
    );
  return most;
}

export const leakageBounds = (
  subject: GraphOrModel,
  recordCosts: Float64Array | number,
  adversary: Adversary,
  options: CalculatorOptions = {},
): LeakageBounds => leakageCalculator(subject, adversary, options).leakage(recordCosts);

function leastOf(bounds: readonly Float64Array[]): Float64Array {
  const [first, ...others] = bounds;
  if (others.length === 0) return first!;
  return first!.map((leak, i) => others.reduce((least, bound) => Math.min(least, bound[i]!), leak));
}

function worstOf(leaks: Float64Array): { record: number; leakage: number } {
  let record = 0;
  for (let i = 1; i < leaks.length; i++) if (leaks[i]! > leaks[record]!) record = i;
  return { record, leakage: leaks[record] ?? 0 };
}

const methodWords: Record<keyof InformedBound['methods'], string> = {
  forest: 'forests in one pass each way',
  recursion: 'small components by the recursion',
  clique: 'cliques by their closed form',
  messages: 'graphs with loops by certified messages',
};
function informedText({ methods, capped }: InformedBound): string {
  const used = (Object.keys(methodWords) as (keyof typeof methods)[]).filter((name) => methods[name] > 0);
  return `informed bound: ${used.map((name) => methodWords[name]).join(', ')}${capped ? ', capped for some records' : ''}`;
}
