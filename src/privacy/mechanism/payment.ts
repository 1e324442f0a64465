import { compare, zero } from '../../base/exact/rational.js';
import { type Mechanism, totalCostOf } from './mechanism.js';
import { inZcdp, type PrivacyCost } from './privacy-cost.js';

/**
 * Payment: the right to draw reserved noise. Only `charge` makes one, after the ledger has stored the cost of exactly these
 * mechanisms; no mechanism draws without it, or more often than reserved.
 */
export class Payment {
  readonly #left = new Map<Mechanism, number>();

  constructor(reserved: readonly Mechanism[]) {
    for (const mechanism of reserved) this.#left.set(mechanism, (this.#left.get(mechanism) ?? 0) + mechanism.draws);
  }

  /** Before noise is drawn. */
  take(mechanism: Mechanism, draws: number): void {
    const left = this.#left.get(mechanism) ?? 0;
    if (draws > left) throw new RangeError('more noise would be drawn than was booked');
    this.#left.set(mechanism, left - draws);
  }

  /**
   * Exchanges the payment of one mechanism for others that cost no more in total, for steps whose noise depends on earlier
   * publications.
   */
  exchange(reserved: Mechanism, ...instead: readonly Mechanism[]): void {
    if (!costsNoMore(totalCostOf(instead), reserved.cost)) throw new RangeError('a noise would cost more than is booked for it');
    this.take(reserved, reserved.draws);
    for (const mechanism of instead) this.#left.set(mechanism, (this.#left.get(mechanism) ?? 0) + mechanism.draws);
  }

  /** The only place where noise is added: exact values go in, noisy ones come out. */
  release<In, Out>(_mechanism: Mechanism, exact: In, noisy: (exact: In) => Out): Out {
    return noisy(exact);
  }
}

/** Also in zCDP: fewer and larger draws cost more there. */
const costsNoMore = (a: PrivacyCost, b: PrivacyCost): boolean =>
  (a.noise === b.noise || a.perRecord.size === 0) &&
  [...a.perRecord].every(([name, cost]) => compare(cost, b.perRecord.get(name) ?? zero) <= 0) &&
  (a.noise === 'zcdp' || b.noise === 'zcdp' || costsNoMore(inZcdp(a), inZcdp(b)));
