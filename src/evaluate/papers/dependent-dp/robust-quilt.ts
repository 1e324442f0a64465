import { ChainInfluence } from '../pufferfish/chain-influence.js';
import { type MarkovChain, step } from '../pufferfish/markov-quilt.js';
import { matrix, type SquareMatrix } from '../pufferfish/matrix.js';

/** log of the largest cross ratio A(u,s) A(v,t) / (A(u,t) A(v,s)); infinite where a zero breaks it. */
function crossRatio(a: SquareMatrix): number {
  const n = a.size;
  const logs = a.cells.map(Math.log);
  let most = 0;
  for (let s = 0; s < n; s++)
    for (let t = 0; t < s; t++) {
      let high = Number.NEGATIVE_INFINITY;
      let low = Number.POSITIVE_INFINITY;
      for (let u = 0; u < n; u++) {
        const gap = logs[u * n + s]! - logs[u * n + t]!;
        if (gap > high) high = gap;
        if (gap < low) low = gap;
      }
      if (high - low > most) most = high - low;
    }
  return most;
}

/** H(P^t) for a chain, and Birkhoff's bound on it from H(P) alone. */
export class Contraction {
  readonly #influence: ChainInfluence;
  readonly #known: number[] = [];
  constructor(transition: readonly (readonly number[])[]) {
    this.#influence = new ChainInfluence(matrix(transition));
  }
  after(steps: number): number {
    this.#known[steps] ??= crossRatio(this.#influence.power(steps));
    return this.#known[steps];
  }
  bound(steps: number): number {
    const first = this.after(1);
    return Math.tanh(first / 4) ** (steps - 1) * first;
  }
}

export interface RobustQuilt {
  readonly value: number;
  /** Steps to the quilt on either side; null for the whole chain. */
  readonly quilt: readonly [number, number] | null;
}

/**
 * Zhao-DDP (Zhao et al. 2017) on a chain, against every known subset: leakage <= min over (a,b) of (a+b-1) base + H(P^a) + H(P^b), or length x base.
 * A record near an end drops a side and does no worse. See robust-quilt.proof.md.
 */
export function robustLeakage(chain: Pick<MarkovChain, 'transition' | 'length'>, base: number): RobustQuilt {
  return leastOver(chain, chain.length * base, (near, e) => near * base + e, base);
}

/** The noise for a sum that one record moves by at most one: min (a+b-1) / (epsilon - H(P^a) - H(P^b)), or length / epsilon. */
export function robustScale(chain: Pick<MarkovChain, 'transition' | 'length'>, epsilon: number): RobustQuilt {
  const score = (near: number, e: number) => (e < epsilon ? near / (epsilon - e) : Number.POSITIVE_INFINITY);
  return leastOver(chain, chain.length / epsilon, score, 1 / epsilon);
}

/**
 * `perRecord` x near is a floor of the score, which ends the search. Quilts further away than `reach` are left out, and beyond a thousand records
 * only one near set in each thousandth of its size is tried: fewer quilts can only raise the bound.
 */
function leastOver(
  { transition, length }: Pick<MarkovChain, 'transition' | 'length'>,
  whole: number,
  score: (near: number, e: number) => number,
  perRecord: number,
): RobustQuilt {
  const contraction = new Contraction(transition);
  const reach = Math.min(length - 1, 20_000, Math.floor(2 ** 22 / transition.length ** 2));
  let best: RobustQuilt = { value: whole, quilt: null };
  for (let near = 1; near < Math.min(length, 2 * reach) && near * perRecord < best.value; near += step(near))
    for (let a = Math.max(1, near + 1 - reach); a <= Math.min(near, reach); a += step(near)) {
      const value = score(near, contraction.after(a) + contraction.after(near + 1 - a));
      if (value < best.value) best = { value, quilt: [a, near + 1 - a] };
    }
  return best;
}
