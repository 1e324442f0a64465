import { isZero, toNumberUp } from '../exact/rational.js';
import type { Adversary } from '../policy/policy.js';
import type { Amplifier } from './amplifier.js';
import type { FactorGraph } from './factor-graph.js';
import { largestBaseOf, ties, whatIf } from './leakage.js';
import type { Model } from './model.js';
import { type Percolation, percolation } from './percolation.js';
import type { RecordClass } from './profile.js';

export interface GraphRoute {
  readonly name: string;
  readonly graph: FactorGraph;
  /** The model the graph was read from, where its tables are known: an uninformed adversary gains less than its odds ratios allow. */
  readonly model?: Model;
  readonly scope: (record: RecordClass) => boolean;
  readonly adversary: Adversary;
  readonly reach: 'any' | 'direct';
  readonly assumptions: readonly string[];
  readonly how: string;
}

/** The calculus on a factor graph, with one common base for all records. */
export function graphAmplifier(route: GraphRoute): Amplifier {
  const { graph, model, adversary, reach } = route;
  const asked = ties(model && adversary === 'uninformed' ? model : graph, adversary, { reach });
  // Gaussian noise is always accounted against the informed adversary; its clusters are only worked out when somebody asks.
  let clusters: Percolation | undefined;
  const gaussian = (): Percolation => {
    clusters ??= percolation(graph);
    return clusters;
  };
  return {
    name: route.name,
    scope: route.scope,
    leakage: (base) => (isZero(base) ? 0 : asked.leakage(toNumberUp(base)).worst.leakage),
    largestBase: (epsilon) => largestBaseOf(asked, epsilon),
    approximate: (rho, delta) => gaussian().epsilon(rho, delta),
    largestRho: (epsilon, delta) => gaussian().largestRho(epsilon, delta),
    whatIf: (base) => {
      if (graph.factors === 0) return [];
      const { oddsTimes2, oddsTimes4, oneMoreTie } = whatIf(graph, toNumberUp(base));
      return [
        { change: 'odds ratios twice as large', leakage: oddsTimes2 },
        { change: 'odds ratios four times as large', leakage: oddsTimes4 },
        { change: 'one more tie per record', leakage: oneMoreTie },
      ];
    },
    factoredOnly: false,
    assumptions: route.assumptions,
    how: route.how,
  };
}
