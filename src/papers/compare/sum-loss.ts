import { leastRoot } from '../../audit/least-root.js';
import { rational, toNumber } from '../../exact/rational.js';
import { largest } from './mechanism.js';
import type { SumLaws } from './sum-law.js';

/** A sum's law given each value of one record, as plain numbers. */
interface Mixture {
  readonly sums: Float64Array;
  readonly shares: Float64Array;
}

/**
 * The exact loss of a noisy sum against an uninformed adversary on a forest of any length: the laws come from messages, and the worst output is
 * an atom (exact-loss.proof.md, F1). Records of other components are left out, which can only raise it.
 */
export class SumLoss {
  readonly #records: readonly (readonly Mixture[])[];

  constructor(laws: SumLaws, records: number) {
    this.#records = Array.from({ length: records }, (_, i) =>
      laws
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
    return largest(this.#records.map((mixtures) => lossBetween(mixtures, scale)));
  }

  /** The least scale that keeps the loss at epsilon. */
  least(epsilon: number): number {
    const span = largest(
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
  return largest(outputs.map((_, k) => Math.max(...logs.map((l) => l[k]!)) - Math.min(...logs.map((l) => l[k]!))));
}

/** log sum of share e^{-|output - sum|/scale} at sorted outputs: one sweep from each side, kept as logarithms so that nothing underflows. */
function logLikelihoods({ sums, shares }: Mixture, outputs: readonly number[], scale: number): Float64Array {
  const out = new Float64Array(outputs.length).fill(Number.NEGATIVE_INFINITY);
  let carried = Number.NEGATIVE_INFINITY;
  let k = 0;
  for (const [at, o] of outputs.entries()) {
    if (at > 0) carried -= (o - outputs[at - 1]!) / scale;
    for (; k < sums.length && sums[k]! <= o; k++) carried = logAdd(carried, Math.log(shares[k]!) - (o - sums[k]!) / scale);
    out[at] = carried;
  }
  carried = Number.NEGATIVE_INFINITY;
  k = sums.length - 1;
  for (let at = outputs.length - 1; at >= 0; at--) {
    if (at < outputs.length - 1) carried -= (outputs[at + 1]! - outputs[at]!) / scale;
    for (; k >= 0 && sums[k]! > outputs[at]!; k--)
      carried = logAdd(carried, Math.log(shares[k]!) - (sums[k]! - outputs[at]!) / scale);
    out[at] = logAdd(out[at]!, carried);
  }
  return out;
}

function logAdd(a: number, b: number): number {
  if (a === Number.NEGATIVE_INFINITY) return b;
  if (b === Number.NEGATIVE_INFINITY) return a;
  return Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
}
