import { leastRoot } from '../../audit/least-root.js';
import { ties } from '../../dependence/leakage.js';
import type { Model } from '../../dependence/model/model.js';
import type { Adversary } from '../../policy/policy.js';
import { type Calibration, total } from './mechanism.js';

/** The dependence calculus: the least Laplace scale whose profile (effect over scale, record by record) leaks at most epsilon. */
export function leakageScale(model: Model, effects: readonly number[], epsilon: number, adversary: Adversary): Calibration {
  const declared = ties(model, adversary);
  const profile = new Float64Array(effects.length);
  const excess = (scale: number) => {
    for (const [j, effect] of effects.entries()) profile[j] = effect / scale;
    return Math.log(declared.leakage(profile).worst.leakage / epsilon);
  };
  const whole = total(effects);
  return {
    name: adversary === 'informed' ? 'calculus-informed' : 'calculus',
    scale: whole === 0 ? 0 : leastRoot(excess, (whole / epsilon) * (1 + 1e-9), 1e-9),
    certified: true,
    against: adversary,
    composes: true,
    assumption:
      adversary === 'informed'
        ? 'No dependence is missing from the declared graph, and no odds ratio is larger than declared.'
        : 'No dependence is missing from the declared graph, its tables are the true ones, and the adversary knows no record.',
  };
}
