import { toNumberUp, toText } from '../exact/rational.js';
import type { Slicing } from '../mechanism/record-class.js';
import { costAt, isLevel, type Slices } from '../mechanism/slices.js';
import type { SlicedBase } from './base.js';
import { distinctComponents } from './graph/distinct.js';
import type { GraphRoute } from './graph-amplifier.js';
import { remembered } from './kept-bounds.js';
import { type Ties, ties } from './leakage.js';

type Sliceable = Pick<GraphRoute, 'graph' | 'used' | 'values' | 'adversary' | 'reach' | 'pull'>;

/** How many answers are kept: an account asks for the same costs again and again. */
const mostKept = 256;

/**
 * What an attacker gains about the worst record where records spend by their value of a public column: each has its own cost, those of others reach it over the ties
 * (informed.proof.md, "Costs of one's own"). Undefined where one number says it, or the values are not known.
 */
export function slicedLeakage(route: Sliceable): (base: SlicedBase) => number | undefined {
  const asked = new Map<Slicing, ReturnType<typeof sliced>>();
  return ({ slicing, costs }) => {
    const values = route.values?.get(slicing);
    if (!values || isLevel(costs)) return undefined;
    return remembered(asked, slicing, () => sliced(route, values))(costs);
  };
}

function sliced({ graph, used, adversary, reach, pull }: Sliceable, values: Float64Array): (costs: Slices) => number {
  // Components of one shape whose records have the same values leak the same, whatever the values cost.
  const distinct = distinctComponents(graph, used, values);
  const own = distinct.values!;
  let made: Ties | undefined;
  const kept = new Map<string, number>();
  return (costs) =>
    keptIn(kept, textOf(costs), () => {
      made ??= ties(distinct.graph, adversary, { reach, ...(pull && { pull }) });
      const price = new Map<number, number>();
      const profile = Float64Array.from({ length: distinct.graph.records }, (_, u) =>
        distinct.used && !distinct.used[u] ? 0 : remembered(price, own[u]!, () => toNumberUp(costAt(costs, own[u]!))),
      );
      return made.leakage(profile).worst.leakage;
    });
}

function keptIn(kept: Map<string, number>, key: string, make: () => number): number {
  if (kept.size >= mostKept) kept.clear();
  return remembered(kept, key, make);
}

const textOf = ({ runs, missing }: Slices): string =>
  [...runs.map(({ from, to, cost }) => `${from}..${to} ${toText(cost)}`), toText(missing)].join();
