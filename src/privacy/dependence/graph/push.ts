import { expDown, expm1Down, expm1Up, log1pUp, tanhUp } from '../../../base/exact/outward.js';

/**
 * push(B, D) = 4 artanh(tanh(B/4) tanh(D/4)): upper bound on the part of a privacy loss B that passes a tie of log odds ratio D.
 * Rounded up, without cancellation for any arguments (push.proof.md).
 */
export function push(loss: number, logOdds: number): number {
  if (Number.isNaN(loss + logOdds)) return Number.NaN;
  if (loss <= 0 || logOdds <= 0) return 0;
  return pushThrough(loss, logOdds, closedWeight(logOdds), openWeight(logOdds));
}

/** e^(-D/2), rounded down: 1 for independent records, 0 for copies. */
export const closedWeight = (logOdds: number): number => expDown(-logOdds / 2);
/** 1 - e^(-D/2), rounded up. */
export const openWeight = (logOdds: number): number => -expm1Down(-logOdds / 2);

/** Two products, two sums and a quotient follow, each off by at most one part in 2^53; this multiplier exceeds them all together. */
const above = 1 + 2 ** -49;

/** `push` for positive arguments, with closed(D) and open(D) precomputed for loops over the same ties. */
export function pushThrough(loss: number, logOdds: number, shut: number, passing: number): number {
  const least = Math.min(loss, logOdds);
  if (loss > 1000 || logOdds === Number.POSITIVE_INFINITY) return least;
  const grown = expm1Up(loss / 2);
  const through = 2 * log1pUp(((grown * passing) / (1 + shut + shut * grown)) * above);
  return Math.min(through, least);
}

/** Slope of push at 0: the fraction of a small privacy loss that passes. Rounded up. */
export const contraction = (logOdds: number): number => tanhUp(logOdds / 4);
