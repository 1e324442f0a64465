import { multiplyMatrices, type SquareMatrix } from './matrix.js';

/** log x/y over pairs of states, worst over a third state; +Infinity where y is impossible and x is not. */
type Gaps = Float64Array;

/**
 * Influence of X_{i-a} and X_{i+b} on X_i along a chain, for increasing a and b; powers are computed
 * on demand. Both terms never grow with the distance: rows of P^{a+1} are mixtures of rows of P^a.
 */
export class ChainInfluence {
  readonly states: number;
  readonly #transition: SquareMatrix;
  readonly #powers: SquareMatrix[];
  readonly #left: Gaps[] = [];
  readonly #right: Gaps[] = [];
  readonly #rightMost: number[] = [];

  constructor(transition: SquareMatrix) {
    this.states = transition.size;
    this.#transition = transition;
    this.#powers = [transition];
  }

  power(a: number): SquareMatrix {
    while (this.#powers.length < a) this.#powers.push(multiplyMatrices(this.#powers.at(-1)!, this.#transition));
    return this.#powers[a - 1]!;
  }

  /** left[s,t] = max over u of log P^a(u,s) / P^a(u,t). */
  left(a: number): Gaps {
    this.#left[a] ??= columnGaps(this.power(a));
    return this.#left[a];
  }

  /** right[s,t] = max over w of log P^b(s,w) / P^b(t,w). */
  right(b: number): Gaps {
    this.#right[b] ??= columnGaps(transpose(this.power(b)));
    return this.#right[b];
  }

  /** The whole influence of X_{i+b} alone. */
  rightAlone(b: number): number {
    this.#rightMost[b] ??= this.right(b).reduce((m, x) => Math.max(m, x), 0);
    return this.#rightMost[b];
  }

  /** Influence of {X_{i-a}, X_{i+b}}; `prior[s,t]` is log Pr(X_i=t)/Pr(X_i=s), NaN where a value is impossible. Leave b out for X_{i-a} alone. */
  both(prior: Gaps, a: number, b?: number): number {
    const left = this.left(a);
    const right = b === undefined ? undefined : this.right(b);
    let most = 0;
    for (let st = 0; st < left.length; st++) {
      const e = prior[st]! + left[st]! + (right ? right[st]! : 0);
      if (e > most) most = e;
    }
    return most;
  }
}

function transpose(m: SquareMatrix): SquareMatrix {
  const n = m.size;
  return { size: n, cells: m.cells.map((_, c) => m.cells[(c % n) * n + Math.floor(c / n)]!) };
}

function columnGaps(m: SquareMatrix): Gaps {
  const n = m.size;
  const logs = m.cells.map(Math.log);
  const gaps = new Float64Array(n * n).fill(Number.NEGATIVE_INFINITY);
  for (let u = 0; u < n; u++)
    for (let s = 0; s < n; s++) {
      const top = logs[u * n + s]!;
      if (top === Number.NEGATIVE_INFINITY) continue;
      for (let t = 0; t < n; t++) {
        const gap = top - logs[u * n + t]!;
        if (gap > gaps[s * n + t]!) gaps[s * n + t] = gap;
      }
    }
  return gaps;
}

/** prior[s,t] = log Pr(t)/Pr(s) from a distribution; NaN where either is impossible, so that no comparison picks it. */
export function priorGaps(distribution: Float64Array): Gaps {
  const n = distribution.length;
  const gaps = new Float64Array(n * n);
  for (let s = 0; s < n; s++)
    for (let t = 0; t < n; t++)
      gaps[s * n + t] = distribution[s]! > 0 && distribution[t]! > 0 ? Math.log(distribution[t]! / distribution[s]!) : Number.NaN;
  return gaps;
}

/** The same when the chain may start anywhere: worst over the first state. */
export const anyStartGaps = (power: SquareMatrix): Gaps => transpose({ size: power.size, cells: columnGaps(power) }).cells;
