import { Fault } from '../../../base/errors.js';
import { type Rational, toNumber, toText } from '../../../base/exact/rational.js';
import type { Mechanism } from '../../../privacy/mechanism/mechanism.js';
import { pureCost } from '../../../privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../../../privacy/mechanism/record-class.js';
import { cryptoBits } from '../../../privacy/noise/bits.js';
import { length } from './gradient.js';
import { minimise } from './minimise.js';
import type { ClassifySetting, Trainer } from './trainer.js';

/** A uniform double in (0, 1): floating-point noise, which is why this method is not certified. */
const uniform = (): number => (cryptoBits.below(2 ** 53) + 0.5) / 2 ** 53;
const exponential = (): number => -Math.log(uniform());
const normal = (): number => Math.sqrt(2 * exponential()) * Math.cos(2 * Math.PI * uniform());

/** Random vector of length Gamma(width, 2 / epsilon) and uniform direction. */
function linearTerm(width: number, epsilon: number): Float64Array {
  const direction = Float64Array.from({ length: width }, normal);
  let size = 0;
  for (let k = 0; k < width; k++) size += exponential();
  const scale = ((2 / epsilon) * size) / length(direction);
  return direction.map((x) => x * scale);
}

/**
 * Epsilon remaining for the random linear term, and the extra penalty that is needed if none would remain (Chaudhuri et al. 2011):
 * for rows of length at most one and a loss with |l'| <= 1, |l''| <= curvature.
 */
export function objectiveTerms(
  {
    records,
    regularisation,
    curvature,
  }: { readonly records: number; readonly regularisation: number; readonly curvature: number },
  epsilon: number,
): { readonly epsilon: number; readonly penalty: number } {
  const left = epsilon - 2 * Math.log1p(curvature / (records * regularisation));
  if (left > 0) return { epsilon: left, penalty: 0 };
  return { epsilon: epsilon / 2, penalty: curvature / (records * Math.expm1(epsilon / 4)) - regularisation };
}

/**
 * Objective perturbation as published. Its proof assumes real arithmetic and the exact minimiser, which no computer has: for
 * comparison only, on explicit request.
 */
export function objectiveTrainer(setting: ClassifySetting, epsilon: Rational): Trainer {
  const { map, loss, regularisation, records, rowsPerRecord } = setting;
  if (rowsPerRecord !== 1)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Objective perturbation is published for one row per record only.',
      'Use the method "output" or "sgd", or protect rows.',
    );
  const terms = objectiveTerms({ records, regularisation, curvature: loss.curvature }, toNumber(epsilon));
  const penalty = regularisation + terms.penalty;
  const mechanism: Mechanism = {
    distribution: { kind: 'published' },
    // As published: no proof here shows that the noise costs this.
    cost: pureCost([[everyRecord, epsilon]]),
    draws: 1,
    summary: { name: `linear term of length Gamma(${map.width}, 2/${toText(epsilon)}) or more`, cells: map.width },
  };
  return {
    method: 'objective',
    noise: 'gamma',
    certified: false,
    intervals: 'No intervals: as published, the noise is a slope of the objective. The method "output" has them.',
    why: `The minimiser of the objective with a random linear term (epsilon ${terms.epsilon.toPrecision(3)} of it for the term, extra penalty ${terms.penalty.toPrecision(3)}).`,
    mechanisms: [mechanism],
    expectedNoise: (2 * map.width) / (terms.epsilon * records * penalty),
    prepare: (payment) => {
      payment.take(mechanism, 1);
      const linear = linearTerm(map.width, terms.epsilon);
      const objective = { loss, records, radius: map.radius, regularisation: penalty, linear };
      return (given) => payment.release(mechanism, given, (examples) => minimise({ examples, ...objective }, 1e-9));
    },
  };
}
