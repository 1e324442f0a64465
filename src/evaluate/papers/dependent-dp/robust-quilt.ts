import { ChainInfluence } from '../pufferfish/chain-influence.js';
import { type ChainQuilt, leastQuilt, type MarkovChain, quiltScore } from '../pufferfish/markov-quilt.js';
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

/**
 * Zhao-DDP (Zhao et al. 2017) on a chain, against every known subset: leakage <= min over (a,b) of (a+b-1) base + H(P^a) + H(P^b), or length x base.
 * A record near an end drops a side and does no worse. See robust-quilt.proof.md.
 */
export function robustLeakage(chain: Pick<MarkovChain, 'transition' | 'length'>, base: number): ChainQuilt {
  return leastOver(chain, base, (near, e) => near * base + e);
}

/** The noise for a sum that one record moves by at most one: min (a+b-1) / (epsilon - H(P^a) - H(P^b)), or length / epsilon. */
export function robustScale(chain: Pick<MarkovChain, 'transition' | 'length'>, epsilon: number): ChainQuilt {
  return leastOver(chain, 1 / epsilon, (near, e) => quiltScore(near, e, epsilon));
}

function leastOver(
  { transition, length }: Pick<MarkovChain, 'transition' | 'length'>,
  floor: number,
  score: (near: number, e: number) => number,
): ChainQuilt {
  const contraction = new Contraction(transition);
  const reach = Math.min(length - 1, 20_000, Math.floor(2 ** 22 / transition.length ** 2));
  return leastQuilt({ length, whole: length * floor, floor, reach }, (near, a, b) =>
    score(near, contraction.after(a) + contraction.after(b)),
  );
}
