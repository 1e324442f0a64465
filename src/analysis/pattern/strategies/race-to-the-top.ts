import { logUp } from '../../../base/exact/outward.js';
import { ceiling, fromNumber, multiply, rational } from '../../../base/exact/rational.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import { type AdditiveMechanism, additiveMechanism, noiseWidth } from '../../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import { sensitivityOn } from '../../../privacy/mechanism/sensitivity.js';
import type { PatternAnalysis } from '../query/analyse.js';
import { compilePerValue } from '../query/compile.js';
import { larger, smaller } from '../query/sensitivity.js';
import type { PatternSecret } from '../secret.js';
import { offer, type PatternStrategy } from './strategy.js';

/**
 * Race to the top (Dong et al. 2022): Q(tau) = sum of min(tau, contribution) has sensitivity tau for one person. Every level has the
 * same part of epsilon and is lowered by its noise bound; the largest is taken (per-person.proof.md).
 */
export const raceToTheTop: PatternStrategy<'r2t'> = ({ analysis: a, hidden, budgetShare, degree }) => {
  if (hidden.what !== 'owner') return [];
  const levels = raceLevels(a.title, hidden, budgetShare);
  const scale = noiseWidth(levels[0]!.noise.distribution) / Number(levels[0]!.tau);
  const note = `if nobody has more than ${degree} results`;
  return [
    offer(
      { mechanism: 'r2t', scale, expectedError: scale * degree * Math.log(failureOdds * levels.length), note },
      {
        mechanisms: levels.map(({ noise }) => noise),
        answer: async (payment, engine) => {
          const run = prepareRace(levels, payment);
          return run((await contributions(engine, a, hidden.owner)).open());
        },
      },
    ),
  ];
};

/** Inverse failure probability: one race in so many exceeds the truth. */
const failureOdds = 20;

export interface RaceLevel {
  /** Cut-off of a person's contribution. */
  readonly tau: bigint;
  readonly noise: AdditiveMechanism;
}
/** tau = 2, 4, 8, … until no contribution is cut. */
export function raceLevels(title: string, { moves, classes }: PatternSecret, budgetShare: BudgetShare): readonly RaceLevel[] {
  const many = Math.max(1, moves.toString(2).length);
  const part = splitShare(budgetShare, rational(1, many));
  return Array.from({ length: many }, (_, i) => {
    const tau = 1n << BigInt(i + 1);
    const sensitivity = sensitivityOn(classes, { l1: tau, l2squared: tau * tau });
    return { tau, noise: additiveMechanism({ name: `${title}, at most ${tau} each`, cells: 1, sensitivity }, part) };
  });
}

function prepareRace(levels: readonly RaceLevel[], payment: Payment): (parts: readonly bigint[]) => bigint {
  const ready = levels.map(({ noise }) => noise.prepare(payment));
  return (parts) =>
    levels.reduce((best, { tau, noise }, i) => {
      const cut = parts.reduce((sum, c) => sum + smaller(c, tau), 0n);
      return larger(best, ready[i]!([cut])[0]! - noiseBound(noise, levels.length));
    }, 0n);
}

/** Bound that the noise of one level exceeds with probability at most 1 / (failureOdds x levels). */
function noiseBound({ distribution }: AdditiveMechanism, levels: number): bigint {
  if (distribution.kind !== 'laplace') throw new RangeError('a race is run with Laplace noise');
  return ceiling(multiply(distribution.scale, fromNumber(logUp(failureOdds * levels))));
}

/** Number of results of each person, when each result belongs to exactly one. */
async function contributions(engine: Snapshot, a: PatternAnalysis, person: number): Promise<Exact<readonly bigint[]>> {
  const rows = (await engine.rows(compilePerValue(a.pattern, person, engine.dialect))).open();
  return new Exact(rows.map(([c]) => BigInt(typeof c === 'number' ? Math.trunc(c) : (c ?? 0)) / a.divisor));
}
