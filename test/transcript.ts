import { expect } from 'vitest';
import { add, divide, multiply, type Rational, rational, toNumber, zero } from '../src/base/exact/rational.js';
import type { NoiseDistribution } from '../src/privacy/mechanism/distribution.js';
import type { Mechanism } from '../src/privacy/mechanism/mechanism.js';
import { Payment } from '../src/privacy/mechanism/payment.js';
import type { RecordClass } from '../src/privacy/mechanism/record-class.js';

/**
 * Receipt with the same output for any data: zeros and first candidates; with 'exact' the true counts and the best candidate;
 * or the outputs of another transcript. It records all inputs, to compare two worlds along one transcript (adaptive composition).
 */
export class RecordingPayment extends Payment {
  readonly seen: { readonly mechanism: Mechanism; readonly exact: readonly bigint[]; readonly out: unknown }[] = [];

  constructor(
    reserved: readonly Mechanism[],
    private readonly answers: 'nothing' | 'exact' | RecordingPayment = 'nothing',
  ) {
    super(reserved);
  }

  override release<In, Out>(mechanism: Mechanism, given: In): Out {
    const exact = given as readonly bigint[];
    const out = this.sample(mechanism, exact);
    this.seen.push({ mechanism, exact, out });
    return out as Out;
  }

  private sample(mechanism: Mechanism, exact: readonly bigint[]): unknown {
    if (this.answers instanceof RecordingPayment) return this.answers.seen[this.seen.length]!.out;
    const best = () => exact.reduce((found, p, k) => (p < exact[found]! ? k : found), 0);
    if (mechanism.distribution.kind === 'selection') return this.answers === 'exact' ? best() : 0;
    return this.answers === 'exact' ? [...exact] : exact.map(() => 0n);
  }
}

/**
 * Privacy loss of each mechanism between two worlds as a share of its reserved cost (of one record class, if named),
 * in the order of first use; computed from the distribution alone.
 */
export function usedParts(a: RecordingPayment, b: RecordingPayment, record?: RecordClass): number[] {
  expect(b.seen.map(({ mechanism }) => mechanism)).toEqual(a.seen.map(({ mechanism }) => mechanism));
  const lost = new Map<Mechanism, Rational>();
  a.seen.forEach(({ mechanism, exact }, k) => {
    const moved = exact.map((x, i) => x - b.seen[k]!.exact[i]!);
    lost.set(mechanism, add(lost.get(mechanism) ?? zero, lossUnder(mechanism.distribution, mechanism.cost.noise, moved)));
  });
  return [...lost].map(([{ cost }, loss]) => {
    const reserved = record === undefined ? [...cost.perRecord.values()][0] : cost.perRecord.get(record);
    return toNumber(divide(loss, reserved!));
  });
}

function lossUnder(distribution: NoiseDistribution, noise: 'pure' | 'zcdp', moved: readonly bigint[]): Rational {
  const sizes = moved.map((x) => (x < 0n ? -x : x));
  if (distribution.kind === 'laplace') return divide(rational(sizes.reduce((s, x) => s + x, 0n)), distribution.scale);
  if (distribution.kind === 'gaussian')
    return divide(rational(sizes.reduce((s, x) => s + x * x, 0n)), multiply(rational(2), distribution.variance));
  if (distribution.kind !== 'selection') throw new RangeError(`no loss is known of ${distribution.kind} noise`);
  // A common shift of all penalties has no effect: the spread of the candidates' changes counts.
  const [least, most] = [moved.reduce((s, x) => (x < s ? x : s)), moved.reduce((s, x) => (x > s ? x : s))];
  const pure = multiply(distribution.sharpness, rational(most - least));
  return noise === 'pure' ? pure : divide(multiply(pure, pure), rational(8));
}
