import { rational, toNumber } from '../../../base/exact/rational.js';
import { type Arithmetic, linearArithmetic, logArithmetic } from '../../audit/known-cells.js';
import { leastRoot } from '../../audit/least-root.js';
import { maximumOf, maximumOverPairs } from './mechanism.js';
import type { SumDistributions } from './sum-distribution.js';

/** Distribution of a sum given each value of one record, as plain numbers. */
interface Mixture {
  readonly sums: Float64Array;
  readonly shares: Float64Array;
}

/**
 * Loss of a noisy sum against an uninformed adversary on a forest of any length, by messages; the worst output
 * is an atom (exact-loss.proof.md, F1). Exact for one component; omitting other components can only raise it.
 */
export class SumLoss {
  readonly #records: readonly (readonly Mixture[])[];

  constructor(distributions: SumDistributions, records: number) {
    this.#records = Array.from({ length: records }, (_, i) =>
      distributions
        .given(i)
        .filter((sums) => sums.size > 0)
        .map((sums) => {
          const total = [...sums.values()].reduce((t, w) => t + w, 0n);
          const sorted = [...sums].sort((a, b) => a[0] - b[0]);
          return {
            sums: Float64Array.from(sorted, ([sum]) => sum),
            shares: Float64Array.from(sorted, ([, w]) => toNumber(rational(w, total))),
          };
        }),
    );
  }

  at(scale: number): number {
    return maximumOf(this.#records.map((mixtures) => lossBetween(mixtures, scale)));
  }

  /** Loss of an integer sum released twice with independent noise of this scale each: a histogram of two states. */
  atTwice(scale: number): number {
    return maximumOf(this.#records.map((mixtures) => lossTwice(mixtures, scale)));
  }

  /** The least scale that keeps the loss at epsilon. */
  least(epsilon: number): number {
    const span = maximumOf(
      this.#records.map((m) => Math.max(...m.map((x) => x.sums.at(-1)!)) - Math.min(...m.map((x) => x.sums[0]!))),
    );
    return span === 0
      ? 0
      : leastRoot((scale) => Math.log((this.at(scale) + 1e-12) / epsilon), (span / epsilon) * (1 + 1e-9), 1e-9);
  }
}

function lossBetween(mixtures: readonly Mixture[], scale: number): number {
  const outputs = [...new Set(mixtures.flatMap((m) => [...m.sums]))].sort((a, b) => a - b);
  const logs = mixtures.map((m) => logLikelihoods(m, outputs, scale));
  return maximumOf(outputs.map((_, k) => Math.max(...logs.map((l) => l[k]!)) - Math.min(...logs.map((l) => l[k]!))));
}

/** Exponents up to here keep every likelihood above the least double. */
const safeExponent = 600;

/**
 * Outputs u <= v have the likelihood sum of share e^{-(|u - sum| + |v - sum|)/scale}. Without the common e^{-(v - u)/scale}
 * it is `below` at u, plus the shares between, plus `above` at v: monotone between atoms, so the worst outputs are atoms.
 */
function lossTwice(mixtures: readonly Mixture[], scale: number): number {
  const least = Math.min(...mixtures.map((m) => m.sums[0]!));
  const width = Math.max(...mixtures.map((m) => m.sums.at(-1)!)) - least + 1;
  const arithmetic = (2 * width) / scale < safeExponent ? linearArithmetic : logArithmetic;
  const each = mixtures.map((m) => {
    const shares = new Float64Array(width).fill(arithmetic.empty);
    m.sums.forEach((sum, k) => {
      shares[sum - least] = arithmetic.of(m.shares[k]!);
    });
    return sidesOf(shares, scale, arithmetic);
  });
  return maximumOverPairs(each, (a, b) => furthest(a, b, arithmetic));
}

interface Sides {
  readonly shares: Float64Array;
  /** Sum over atoms up to u of share e^{-2(u - sum)/scale}. */
  readonly below: Float64Array;
  /** Sum over atoms beyond v of share e^{-2(sum - v)/scale}. */
  readonly above: Float64Array;
}

function sidesOf(shares: Float64Array, scale: number, { empty, add, scaled }: Arithmetic): Sides {
  const below = shares.slice();
  const above = shares.slice().fill(empty);
  for (let u = 1; u < shares.length; u++) below[u] = add(scaled(below[u - 1]!, -2 / scale), shares[u]!);
  for (let v = shares.length - 2; v >= 0; v--) above[v] = scaled(add(above[v + 1]!, shares[v + 1]!), -2 / scale);
  return { shares, below, above };
}

function furthest(a: Sides, b: Sides, { none, add, quotient, loss }: Arithmetic): number {
  let [most, fewest] = [none, none];
  for (let u = 0; u < a.shares.length; u++) {
    let [x, y] = [a.below[u]!, b.below[u]!];
    for (let v = u; v < a.shares.length; v++) {
      if (v > u) {
        x = add(x, a.shares[v]!);
        y = add(y, b.shares[v]!);
      }
      const ratio = quotient(add(x, a.above[v]!), add(y, b.above[v]!));
      if (ratio > most) most = ratio;
      if (ratio < fewest) fewest = ratio;
    }
  }
  return Math.max(loss(most), -loss(fewest));
}

/** log sum of share e^{-|output - sum|/scale} at sorted outputs: one sweep from each side, kept as logarithms so that nothing underflows. */
function logLikelihoods({ sums, shares }: Mixture, outputs: readonly number[], scale: number): Float64Array {
  const out = new Float64Array(outputs.length).fill(Number.NEGATIVE_INFINITY);
  let carried = Number.NEGATIVE_INFINITY;
  let k = 0;
  for (const [at, o] of outputs.entries()) {
    if (at > 0) carried -= (o - outputs[at - 1]!) / scale;
    for (; k < sums.length && sums[k]! <= o; k++)
      carried = logArithmetic.add(carried, Math.log(shares[k]!) - (o - sums[k]!) / scale);
    out[at] = carried;
  }
  carried = Number.NEGATIVE_INFINITY;
  k = sums.length - 1;
  for (let at = outputs.length - 1; at >= 0; at--) {
    if (at < outputs.length - 1) carried -= (outputs[at + 1]! - outputs[at]!) / scale;
    for (; k >= 0 && sums[k]! > outputs[at]!; k--)
      carried = logArithmetic.add(carried, Math.log(shares[k]!) - (sums[k]! - outputs[at]!) / scale);
    out[at] = logArithmetic.add(out[at]!, carried);
  }
  return out;
}
