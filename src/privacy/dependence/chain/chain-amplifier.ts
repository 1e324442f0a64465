import { addUp, logUp, mulUp, subUp } from '../../../base/exact/outward.js';
import { divide, isZero, type Rational, toNumberDown, toNumberUp, zero } from '../../../base/exact/rational.js';
import { everyRecord, type RecordClass, type Slicing } from '../../mechanism/record-class.js';
import type { Run, Slices } from '../../mechanism/slices.js';
import type { Amplifier, WhatIf } from '../amplifier.js';
import { type BaseCost, commonBaseCost, isSlicedBaseCost } from '../base-cost.js';
import { getOrMake } from '../bounds-cache.js';
import { fromPairs } from '../graph/factor-graph.js';
import { push } from '../graph/push.js';
import { graphAmplifier } from '../graph-amplifier.js';
import { largestBelow } from '../largest-below.js';
import { whatIfWords } from '../what-if.js';
import { chainLeakage, type Spell, type StepChain, steadyChainLeakage } from './chain-leakage.js';
import { oddsRatioTransitions } from './chain-transitions.js';

export interface ChainRoute extends StepChain {
  readonly name: string;
  /** Public column that orders the steps. */
  readonly order: Slicing;
  /** Largest log odds ratio of one step, over all transitions. */
  readonly logOdds: number;
  readonly assumptions: readonly string[];
  readonly method: string;
  /** True if no other bound covers Gaussian noise; each such bound takes a share of delta. */
  readonly alone: boolean;
}

const scope = (record: RecordClass): boolean => record === everyRecord;
const mostKept = 256;

/**
 * Amplifier for one chain shared by everybody, by the cost of each step. No record is read, and time depends on the number of
 * different costs, not of steps.
 */
export function chainAmplifier(route: ChainRoute): Amplifier {
  const { first, last, order, window } = route;
  const answers = new Map<string, number>();
  const leak = (chain: StepChain, spells: readonly Spell[]): number => {
    if (answers.size >= mostKept) answers.clear();
    return getOrMake(answers, spells.map(({ from, cost }) => `${from} ${cost}`).join(), () => chainLeakage(chain, spells));
  };
  const level = (cost: number): readonly Spell[] => [{ from: first, to: last, cost }];
  const leakage = (base: BaseCost): number => {
    const common = commonBaseCost(base, scope);
    if (isZero(common)) return 0;
    const byStep = isSlicedBaseCost(base) && base.slicing === order;
    return leak(route, byStep ? spellsOf(base.costs, first, lastOf(base.costs, last)) : level(toNumberUp(common)));
  };
  const largest = (epsilon: Rational): Rational => {
    const limit = toNumberDown(epsilon);
    return largestBelow((base) => leak(route, level(base)), limit, limit / window);
  };
  return {
    name: route.name,
    scope,
    leakage,
    // All steps of a window are replaced along a pair; considering one of them suffices.
    along: (full, own) => addUp(subUp(leakage(full), toNumberUp(full)), toNumberUp(own)),
    slicings: new Set([order]),
    steady: {
      slicing: order,
      base: (epsilon) => {
        const limit = toNumberDown(epsilon);
        const spent = (base: number) => steadyChainLeakage(route, base);
        // If even 2^-30 of the limit is too much for ever, no cost is small enough.
        return spent(limit * 2 ** -30) > limit ? zero : largestBelow(spent, limit, limit / window);
      },
    },
    largestBase: (epsilon, parts) => (parts ? divide(largest(epsilon), commonBaseCost(parts, scope)) : largest(epsilon)),
    // The chain of all steps covers everybody: a person with fewer steps has a part of it, or skipped steps are summed out.
    get gaussian() {
      return window > 1 || !route.alone ? [] : wholeChain(route).gaussian;
    },
    whatIf: (base) => tooWeak(route, toNumberUp(base)),
    factoredOnly: false,
    conditions: [],
    assumptions: route.assumptions,
    method: route.method,
  };
}

/** Steps with costs are steps of the chain even if the declared end was moved in since. */
const lastOf = ({ runs }: Slices, last: number): number =>
  runs.flatMap(({ from, to }) => [from, to]).reduce((most, step) => (Number.isFinite(step) ? Math.max(most, step) : most), last);

/** Declared steps with their costs, zero for those in between. */
function spellsOf({ runs }: Slices, first: number, last: number): readonly Spell[] {
  const spells: Spell[] = [];
  let from = first;
  const add = (to: number, cost: Rational) => {
    if (to >= from) spells.push({ from, to, cost: toNumberUp(cost) });
    from = Math.max(from, to + 1);
  };
  for (const run of runs.filter((r: Run) => r.from <= last && r.to >= first)) {
    add(run.from - 1, zero);
    add(Math.min(run.to, last), run.cost);
  }
  add(last, zero);
  return spells;
}

const wholeChains = new WeakMap<ChainRoute, Amplifier>();
function wholeChain(route: ChainRoute): Amplifier {
  const known = wholeChains.get(route);
  if (known) return known;
  const steps = route.last - route.first + 1;
  const left = Uint32Array.from({ length: steps - 1 }, (_, t) => t);
  const made = graphAmplifier({
    name: route.name,
    graph: fromPairs(
      steps,
      left,
      left.map((t) => t + 1),
      route.logOdds,
    ),
    scope,
    adversary: 'informed',
    reach: 'any',
    assumptions: [],
    method: route.method,
  });
  wholeChains.set(route, made);
  return made;
}

/** Leakage if the declaration were too weak: larger odds ratios, or one more tie per record. */
function tooWeak(route: ChainRoute, base: number): readonly WhatIf[] {
  const { first, last, logOdds, window } = route;
  const level = [{ from: first, to: last, cost: base }];
  const under = (d: number): number => chainLeakage({ ...route, transitions: [oddsRatioTransitions(d)] }, level);
  const times = (k: number) => under(addUp(logOdds, logUp(k)));
  const oneMoreTie = oneMore(base, logOdds, 2 * (last - first + 1), window);
  return whatIfWords({ oddsTimes2: times(2), oddsTimes4: times(4), oneMoreTie });
}

/** Three ties each: what lies behind one of them, from above, and never more than all that is spent. */
function oneMore(base: number, logOdds: number, records: number, window: number): number {
  const all = mulUp(records, base);
  let behind = all;
  for (let k = 0; k < 200; k++) behind = Math.min(behind, addUp(base, mulUp(2, push(behind, logOdds))));
  return Math.min(all, addUp(mulUp(window, base), mulUp(window + 2, push(behind, logOdds))));
}
