import { Fault } from '../../../base/errors.js';
import { anyStartGaps, ChainInfluence, priorGaps } from './chain-influence.js';
import { matrix, multiplyMatrices, type SquareMatrix, stationaryVector } from './matrix.js';

/** A Markov chain of `length` records; `any` stands for every starting distribution. */
export interface MarkovChain {
  readonly transition: readonly (readonly number[])[];
  readonly initial: 'stationary' | 'any' | readonly number[];
  readonly length: number;
}

/** The Markov quilt mechanism's noise for a sum that one record moves by at most one: worst record and the quilt it uses. */
export interface MarkovQuilt {
  readonly scale: number;
  /** Records count from one; the records of the quilt, null where the near set reaches the end of the chain. */
  readonly record: number;
  readonly left: number | null;
  readonly right: number | null;
  readonly influence: number;
  /** Records inside the quilt. */
  readonly near: number;
}

/** A near set of an inner record of a chain, and its score. */
export interface ChainQuilt {
  readonly score: number;
  /** Steps to the quilt on either side; null for the whole chain. */
  readonly a: number | null;
  readonly b: number | null;
}

interface Choice extends ChainQuilt {
  readonly influence: number;
  readonly near: number;
}

/** MQMExact of Song et al. 2017 over all records, ends included. See markov-quilt.proof.md. */
export function quiltOnChain(chain: MarkovChain, epsilon: number): MarkovQuilt {
  const transition = checked(chain);
  const search = new QuiltSearch(new ChainInfluence(transition), epsilon, chain.length);
  let worst: { record: number; choice: Choice } | undefined;
  for (const { record, prior } of records(chain, transition, search)) {
    // A record that can use the worst record's quilt, or one side of it, at no higher score cannot be worse: skip its own search.
    if (worst && search.bound(record, prior, worst.choice) <= worst.choice.score) continue;
    const choice = search.best(record, prior);
    if (!worst || choice.score > worst.choice.score) worst = { record, choice };
    // The whole chain is a near set of every record: nothing can be worse.
    if (choice.a === null && choice.b === null) break;
  }
  const { record, choice } = worst!;
  return {
    scale: choice.score,
    record,
    left: choice.a && record - choice.a,
    right: choice.b && record + choice.b,
    influence: choice.influence,
    near: choice.near,
  };
}

class QuiltSearch {
  readonly #influence: ChainInfluence;
  readonly #epsilon: number;
  readonly #length: number;
  /** Largest distance of a quilt from its record: bounds memory on chains that hardly forget. Leaving quilts out only adds noise. */
  readonly #reach: number;
  constructor(influence: ChainInfluence, epsilon: number, length: number) {
    this.#reach = Math.min(length, 20_000, Math.floor(2 ** 22 / influence.states ** 2));
    this.#influence = influence;
    this.#epsilon = epsilon;
    this.#length = length;
  }

  #score(near: number, influence: number): number {
    return quiltScore(near, influence, this.#epsilon);
  }

  /** The least score of one record. A quilt with `near` records scores at least near/epsilon, which ends each loop. */
  best(record: number, prior: Float64Array): Choice {
    const before = Math.min(record - 1, this.#reach);
    const after = Math.min(this.#length - record, this.#reach);
    let best: Choice = { score: this.#score(this.#length, 0), a: null, b: null, influence: 0, near: this.#length };
    const consider = (near: number, influence: number, a: number | null, b: number | null) => {
      const score = this.#score(near, influence);
      if (score < best.score) best = { score, a, b, influence, near };
    };
    const within = (near: number) => near / this.#epsilon < best.score;
    for (let b = 1; b <= after && within(record + b - 1); b++) consider(record + b - 1, this.#influence.rightAlone(b), null, b);
    const alone: number[] = [];
    const leftAlone = (a: number) => {
      alone[a] ??= this.#influence.both(prior, a);
      return alone[a];
    };
    const behind = this.#length - record;
    for (let a = 1; a <= before && within(a + behind); a++) consider(a + behind, leftAlone(a), a, null);
    for (let near = 1; near < before + after && within(near); near += step(near))
      for (let a = Math.max(1, near + 1 - after); a <= Math.min(near, before); a += step(near)) {
        const b = near + 1 - a;
        // Each side alone influences no more than both.
        const least = Math.max(leftAlone(a), this.#influence.rightAlone(b));
        if (this.#score(near, least) < best.score) consider(near, this.#influence.both(prior, a, b), a, b);
      }
    return best;
  }

  /** A score this record certainly reaches with a quilt like `like` (or what is left of it at an end). */
  bound(record: number, prior: Float64Array, like: Choice): number {
    const a = like.a !== null && like.a <= record - 1 ? like.a : null;
    const b = like.b !== null && like.b <= this.#length - record ? like.b : null;
    const near = (a === null ? record : a) + (b === null ? this.#length - record + 1 : b) - 1;
    const rightAlone = b === null ? 0 : this.#influence.rightAlone(b);
    return this.#score(near, a === null ? rightAlone : this.#influence.both(prior, a, b ?? undefined));
  }
}

/**
 * The near set with the least score, beside that of the whole chain. `floor` times its size bounds a score from below and ends the
 * search. Quilts beyond `reach` are left out, and large near sets tried in steps: fewer quilts can only raise the bound.
 */
export function leastQuilt(
  { length, whole, floor, reach = length }: { length: number; whole: number; floor: number; reach?: number },
  score: (near: number, a: number, b: number) => number,
): ChainQuilt {
  let best: ChainQuilt = { score: whole, a: null, b: null };
  for (let near = 1; near < Math.min(length, 2 * reach) && near * floor < best.score; near += step(near))
    for (let a = Math.max(1, near + 1 - reach); a <= Math.min(near, reach); a += step(near)) {
      const own = score(near, a, near + 1 - a);
      if (own < best.score) best = { score: own, a, b: near + 1 - a };
    }
  return best;
}

/** Score of a near set with this influence: infinite if it leaves nothing of epsilon. */
export const quiltScore = (near: number, influence: number, epsilon: number): number =>
  influence < epsilon ? near / (epsilon - influence) : Number.POSITIVE_INFINITY;

/** Every near set up to a thousand records, then one in each thousandth of its size. */
const step = (near: number) => Math.max(1, Math.floor(near / 1000));

/** Every record whose surroundings differ: once the marginal stops moving, the records far from both ends are all alike. */
function* records(
  chain: MarkovChain,
  transition: SquareMatrix,
  search: QuiltSearch,
): Generator<{ record: number; prior: Float64Array }> {
  const start = marginals(chain, transition);
  let settled: { record: number; prior: Float64Array } | undefined;
  let reach = 0;
  for (let record = 1; record <= chain.length; record++) {
    if (!settled) {
      const { prior, moving } = start.next().value!;
      if (!moving) settled = { record, prior };
      if (!settled) {
        yield { record, prior };
        continue;
      }
      const middle = Math.max(record, Math.ceil(chain.length / 2));
      reach = search.best(middle, prior).near;
      yield { record: middle, prior };
    }
    yield { record, prior: settled.prior };
    // Beyond the reach of the best quilt nothing depends on the position of the record.
    const next = chain.length - reach - 1;
    if (record > settled.record + reach + 1 && record < next) record = next;
  }
}

/**
 * Prior terms record by record. A chain that has not settled after `patience` records is given the worst row of P^t from there on: rows of
 * later powers are mixtures of these, so the term covers every later record and every start.
 */
function* marginals(chain: MarkovChain, transition: SquareMatrix): Generator<{ prior: Float64Array; moving: boolean }, never> {
  const patience = Math.min(20_000, Math.floor(2 ** 27 / transition.size ** 3));
  if (chain.initial === 'stationary') {
    const prior = priorGaps(chainStationary(transition));
    for (;;) yield { prior, moving: false };
  }
  if (chain.initial === 'any') {
    let power = identity(transition.size);
    for (let t = 0; ; t++) {
      const next = multiplyMatrices(power, transition);
      const moving = t < patience && power.cells.some((x, c) => Math.abs(x - next.cells[c]!) > 1e-14 * x);
      yield { prior: anyStartGaps(power), moving };
      power = next;
    }
  }
  let now = Float64Array.from(chain.initial);
  for (let t = 0; ; t++) {
    const next = new Float64Array(now.length);
    now.forEach((p, s) => {
      for (let u = 0; u < now.length; u++) next[u]! += p * transition.cells[s * now.length + u]!;
    });
    const moving = now.some((p, s) => Math.abs(p - next[s]!) > 1e-14 * p);
    if (moving && t >= patience) yield { prior: anyStartGaps(powerOf(transition, t)), moving: false };
    else yield { prior: priorGaps(now), moving };
    now = next;
  }
}

const identity = (size: number): SquareMatrix => ({
  size,
  cells: Float64Array.from({ length: size * size }, (_, c) => (c % (size + 1) === 0 ? 1 : 0)),
});

function powerOf(m: SquareMatrix, t: number): SquareMatrix {
  if (t === 0) return identity(m.size);
  const half = powerOf(m, Math.floor(t / 2));
  const square = multiplyMatrices(half, half);
  return t % 2 === 0 ? square : multiplyMatrices(square, m);
}

export function chainStationary(transition: SquareMatrix): Float64Array {
  const pi = stationaryVector(transition);
  if (!pi)
    throw new Fault(
      'MODEL_INVALID',
      'The chain has no single stationary distribution.',
      'Give `initial` as a distribution or as "any".',
    );
  return pi;
}

function checked(chain: MarkovChain): SquareMatrix {
  const k = chain.transition.length;
  const fair = (row: readonly number[]) =>
    row.length === k && row.every((p) => p >= 0) && Math.abs(row.reduce((s, p) => s + p, 0) - 1) < 1e-9;
  const ok = k > 0 && chain.transition.every(fair) && Number.isInteger(chain.length) && chain.length > 0;
  if (!ok || (Array.isArray(chain.initial) && !fair(chain.initial)))
    throw new Fault(
      'MODEL_INVALID',
      'The chain is not a Markov chain.',
      'Rows of `transition` (and `initial`) must be probabilities that sum to one.',
    );
  return matrix(chain.transition);
}
