import { fromNumber, nextDown, type Rational, toNumberDown, toNumberUp, zero } from '../exact/rational.js';
import type { Adversary } from '../policy/policy.js';
import type { Amplifier } from './amplifier.js';
import type { FactorGraph } from './factor-graph.js';
import { informed } from './informed.js';
import type { RecordClass } from './profile.js';
import { walk } from './walk.js';
import { approximateEpsilon, zcdpCurve } from './zcdp.js';

export interface GraphRoute {
  readonly name: string;
  readonly graph: FactorGraph;
  readonly scope: (record: RecordClass) => boolean;
  readonly adversary: Adversary;
  readonly reach: 'any' | 'direct';
  readonly assumptions: readonly string[];
  readonly how: string;
}

/** The calculus on a factor graph, with one common base for all records. */
export function graphAmplifier(route: GraphRoute): Amplifier {
  const { graph } = route;
  const walked = walk(graph);
  const worst = (base: number): number =>
    base === 0
      ? 0
      : informed(graph, new Float64Array(graph.records).fill(base), walked).leaks.reduce((m, x) => Math.max(m, x), 0);
  let group = 1;
  for (let c = 0; c < walked.components; c++) group = Math.max(group, walked.componentStart[c + 1]! - walked.componentStart[c]!);
  const approximate = (rho: number, delta: number) => approximateEpsilon(zcdpCurve(rho * group * group), delta);
  return {
    name: route.name,
    scope: route.scope,
    leakage: (base) => worst(toNumberUp(base)),
    largestBase: (epsilon) => largest(worst, toNumberDown(epsilon), toNumberDown(epsilon)),
    approximate: (rho, delta) => approximate(toNumberUp(rho), toNumberDown(delta)),
    largestRho: (epsilon, delta) => {
      const e = toNumberDown(epsilon);
      const d = toNumberDown(delta);
      return largest((rho) => approximate(rho, d), e, e + 1);
    },
    whatIf: () => [],
    factoredOnly: false,
    assumptions: route.assumptions,
    how: route.how,
  };
}

/** The largest x up to `top` with value(x) <= limit, for an increasing value; rounded down to a short fraction and checked. */
export function largest(value: (x: number) => number, limit: number, top: number): Rational {
  if (value(top) <= limit) return fromNumber(top);
  let low = 0;
  let high = top;
  for (let k = 0; k < 60 && high - low > 1e-12 * high; k++) {
    const middle = (low + high) / 2;
    if (value(middle) <= limit) low = middle;
    else high = middle;
  }
  const short = low > 0 ? 2 ** (Math.floor(Math.log2(low)) - 40) : 0;
  const rounded = short > 0 ? Math.floor(low / short) * short : 0;
  return rounded > 0 && value(rounded) <= limit ? fromNumber(rounded) : low > 0 ? fromNumber(nextDown(low)) : zero;
}
