import { type ChainQuilt, chainStationary, leastQuilt, type MarkovChain, quiltScore } from './markov-quilt.js';
import { matrix, type SquareMatrix, symmetricEigenvalues } from './matrix.js';

/** Mixing of a set of chains for MQMApprox: least stationary probability, and rate of forgetting as exp(-rate t). */
export interface Mixing {
  readonly least: number;
  readonly rate: number;
}

/**
 * `general` uses the gap of P P* (time reversal) and is valid for every irreducible aperiodic chain; `reversible` uses the second eigenvalue
 * of P itself, as the authors do for reversible chains (rate 1-|lambda|, which |lambda|^t undercuts).
 */
export function mixing(transitions: readonly (readonly (readonly number[])[])[], kind: 'general' | 'reversible'): Mixing {
  const each = transitions.map((rows) => {
    const p = matrix(rows);
    const pi = chainStationary(p);
    const second = secondEigenvalue(p, pi, kind);
    return { least: Math.min(...pi), rate: kind === 'general' ? (1 - second) / 2 : 1 - second };
  });
  return { least: Math.min(...each.map((m) => m.least)), rate: Math.min(...each.map((m) => m.rate)) };
}

/** Conjugating with sqrt(pi) makes P P* (and P, when reversible) symmetric without moving its eigenvalues. */
function secondEigenvalue(p: SquareMatrix, pi: Float64Array, kind: 'general' | 'reversible'): number {
  const n = p.size;
  const half = { size: n, cells: p.cells.map((x, c) => x * Math.sqrt(pi[Math.floor(c / n)]! / pi[c % n]!)) };
  const cells = half.cells.map((x, c) => {
    if (kind === 'reversible') return (x + half.cells[(c % n) * n + Math.floor(c / n)]!) / 2;
    let sum = 0;
    for (let k = 0; k < n; k++) sum += half.cells[Math.floor(c / n) * n + k]! * half.cells[(c % n) * n + k]!;
    return sum;
  });
  return Math.max(0, ...symmetricEigenvalues({ size: n, cells }).slice(1).map(Math.abs));
}

/** MQMApprox: influences bounded by mixing alone. Records near an end do no worse (they drop a side), so one search serves all. */
export function approximateQuilt(length: MarkovChain['length'], { least, rate }: Mixing, epsilon: number): ChainQuilt {
  const gap = (t: number) => {
    const d = Math.exp(-rate * t) / least;
    return d < 1 ? Math.log((1 + d) / (1 - d)) : Number.POSITIVE_INFINITY;
  };
  return leastQuilt({ length, whole: length / epsilon, floor: 1 / epsilon }, (near, a, b) =>
    quiltScore(near, 2 * gap(a) + gap(b), epsilon),
  );
}
