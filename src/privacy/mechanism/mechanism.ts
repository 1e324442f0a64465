import type { NoiseDistribution } from './distribution.js';
import { composeCosts, emptyPure, emptyZcdp, type PrivacyCost } from './privacy-cost.js';

/** Noise mechanism: distribution, privacy cost and public summary in one value. Samples only against a payment (payment.ts). */
export interface Mechanism {
  readonly distribution: NoiseDistribution;
  /** Privacy cost of all draws together. */
  readonly cost: PrivacyCost;
  /** Number of draws that are paid for. */
  readonly draws: number;
  /** Public summary, for plans and receipts. */
  readonly summary: MechanismSummary;
}

export interface MechanismSummary {
  readonly name: string;
  readonly cells: number;
  /** Half width of the 95 % interval of one cell, in the answer's own unit; absent for selections and for noise that follows the data. */
  readonly error95?: number;
  /** Number of tables read from it, if more than one. */
  readonly tables?: number;
}

/** Total cost of mechanisms, adaptive or not. Pure and zCDP costs are separate, so all must be of one kind. */
export function totalCostOf(mechanisms: readonly Mechanism[]): PrivacyCost {
  const noise = mechanisms.find(({ cost }) => cost.perRecord.size > 0)?.cost.noise ?? 'pure';
  return mechanisms.reduce<PrivacyCost>(
    (total, { cost }) => {
      if (cost.perRecord.size === 0) return total;
      if (cost.noise !== noise) throw new RangeError('pure and zCDP costs cannot be one profile');
      return composeCosts(total, cost);
    },
    noise === 'pure' ? emptyPure : emptyZcdp,
  );
}
