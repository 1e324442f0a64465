import { leastRoot } from '../../audit/least-root.js';
import { largest } from '../compare/mechanism.js';
import { type Law, monotonePlan } from './wasserstein-distance.js';

/**
 * The least Laplace scale for which, along the monotone plan, E[e^{|X-Y|/scale} | Y=y] <= e^epsilon for every y, and the same with X and Y
 * exchanged: a relaxation of W-infinity (Ding, AISTATS'22, as a condition on any coupling). For one pair of laws on the line, one release, no known
 * records. It is enough because p(o|x) <= e^{|x-y|/scale} p(o|y): average over X given Y=y, then over Y.
 */
export function couplingScale(from: Law, to: Law, epsilon: number): number {
  const plan = monotonePlan(from, to);
  const distance = largest(plan.map((p) => Math.abs(p.from - p.to)));
  if (distance === 0) return 0;
  const excess = (scale: number) =>
    largest([moments(plan, (p) => p.to, scale), moments(plan, (p) => p.from, scale)].flat()) - epsilon;
  return leastRoot(excess, (distance / epsilon) * (1 + 1e-12));
}

type Plan = ReturnType<typeof monotonePlan>;

/** log E[e^{|X-Y|/scale} | end], for each point of one end. */
function moments(plan: Plan, end: (p: Plan[number]) => number, scale: number): number[] {
  const sums = new Map<number, { mass: number; moment: number }>();
  for (const p of plan) {
    const at = sums.get(end(p)) ?? { mass: 0, moment: 0 };
    sums.set(end(p), { mass: at.mass + p.share, moment: at.moment + p.share * Math.exp(Math.abs(p.from - p.to) / scale) });
  }
  return [...sums.values()].map(({ mass, moment }) => Math.log(moment / mass));
}
