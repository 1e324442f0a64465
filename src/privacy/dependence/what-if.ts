import { addUp, logUp } from '../../base/exact/outward.js';
import type { WhatIf } from './amplifier.js';
import type { BoundsKey } from './bounds-cache.js';
import { type FactorGraph, withOdds } from './graph/factor-graph.js';
import { withPendants } from './graph/pendants.js';
import { largeWhatIf } from './large-what-if.js';
import { isLarge, type LeakageCalculator, leakageCalculator, withTwins } from './leakage.js';

/**
 * Upper bounds on leakage at a base if ties were stronger or more than declared. `known`: the same ties, if they were laid out
 * before.
 */
export function whatIfOf(question: BoundsKey, base: number, known?: LeakageCalculator): readonly WhatIf[] {
  const { graph, adversary, reach, pull, used } = question;
  if (isLarge(graph)) return inWords(largeWhatIf(question, base, known));
  const worst = (on: FactorGraph, mask: Uint8Array | undefined): number =>
    leakageCalculator(on, adversary, { reach, ...(pull && { pull }), ...(mask && { used: mask }) }).worst(base);
  const times = (k: number) =>
    worst(
      withOdds(graph, (d) => addUp(d, logUp(k))),
      used,
    );
  // Twins of unused records would be unused too; a new neighbour would not.
  const oneMore = used
    ? Math.max(worst(withTwins(graph), sideBySide(used, used)), worst(withPendants(graph), sideBySide(used)))
    : worst(withTwins(graph), undefined);
  return inWords({ twice: times(2), fourTimes: times(4), oneMore });
}

export interface WhatIfLeakages {
  readonly twice: number;
  readonly fourTimes: number;
  readonly oneMore: number;
}

const inWords = ({ twice, fourTimes, oneMore }: WhatIfLeakages): readonly WhatIf[] => [
  { change: 'odds ratios twice as large', leakage: twice },
  { change: 'odds ratios four times as large', leakage: fourTimes },
  { change: 'one more tie per record', leakage: oneMore },
];

/** Two sets of records side by side; everybody of the second when it is not given. */
function sideBySide(first: Uint8Array, second?: Uint8Array): Uint8Array {
  const both = new Uint8Array(2 * first.length).fill(1);
  both.set(first);
  if (second) both.set(second, first.length);
  return both;
}
