import { addUp, artanhUp, mulUp, tanhUp } from '../../../base/exact/outward.js';
import type { Spell } from './chain-leakage.js';
import type { PairLeap, PairTransitions } from './pair-transitions.js';

/** Bound on the privacy loss between every two values of a step. */
type PairLosses = Float64Array;

/** Number of steps of a spell that are computed singly from either end; those in between have a constant bound. */
const lookedAt = 512;
/** Limit on steps computed singly; a chain with more different costs is left to the bound by one odds ratio. */
const mostSteps = 50_000;

/**
 * Upper bound on the leakage of the worst step for an attacker who may know other steps, separately for each pair of values.
 * Infinity if it does not apply.
 */
export function pairLeakage(transitions: PairTransitions, spells: readonly Spell[]): number {
  const looked = spells.reduce((n, { from, to }) => n + Math.min(lookedAt, to - from + 1), 0);
  if (transitions.pairs === 0 || looked > mostSteps) return Number.POSITIVE_INFINITY;
  const past = flowsAlong(spells, transitions.backward, transitions.pairs);
  const future = flowsAlong(spells.toReversed(), transitions.forward, transitions.pairs).reverse();
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
export function steadyPairLeakage({ pairs, backward, forward }: PairTransitions, cost: number): number {
  if (pairs === 0) return Number.POSITIVE_INFINITY;
  const start = new Float64Array(pairs);
  const losses = mostTogether(levelOf(start, cost, backward), levelOf(start, cost, forward));
  return mulUp(addUp(cost, losses), 1 + 1e-9);
}

function mostTogether(a: PairLosses, b: PairLosses): number {
  let most = 0;
  for (let k = 0; k < a.length; k++) most = Math.max(most, addUp(a[k]!, b[k]!));
  return most;
}

/** Bounds on the message into the steps of a spell from one side; the first steps singly, in the direction of the message. */
interface Flow {
  readonly near: readonly PairLosses[];
  /** Upper bound for all later steps. */
  readonly most: PairLosses;
}
const reaching = ({ near, most }: Flow, k: number): PairLosses => near[k] ?? most;

/** Step as the source of a leap: the message it received and its own cost. */
interface Source {
  readonly losses: PairLosses;
  readonly cost: number;
  /** tanh(B/4) of each pair, rounded up. */
  readonly sent: Float64Array;
  /** The largest B. */
  readonly whole: number;
}

function sourceOf(losses: PairLosses, cost: number): Source {
  const sent = new Float64Array(losses.length);
  let whole = 0;
  for (let k = 0; k < losses.length; k++) {
    const loss = addUp(losses[k]!, cost);
    if (loss > whole) whole = loss;
    sent[k] = tanhUp(loss / 4);
  }
  return { losses, cost, sent, whole };
}

function flowsAlong(spells: readonly Spell[], leaps: readonly PairLeap[], pairs: number): Flow[] {
  const farthest = leaps.at(-1)!.steps;
  const reach = reacher(leaps, pairs);
  let losses: PairLosses = new Float64Array(pairs);
  // Latest steps, newest first. Before the chain begins both cost and message are zero.
  const before = new Array<Source>(farthest).fill(sourceOf(losses, 0));
  const next = (cost: number): PairLosses => {
    before.unshift(sourceOf(losses, cost));
    before.pop();
    return reach(before);
  };
  return spells.map(({ from, to, cost }) => {
    const steps = to - from + 1;
    // The fixed point is valid once no step in reach of a leap spent more, or received a larger message.
    const level = () =>
      levelOf(
        before.reduce((most, source) => larger(most, source.losses), losses),
        cost,
        leaps,
      );
    const ready = () => before.every((source) => source.cost <= cost);
    const near: PairLosses[] = [losses];
    // In a long spell the bound has become constant long before the largest leakage.
    let most = steps > 8 * lookedAt && ready() ? level() : undefined;
    while (near.length < Math.min(steps, lookedAt) && !most) {
      const now = next(cost);
      const still = settled(now, losses);
      losses = now;
      near.push(now);
      if (still && near.length < steps && ready()) most = level();
    }
    if (near.length < steps) {
      most ??= level();
      losses = most;
      before.fill(sourceOf(most, cost));
    }
    const flow = { near, most: most ?? losses };
    losses = next(cost);
    return flow;
  });
}

const settled = (now: PairLosses, before: PairLosses): boolean => now.every((x, k) => Math.abs(x - before[k]!) <= 1e-13 * x);
const larger = (a: PairLosses, b: PairLosses): PairLosses => a.map((x, k) => Math.max(x, b[k]!));

/**
 * Least over leaps of the costs in between plus push(B, D) of the step before, the largest over pairs of values there
 * (chain.proof.md, "Pair by pair"). Starts with the last best leap and skips those that cannot be smaller.
 */
function reacher(leaps: readonly PairLeap[], pairs: number): (before: readonly Source[]) => PairLosses {
  const tables = leaps.map(({ contraction }) => contraction);
  const losses = leaps.map(() => new Int32Array(pairs));
  const first = new Int32Array(pairs);
  const between = new Float64Array(leaps.length);
  const tanhSpent = new Float64Array(leaps.length);
  return (before) => {
    let k = 0;
    let spent = 0;
    leaps.forEach(({ steps }, leap) => {
      for (; k < steps - 1; k++) spent = addUp(spent, before[k]!.cost);
      between[leap] = spent;
      tanhSpent[leap] = Math.tanh(spent / 4);
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
          const last = losses[leap]![row]!;
          if (
            tanhSpent[leap]! >= limit ||
            passing[at + last]! * sent[last]! * (1 - tanhSpent[leap]! * limit) >= limit - tanhSpent[leap]!
          )
            continue;
        }
        const where = strongest(passing, at, sent);
        losses[leap]![row] = where;
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
function levelOf(start: PairLosses, cost: number, leaps: readonly PairLeap[]): PairLosses {
  const farthest = leaps.at(-1)!.steps;
  const reach = reacher(leaps, start.length);
  const after = (losses: PairLosses): PairLosses => reach(new Array<Source>(farthest).fill(sourceOf(losses, cost)));
  const holds = (losses: PairLosses): boolean => {
    const next = after(losses);
    return next.every((x, k) => x <= losses[k]!);
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
