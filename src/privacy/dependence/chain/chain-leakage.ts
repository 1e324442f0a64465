import { addUp, mulUp } from '../../../base/exact/outward.js';
import { type LossFunction, type LossFunctions, supremum } from '../temporal/temporal.js';
import { pairLeakage, steadyPairLeakage } from './pair-leakage.js';
import type { PairTransitions } from './pair-transitions.js';

/**
 * Chain of steps, of which everybody goes through some: costs of one step reach the others through its neighbours
 * (chain.proof.md).
 */
export interface StepChain {
  readonly first: number;
  readonly last: number;
  /** Transitions that may be the true ones, each with the push through one step in both directions. */
  readonly transitions: readonly ChainTransitions[];
  /** Set if somebody may have skipped steps; consecutive steps of such a person are then neighbours. */
  readonly gaps: boolean;
  /** Number of consecutive steps that form one secret. */
  readonly window: number;
}

/** Push through one step; and through several at once, where that is less than step by step. */
export interface ChainTransitions extends LossFunctions {
  readonly far?: readonly (LossFunctions & { readonly steps: number })[];
  /**
   * Bounds for every two values separately, if there are few: another bound without gaps for windows of one step; the lesser
   * counts.
   */
  readonly pairs?: PairTransitions;
}

/** Cost of each step in a range. */
export interface Spell {
  readonly from: number;
  readonly to: number;
  readonly cost: number;
}

/**
 * Upper bound on the leakage of the worst step, or window of steps. `spells` cover the chain in order; time is linear in their
 * number, not in the steps.
 */
export function chainLeakage({ transitions, gaps, window }: StepChain, spells: readonly Spell[]): number {
  return transitions.reduce((most, transition) => {
    const whole = worstUnder(transition, spells, gaps, window);
    if (!(whole > most) || gaps || window > 1 || !transition.pairs) return Math.max(most, whole);
    return Math.max(most, Math.min(whole, pairLeakage(transition.pairs, spells)));
  }, 0);
}

/**
 * Upper bound on the leakage of any step, or window, if every step spends `cost`, for any number of steps; Infinity if there is
 * none.
 */
export function steadyChainLeakage({ transitions, gaps, window }: StepChain, cost: number): number {
  const own = mulUp(window, cost);
  return transitions.reduce((most, transition) => {
    const [past, future] = [
      levelOf(cost, leapsOf(transition, 'backward', gaps)),
      levelOf(cost, leapsOf(transition, 'forward', gaps)),
    ];
    const whole = addUp(own, addUp(past, future));
    if (!(whole > most) || gaps || window > 1 || !transition.pairs) return Math.max(most, whole);
    return Math.max(most, Math.min(whole, steadyPairLeakage(transition.pairs, cost)));
  }, 0);
}

/**
 * Number of steps of a spell that are computed singly from either end; the others are bounded by the fixed point, or by their
 * costs.
 */
const lookedAt = 512;

/** Bounds on the message into the steps of a spell from one side; the first steps singly, in the direction of the message. */
interface Flow {
  readonly near: Float64Array;
  /** Upper bound for all later steps. */
  readonly most: number;
  readonly cost: number;
}
const reaching = ({ near, most, cost }: Flow, k: number): number => {
  const last = near.length - 1;
  return k <= last ? near[k]! : Math.min(most, addUp(near[last]!, mulUp(k - last, cost)));
};
/** Step from which the accumulated costs reach the fixed point: the bound is constant from there on. */
const fullAt = ({ near, most, cost }: Flow): number => {
  const last = near.length - 1;
  return cost > 0 && Number.isFinite(most) ? last + Math.ceil(Math.max(0, most - near[last]!) / cost) : last;
};

/** Push over several steps at once in one direction, and their number. */
interface Leap {
  readonly steps: number;
  readonly carried: LossFunction;
}

const leapsOf = (transition: ChainTransitions, side: keyof LossFunctions, gaps: boolean): readonly Leap[] => [
  { steps: 1, carried: transition[side] },
  ...(gaps ? [] : (transition.far ?? []).map((far) => ({ steps: far.steps, carried: far[side] }))),
];

function flowsAlong(spells: readonly Spell[], leaps: readonly Leap[], gaps: boolean): readonly Flow[] {
  const latest = new Latest(leaps.at(-1)!.steps);
  let flow = 0;
  return spells.map(({ from, to, cost }) => {
    const steps = to - from + 1;
    const next = (): number => {
      latest.push(flow, cost);
      return gaps ? Math.max(flow, leaps[0]!.carried(addUp(flow, cost))) : leastOverLeaps(leaps, latest);
    };
    const near: number[] = [flow];
    // In a long spell the bound has become constant long before the largest leakage.
    let most = steps > 8 * lookedAt && !gaps && latest.dearest() <= cost ? levelAbove(flow, latest, cost, leaps) : undefined;
    while (near.length < Math.min(steps, lookedAt) && most === undefined) {
      const now = next();
      const still = Math.abs(now - flow) <= 1e-13 * now;
      flow = now;
      near.push(now);
      if (still && !gaps && near.length < steps && latest.dearest() <= cost) most = levelAbove(flow, latest, cost, leaps);
    }
    if (near.length < steps) most ??= gaps ? Math.max(flow, levelOf(cost, leaps)) : levelAbove(flow, latest, cost, leaps);
    const made = { near: Float64Array.from(near), most: most ?? flow, cost };
    flow = reaching(made, steps - 1);
    if (steps > near.length) latest.fill(made.most, cost);
    flow = next();
    return made;
  });
}

/** Messages into the latest steps, and their costs. Before the chain begins both are zero. */
class Latest {
  readonly #flows: Float64Array;
  readonly #costs: Float64Array;
  #at = 0;
  constructor(count: number) {
    this.#flows = new Float64Array(count);
    this.#costs = new Float64Array(count);
  }
  push(flow: number, cost: number): void {
    this.#at = this.#at === 0 ? this.#flows.length - 1 : this.#at - 1;
    this.#flows[this.#at] = flow;
    this.#costs[this.#at] = cost;
  }
  fill(flow: number, cost: number): void {
    this.#flows.fill(flow);
    this.#costs.fill(cost);
  }
  #place(ago: number): number {
    return (this.#at + ago) % this.#flows.length;
  }
  flow(ago: number): number {
    return this.#flows[this.#place(ago)]!;
  }
  cost(ago: number): number {
    return this.#costs[this.#place(ago)]!;
  }
  dearest = (): number => this.#costs.reduce((most, x) => Math.max(most, x), 0);
  most = (): number => this.#flows.reduce((most, x) => Math.max(most, x), 0);
}

/** Least bound over all leaps: the costs of the steps in between, plus the push of everything before them. */
function leastOverLeaps(leaps: readonly Leap[], latest: Latest): number {
  let least = Number.POSITIVE_INFINITY;
  let between = 0;
  let k = 0;
  for (const { steps, carried } of leaps) {
    for (; k < steps - 1; k++) between = addUp(between, latest.cost(k));
    if (between >= least) break;
    least = Math.min(least, addUp(between, carried(addUp(latest.flow(steps - 1), latest.cost(steps - 1)))));
  }
  return least;
}

/** Relative margins above the fixed point that are tried until the inequality holds. */
const margins = [0, 1e-13, 1e-11, 1e-9, 1e-6, 1e-4, 1e-3];

/**
 * Upper bound on the message into all later steps if no step in reach of a leap spent more than `cost`; verified by evaluation.
 */
function levelAbove(flow: number, latest: Latest, cost: number, leaps: readonly Leap[]): number {
  const all = Math.max(flow, latest.most());
  const after = (level: number): number => {
    let least = Number.POSITIVE_INFINITY;
    for (const { steps, carried } of leaps) {
      const between = mulUp(steps - 1, cost);
      if (between >= least) break;
      least = Math.min(least, addUp(between, carried(addUp(level, cost))));
    }
    return least;
  };
  let level = all;
  for (let k = 0; k < 200; k++) {
    const next = after(level);
    if (!(next > level * (1 + 1e-13))) break;
    level = next;
  }
  const held = margins.map((margin) => level * (1 + margin)).find((raised) => after(raised) <= raised);
  return held !== undefined && held <= level * (1 + 1e-10)
    ? held
    : Math.min(held ?? Number.POSITIVE_INFINITY, Math.max(all, levelOf(cost, leaps)));
}

/**
 * Upper bound on the message into any step at this cost per step. Messages never grow along the chain, so one leap that satisfies
 * the inequality suffices.
 */
const levelOf = (cost: number, leaps: readonly Leap[]): number =>
  leaps.reduce((least, { steps, carried }) => {
    const all = supremum(mulUp(steps, cost), carried);
    return Math.min(least, addUp(mulUp(steps - 1, cost), carried(all)));
  }, Number.POSITIVE_INFINITY);

function worstUnder(transition: ChainTransitions, spells: readonly Spell[], gaps: boolean, window: number): number {
  const [start, end] = [spells[0]!.from, spells.at(-1)!.to];
  const width = Math.min(window, end - start + 1);
  const past = flowsAlong(spells, leapsOf(transition, 'backward', gaps), gaps);
  const future = flowsAlong(mirrored(spells), leapsOf(transition, 'forward', gaps), gaps).toReversed();
  const spellAt = (t: number): number => {
    let [low, high] = [0, spells.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spells[middle]!.to < t) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const leakAt = (t: number): number => {
    const [a, b] = [spellAt(t), spellAt(t + width - 1)];
    let sum = addUp(reaching(past[a]!, t - spells[a]!.from), reaching(future[b]!, spells[b]!.to - (t + width - 1)));
    for (let s = a; s <= b; s++) {
      const own = Math.min(spells[s]!.to, t + width - 1) - Math.max(spells[s]!.from, t) + 1;
      sum = addUp(sum, mulUp(own, spells[s]!.cost));
    }
    return sum;
  };
  let worst = 0;
  const look = (t: number) => {
    if (t >= start && t + width - 1 <= end) worst = Math.max(worst, leakAt(t));
  };
  // Between these steps the bound is linear, so its largest value is at one of them.
  spells.forEach(({ from, to }, s) => {
    const turns = (flow: Flow) => [...flow.near.keys(), fullAt(flow) - 1, fullAt(flow)];
    const begin = turns(past[s]!).map((k) => from + k);
    const stop = turns(future[s]!).map((k) => to - k);
    for (const t of [...begin, ...stop, to]) {
      look(Math.min(Math.max(t, from), to));
      if (width > 1) look(Math.min(Math.max(t, from), to) - width + 1);
    }
  });
  return worst;
}

const mirrored = (spells: readonly Spell[]): readonly Spell[] =>
  spells.map(({ from, to, cost }) => ({ from: -to, to: -from, cost })).reverse();
