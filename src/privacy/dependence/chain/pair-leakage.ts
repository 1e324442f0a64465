import { addUp, artanhUp, mulUp, tanhUp } from '../../../base/exact/outward.js';
import type { Spell } from './chain-leakage.js';
import type { PairLaw, PairLeap } from './pair-law.js';

/** Bound on the privacy loss between every two values of a step. */
type Told = Float64Array;

/** Number of steps of a spell that are computed singly from either end; those in between have a constant bound. */
const lookedAt = 512;
/** Limit on steps computed singly; a chain with more different costs is left to the bound by one odds ratio. */
const mostSteps = 50_000;

/**
 * Upper bound on the leakage of the worst step for an attacker who may know other steps, separately for each pair of values.
 * Infinity if it does not apply.
 */
export function pairLeakage(law: PairLaw, spells: readonly Spell[]): number {
  const looked = spells.reduce((n, { from, to }) => n + Math.min(lookedAt, to - from + 1), 0);
  if (law.pairs === 0 || looked > mostSteps) return Number.POSITIVE_INFINITY;
  const past = along(spells, law.backward, law.pairs);
  const future = along(spells.toReversed(), law.forward, law.pairs).reverse();
  let worst = 0;
  spells.forEach(({ from, to, cost }, s) => {
    const steps = to - from + 1;
    const [before, behind] = [past[s]!, future[s]!];
    const look = (k: number) => {
      worst = Math.max(worst, addUp(cost, mostTogether(reaching(before, k), reaching(behind, steps - 1 - k))));
    };
    for (let k = 0; k < before.near.length; k++) look(k);
    for (let k = 0; k < behind.near.length; k++) look(steps - 1 - k);
    if (steps > before.near.length + behind.near.length) look(before.near.length);
  });
  return worst;
}

/**
 * Upper bound on the leakage of any step if every step spends `cost`, for any number of steps; not below the bound for a finite
 * number.
 */
export function steadyPairLeakage({ pairs, backward, forward }: PairLaw, cost: number): number {
  if (pairs === 0) return Number.POSITIVE_INFINITY;
  const start = new Float64Array(pairs);
  const told = mostTogether(levelOf(start, cost, backward), levelOf(start, cost, forward));
  return mulUp(addUp(cost, told), 1 + 1e-9);
}

function mostTogether(a: Told, b: Told): number {
  let most = 0;
  for (let k = 0; k < a.length; k++) most = Math.max(most, addUp(a[k]!, b[k]!));
  return most;
}

/** Bounds on the message into the steps of a spell from one side; the first steps singly, in the direction of the message. */
interface Flow {
  readonly near: readonly Told[];
  /** Upper bound for all later steps. */
  readonly most: Told;
}
const reaching = ({ near, most }: Flow, k: number): Told => near[k] ?? most;

/** Step as the source of a leap: the message it received and its own cost. */
interface Source {
  readonly told: Told;
  readonly cost: number;
  /** tanh(B/4) of each pair, rounded up. */
  readonly sent: Float64Array;
  /** The largest B. */
  readonly whole: number;
}

function sourceOf(told: Told, cost: number): Source {
  const sent = new Float64Array(told.length);
  let whole = 0;
  for (let k = 0; k < told.length; k++) {
    const effect = addUp(told[k]!, cost);
    if (effect > whole) whole = effect;
    sent[k] = tanhUp(effect / 4);
  }
  return { told, cost, sent, whole };
}

function along(spells: readonly Spell[], leaps: readonly PairLeap[], pairs: number): Flow[] {
  const farthest = leaps.at(-1)!.steps;
  const reach = reacher(leaps, pairs);
  let told: Told = new Float64Array(pairs);
  // Latest steps, newest first. Before the chain begins both cost and message are zero.
  const before = new Array<Source>(farthest).fill(sourceOf(told, 0));
  const next = (cost: number): Told => {
    before.unshift(sourceOf(told, cost));
    before.pop();
    return reach(before);
  };
  return spells.map(({ from, to, cost }) => {
    const steps = to - from + 1;
    // The fixed point is valid once no step in reach of a leap spent more, or received a larger message.
    const level = () =>
      levelOf(
        before.reduce((most, source) => larger(most, source.told), told),
        cost,
        leaps,
      );
    const ready = () => before.every((source) => source.cost <= cost);
    const near: Told[] = [told];
    // In a long spell the bound has become constant long before the largest leakage.
    let most = steps > 8 * lookedAt && ready() ? level() : undefined;
    while (near.length < Math.min(steps, lookedAt) && !most) {
      const now = next(cost);
      const still = settled(now, told);
      told = now;
      near.push(now);
      if (still && near.length < steps && ready()) most = level();
    }
    if (near.length < steps) {
      most ??= level();
      told = most;
      before.fill(sourceOf(most, cost));
    }
    const flow = { near, most: most ?? told };
    told = next(cost);
    return flow;
  });
}

const settled = (now: Told, before: Told): boolean => now.every((x, k) => Math.abs(x - before[k]!) <= 1e-13 * x);
const larger = (a: Told, b: Told): Told => a.map((x, k) => Math.max(x, b[k]!));

/**
 * Least over leaps of the costs in between plus push(B, D) of the step before, the largest over pairs of values there
 * (chain.proof.md, "Pair by pair"). Starts with the last best leap and skips those that cannot be smaller.
 */
function reacher(leaps: readonly PairLeap[], pairs: number): (before: readonly Source[]) => Told {
  const tables = leaps.map(({ passing }) => passing);
  const told = leaps.map(() => new Int32Array(pairs));
  const first = new Int32Array(pairs);
  const between = new Float64Array(leaps.length);
  const paid = new Float64Array(leaps.length);
  return (before) => {
    let k = 0;
    let spent = 0;
    leaps.forEach(({ steps }, leap) => {
      for (; k < steps - 1; k++) spent = addUp(spent, before[k]!.cost);
      between[leap] = spent;
      paid[leap] = Math.tanh(spent / 4);
    });
    const sources = leaps.map(({ steps }) => before[steps - 1]!);
    const least = new Float64Array(pairs);
    for (let row = 0; row < pairs; row++) {
      const at = row * pairs;
      const start = first[row]!;
      let found = Number.POSITIVE_INFINITY;
      let limit = 1;
      for (let turn = -1; turn < tables.length; turn++) {
        const leap = turn < 0 ? start : turn;
        if (turn === start) continue;
        const { sent, whole } = sources[leap]!;
        const passing = tables[leap]!;
        if (turn >= 0) {
          // tanh((a - b)/4) from tanh(a/4) and tanh(b/4): what is left of the least so far.
          const last = told[leap]![row]!;
          if (paid[leap]! >= limit || passing[at + last]! * sent[last]! * (1 - paid[leap]! * limit) >= limit - paid[leap]!)
            continue;
        }
        const where = strongest(passing, at, sent);
        told[leap]![row] = where;
        const up = mulUp(passing[at + where]!, sent[where]!);
        const now = addUp(between[leap]!, up < 1 ? Math.min(whole, mulUp(4, artanhUp(up))) : whole);
        if (!(now < found)) continue;
        found = now;
        limit = Math.tanh(now / 4);
        first[row] = leap;
      }
      least[row] = found;
    }
    return least;
  };
}

/** Column in which the product of a row of the table and the vector is largest. */
function strongest(table: Float64Array, from: number, by: Float64Array): number {
  let most = -1;
  let where = 0;
  for (let c = 0; c < by.length; c++) {
    const product = table[from + c]! * by[c]!;
    if (product > most) {
      most = product;
      where = c;
    }
  }
  return where;
}

/** Relative margins above the fixed point that are tried until the inequality holds. */
const margins = [0, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1];

/**
 * Upper bounds on all later messages at this cost, once no message exceeds them; verified by evaluation. Infinity if none are
 * found.
 */
function levelOf(start: Told, cost: number, leaps: readonly PairLeap[]): Told {
  const farthest = leaps.at(-1)!.steps;
  const reach = reacher(leaps, start.length);
  const after = (told: Told): Told => reach(new Array<Source>(farthest).fill(sourceOf(told, cost)));
  const holds = (told: Told): boolean => {
    const next = after(told);
    return next.every((x, k) => x <= told[k]!);
  };
  let level = start;
  for (let k = 0; k < 400; k++) {
    const next = after(level);
    const last = next.every((x, p) => x <= level[p]! * (1 + 1e-13));
    level = larger(level, next);
    if (last) break;
  }
  for (const margin of margins) {
    const raised = level.map((x) => x * (1 + margin));
    if (holds(raised)) return raised;
  }
  // Messages never grow along the chain: without costs the largest one bounds all.
  const flat = new Float64Array(level.length).fill(start.reduce((m, x) => Math.max(m, x), 0));
  return holds(flat) ? flat : flat.fill(Number.POSITIVE_INFINITY);
}
