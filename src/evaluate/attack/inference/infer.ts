import type { Attacker } from './attacker.js';
import type { Population } from './patterns.js';
import { scorerFor } from './score.js';
import { haversine } from './space.js';
import type { AttackTarget, OtherPeople, Scorer } from './target.js';

/** Posterior of one attacker after one release, person by person; entropies and errors are means over the attacked ranks. */
export interface Inference {
  readonly people: number;
  readonly errorKm: Float64Array;
  /** Entropy in bits of the prior without ties, of the attacker's own prior, and after the release. */
  readonly independentBits: Float64Array;
  readonly priorBits: Float64Array;
  readonly posteriorBits: Float64Array;
  /** Largest |log posterior - log prior| over candidates and ranks: what the guarantee limits. */
  readonly shift: Float64Array;
}

export type InferenceProgress = (done: number, total: number) => void;

/** Bayes' rule for every person, rank and cell (Eqs. 6 to 11 of Liu et al. 2016). See infer.proof.md. Nothing is allocated per person. */
export function infer(population: Population, target: AttackTarget, attacker: Attacker, progress?: InferenceProgress): Inference {
  const { people } = population;
  const out: Inference = {
    people,
    errorKm: new Float64Array(people),
    independentBits: new Float64Array(people),
    priorBits: new Float64Array(people),
    posteriorBits: new Float64Array(people),
    shift: new Float64Array(people),
  };
  const scorer = scorerFor(target, population, attacker.known);
  const state = createState(population, attacker);
  target.ranks.forEach((rank, done) => {
    scorer.turnTo(rank);
    startRank(state, population, attacker, rank);
    const attack: Attack = { state, population, attacker, scorer, rank, out, part: 1 / target.ranks.length };
    for (let person = 0; person < people; person++) {
      attackOne(attack, person);
      if (progress && person % 64 === 63) progress(done * people + person, target.ranks.length * people);
    }
  });
  progress?.(1, 1);
  return out;
}

/** Buffers for one person's beliefs, and the counts of the current rank. */
interface AttackState extends OtherPeople {
  readonly seen: Int32Array;
  readonly knownPeople: number;
  readonly weight: Float64Array;
  readonly scores: Float64Array;
  readonly lifted: Float64Array;
  readonly prior: Float64Array;
  readonly posterior: Float64Array;
}

function createState({ space, people }: Population, attacker: Attacker): AttackState {
  const cells = () => new Float64Array(space.cells);
  let known = people;
  if (attacker.known) known = attacker.known.reduce((n, k) => n + k, 0);
  return {
    person: 0,
    counted: false,
    unknown: 0,
    seen: new Int32Array(space.cells),
    support: new Uint16Array(space.cells),
    supported: 0,
    knownPeople: known,
    share: cells(),
    weight: cells(),
    scores: cells(),
    lifted: cells(),
    prior: cells(),
    posterior: cells(),
  };
}

function startRank(state: AttackState, { people, ranks, cell, space }: Population, { known }: Attacker, rank: number): void {
  state.seen.fill(0);
  for (let i = 0; i < people; i++) if (!known || known[i]) state.seen[cell[i * ranks + rank]!]!++;
  state.supported = 0;
  for (let c = 0; c < space.cells; c++) if (state.seen[c]! > 0) state.support[state.supported++] = c;
}

/** An attack at one rank, which counts for `part` of the result. */
interface Attack {
  readonly state: AttackState;
  readonly population: Population;
  readonly attacker: Attacker;
  readonly scorer: Scorer;
  readonly rank: number;
  readonly out: Inference;
  readonly part: number;
}

function attackOne(attack: Attack, person: number): void {
  const { state, population, attacker, scorer, rank, out, part } = attack;
  const { support, supported, share, scores, prior, posterior, seen } = state;
  const { ranks, people } = population;
  const own = population.cell[person * ranks + rank]!;
  const isCounted = attacker.known === undefined || attacker.known[person] === 1;
  const others = state.knownPeople - (isCounted ? 1 : 0);
  for (let s = 0; s < supported; s++) {
    const c = support[s]!;
    share[c] = (seen[c]! - (isCounted && c === own ? 1 : 0)) / others;
  }
  state.person = person;
  state.counted = isCounted;
  state.unknown = people - 1 - others;
  const strangers = weighFriends(attack, person);
  scorer.score(state, scores);
  liftByStrangers(state, population.space.cells, attacker, strangers);

  let [priorTotal, posteriorTop] = [0, Number.NEGATIVE_INFINITY];
  for (let s = 0; s < supported; s++) {
    const c = support[s]!;
    prior[c] = share[c]! * state.weight[c]!;
    priorTotal += prior[c]!;
    if (prior[c]! > 0 && scores[c]! > posteriorTop) posteriorTop = scores[c]!;
  }
  let posteriorTotal = 0;
  for (let s = 0; s < supported; s++) {
    const c = support[s]!;
    posterior[c] = prior[c]! > 0 ? (prior[c]! / priorTotal) * Math.exp(scores[c]! - posteriorTop) : 0;
    posteriorTotal += posterior[c]!;
  }
  const normal = posteriorTop + Math.log(posteriorTotal);
  let [independent, before, after, shift, best] = [0, 0, 0, 0, support[0]!];
  for (let s = 0; s < supported; s++) {
    const c = support[s]!;
    independent += bits(share[c]!);
    if (!(prior[c]! > 0)) continue;
    before += bits(prior[c]! / priorTotal);
    const p = posterior[c]! / posteriorTotal;
    after += bits(p);
    const moved = Math.abs(scores[c]! - normal);
    if (moved > shift) shift = moved;
    if (posterior[c]! > posterior[best]!) best = c;
  }
  out.independentBits[person]! += part * independent;
  out.priorBits[person]! += part * before;
  out.posteriorBits[person]! += part * after;
  if (shift > out.shift[person]!) out.shift[person] = shift;
  const at = person * ranks + rank;
  const { space } = population;
  out.errorKm[person]! += part * haversine(population.lat[at]!, population.lon[at]!, space.lat[best]!, space.lon[best]!);
}

const bits = (p: number): number => (p > 0 ? -p * Math.log2(p) : 0);

/** Weights of the prior by known friends; returns how many friends are not known. */
function weighFriends({ state, population, attacker, rank }: Attack, person: number): number {
  const { weight, support, supported } = state;
  const { friendStart, friends, cell, ranks, space } = population;
  const { combine, weight: table } = attacker.prior;
  for (let s = 0; s < supported; s++) weight[support[s]!] = 1;
  let strangers = 0;
  let heaviest = 1;
  for (let f = friendStart[person]!; f < friendStart[person + 1]!; f++) {
    const friend = friends[f]!;
    if (attacker.known && !attacker.known[friend]) {
      strangers++;
      continue;
    }
    if (!table) continue;
    const row = cell[friend * ranks + rank]! * space.cells;
    for (let s = 0; s < supported; s++) {
      const c = support[s]!;
      const w = table[row + c]!;
      if (combine === 'sum') weight[c]! += w;
      else if (combine === 'product') weight[c]! *= w;
      else if (w > weight[c]!) weight[c] = w;
      if (weight[c]! > heaviest) heaviest = weight[c]!;
    }
    // Long products of ties are kept in range; a common factor cancels.
    if (heaviest > 1e200) {
      for (let s = 0; s < supported; s++) weight[support[s]!]! /= heaviest;
      heaviest = 1;
    }
  }
  return strangers;
}

/**
 * The one place where ties change the likelihood: a friend whose place is unknown is somewhere near the candidate and shows in the release too.
 * Each adds log E[e^score(friend's cell) | candidate]; friends are independent of each other given the person (reach: direct).
 */
function liftByStrangers(state: AttackState, cells: number, { tie }: Attacker, strangers: number): void {
  if (!tie || strangers === 0) return;
  const { support, supported, share, scores, lifted } = state;
  let top = Number.NEGATIVE_INFINITY;
  for (let s = 0; s < supported; s++) if (scores[support[s]!]! > top) top = scores[support[s]!]!;
  for (let s = 0; s < supported; s++) {
    const c = support[s]!;
    lifted[c] = share[c]! * Math.exp(scores[c]! - top);
  }
  for (let s = 0; s < supported; s++) {
    const row = support[s]! * cells;
    let [mean, mass] = [0, 0];
    for (let v = 0; v < supported; v++) {
      const c = support[v]!;
      const w = tie.weight[row + c]!;
      mass += w * share[c]!;
      mean += w * lifted[c]!;
    }
    state.posterior[support[s]!] = mass > 0 ? strangers * (top + Math.log(mean / mass)) : 0;
  }
  for (let s = 0; s < supported; s++) scores[support[s]!]! += state.posterior[support[s]!]!;
}
