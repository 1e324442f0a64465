import { addUp, logUp } from '../../base/exact/outward.js';
import type { WhatIf } from './amplifier.js';
import type { BoundsKey } from './bounds-cache.js';
import { type FactorGraph, isLarge, withOdds } from './graph/factor-graph.js';
import { withPendants, withTwins } from './graph/one-more-tie.js';
import { largeWhatIf } from './large-what-if.js';
import { type LeakageCalculator, leakageBounds, leakageCalculator } from './leakage.js';
import { type GraphOrModel, graphOf } from './model/model-graph.js';

/** Worst leakage if the declaration were too weak. */
export interface WhatIfLeakage {
  readonly oddsTimes2: number;
  readonly oddsTimes4: number;
  readonly oneMoreTie: number;
}

/**
 * Upper bounds on leakage at a base if ties were stronger or more than declared. `known`: the same ties, if they were laid out
 * before.
 */
export function whatIfOf(question: BoundsKey, base: number, known?: LeakageCalculator): readonly WhatIf[] {
  const { graph, adversary, reach, pull, used } = question;
  if (isLarge(graph)) return whatIfWords(largeWhatIf(question, base, known));
  const worst = (on: FactorGraph, mask: Uint8Array | undefined): number =>
    leakageCalculator(on, adversary, { reach, pull, used: mask }).worst(base);
  // Twins of unused records would be unused too; a new neighbour would not.
  const oneMoreTie = used
    ? Math.max(worst(withTwins(graph), sideBySide(used, used)), worst(withPendants(graph), sideBySide(used)))
    : worst(withTwins(graph), undefined);
  return whatIfWords({ ...stronger(graph, (on) => worst(on, used)), oneMoreTie });
}

/** Worst informed leakage. */
export function whatIf(subject: GraphOrModel, base: number): WhatIfLeakage {
  const graph = graphOf(subject);
  const worst = (on: FactorGraph) => leakageBounds(on, base, 'informed').worst.leakage;
  return { ...stronger(graph, worst), oneMoreTie: worst(withTwins(graph)) };
}

function stronger(graph: FactorGraph, worst: (on: FactorGraph) => number): Omit<WhatIfLeakage, 'oneMoreTie'> {
  const times = (k: number) => worst(withOdds(graph, (d) => addUp(d, logUp(k))));
  return { oddsTimes2: times(2), oddsTimes4: times(4) };
}

export const whatIfWords = ({ oddsTimes2, oddsTimes4, oneMoreTie }: WhatIfLeakage): readonly WhatIf[] => [
  { change: 'odds ratios twice as large', leakage: oddsTimes2 },
  { change: 'odds ratios four times as large', leakage: oddsTimes4 },
  { change: 'one more tie per record', leakage: oneMoreTie },
];

/** Two sets of records side by side; everybody of the second when it is not given. */
function sideBySide(first: Uint8Array, second?: Uint8Array): Uint8Array {
  const both = new Uint8Array(2 * first.length).fill(1);
  both.set(first);
  if (second) both.set(second, first.length);
  return both;
}
