import { addUp, mulUp } from '../../exact/outward.js';
import { type Carried, type Over, supremum } from '../temporal/temporal.js';

/** Steps one after another, of which everybody goes through some: what is spent on one of them reaches the others through its neighbours (chain.proof.md). */
export interface Chain {
  readonly first: number;
  readonly last: number;
  /** What one step lets through of what lies before and behind it, under each law of which one is the true one. */
  readonly laws: readonly ChainLaw[];
  /** Somebody may have skipped steps, and then those that follow one another are neighbours. */
  readonly gaps: boolean;
  /** So many steps in a row are one secret. */
  readonly window: number;
}

/** What one step lets through; and what several at once do, where they forget more than one after the other would. */
export interface ChainLaw extends Over {
  readonly far?: readonly (Over & { readonly steps: number })[];
}

/** So much is spent on each step from one to another. */
export interface Spell {
  readonly from: number;
  readonly to: number;
  readonly cost: number;
}

/** What an attacker gains about the worst step, or window of steps; rounded up. `spells` cover the chain in order. Time goes with the spells, not with the steps. */
export function chainLeakage({ laws, gaps, window }: Chain, spells: readonly Spell[]): number {
  return laws.reduce((most, law) => Math.max(most, worstUnder(law, spells, gaps, window)), 0);
}

/** What no step, or window, leaks more than when every step spends this, for however long; rounded up, Infinity where nothing lasts. */
export function steadyLeakage({ laws, gaps, window }: Chain, cost: number): number {
  const own = mulUp(window, cost);
  return laws.reduce((most, law) => {
    const [past, future] = [levelOf(cost, leapsOf(law, 'backward', gaps)), levelOf(cost, leapsOf(law, 'forward', gaps))];
    return Math.max(most, addUp(own, addUp(past, future)));
  }, 0);
}

/** How many steps of a spell are looked at one by one from either end; the steps between them are told by what never passes or by what is spent on them. */
const lookedAt = 512;

/** What reaches the steps of a spell from one side: the first of them one by one, in the direction it flows. */
interface Flow {
  readonly near: Float64Array;
  /** No step further on is reached by more. */
  readonly most: number;
  readonly cost: number;
}
const reaching = ({ near, most, cost }: Flow, k: number): number => {
  const last = near.length - 1;
  return k <= last ? near[k]! : Math.min(most, addUp(near[last]!, mulUp(k - last, cost)));
};
/** Where what is spent on each step has filled up what never passes: from there on it is level. */
const fullAt = ({ near, most, cost }: Flow): number => {
  const last = near.length - 1;
  return cost > 0 && Number.isFinite(most) ? last + Math.ceil(Math.max(0, most - near[last]!) / cost) : last;
};

/** What several steps at once let through in one direction, and how many they are. */
interface Leap {
  readonly steps: number;
  readonly carried: Carried;
}

const leapsOf = (law: ChainLaw, side: keyof Over, gaps: boolean): readonly Leap[] => [
  { steps: 1, carried: law[side] },
  ...(gaps ? [] : (law.far ?? []).map((far) => ({ steps: far.steps, carried: far[side] }))),
];

function along(spells: readonly Spell[], leaps: readonly Leap[], gaps: boolean): readonly Flow[] {
  const carried = leaps[0]!.carried;
  const farthest = leaps.at(-1)!.steps;
  // What has reached the latest steps, and what they spent, the last of them first.
  let flow = 0;
  const before: { readonly flow: number; readonly cost: number }[] = [];
  return spells.map(({ from, to, cost }) => {
    const steps = to - from + 1;
    const next = (): number => {
      if (farthest === 1 && !gaps) return carried(addUp(flow, cost));
      before.unshift({ flow, cost });
      if (before.length > farthest) before.pop();
      if (gaps) return Math.max(flow, carried(addUp(flow, cost)));
      return reachedOver(leaps, before);
    };
    const near: number[] = [flow];
    let level = 0;
    // As many steps as leaps look back must be alike before all that follow are.
    while (near.length < Math.min(steps, lookedAt) && level < farthest) {
      const now = next();
      level = now === flow ? level + 1 : 0;
      flow = now;
      near.push(now);
    }
    const most = near.length === steps ? flow : Math.max(...near.slice(-farthest), level >= farthest ? 0 : levelOf(cost, leaps));
    const made = { near: Float64Array.from(near), most, cost };
    flow = reaching(made, steps - 1);
    if (steps > near.length) before.splice(0, before.length, ...new Array(farthest).fill({ flow: most, cost }));
    flow = next();
    return made;
  });
}

/** The least of what each leap says: what was spent on the steps leapt over, and what it lets through of all before them. */
function reachedOver(leaps: readonly Leap[], before: readonly { readonly flow: number; readonly cost: number }[]): number {
  let least = Number.POSITIVE_INFINITY;
  let between = 0;
  let k = 0;
  for (const { steps, carried } of leaps) {
    if (steps > before.length) break;
    for (; k < steps - 1; k++) between = addUp(between, before[k]!.cost);
    const { flow, cost } = before[steps - 1]!;
    if (between < least) least = Math.min(least, addUp(between, carried(addUp(flow, cost))));
  }
  return least;
}

/** What no step is ever reached by more than, at this price for each: nothing passes more than it gets, so one leap that keeps it is enough. */
const levelOf = (cost: number, leaps: readonly Leap[]): number =>
  leaps.reduce((least, { steps, carried }) => {
    const all = supremum(mulUp(steps, cost), carried);
    return Math.min(least, addUp(mulUp(steps - 1, cost), carried(all)));
  }, Number.POSITIVE_INFINITY);

function worstUnder(law: ChainLaw, spells: readonly Spell[], gaps: boolean, window: number): number {
  const [start, end] = [spells[0]!.from, spells.at(-1)!.to];
  const width = Math.min(window, end - start + 1);
  const past = along(spells, leapsOf(law, 'backward', gaps), gaps);
  const future = along(mirrored(spells), leapsOf(law, 'forward', gaps), gaps).toReversed();
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
  // Between these, what is spent and what reaches from either side changes evenly: the worst is at one of them.
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
