import { toNumberUp, toText } from '../../base/exact/rational.js';
import { columnsIn, type Slicing } from '../mechanism/record-class.js';
import { type Costs, costAtAll, isLevelIn, partsOf } from '../mechanism/together.js';
import { isSlicedBase, type SlicedBase, type TogetherBase } from './base.js';
import { distinctComponents } from './graph/distinct.js';
import type { GraphRoute } from './graph-amplifier.js';
import { remembered } from './kept-bounds.js';
import { type Ties, ties } from './leakage.js';

type Sliceable = Pick<GraphRoute, 'graph' | 'used' | 'values' | 'adversary' | 'reach' | 'pull'>;

/** Limit on recorded results, since an account requests the same costs repeatedly. */
const mostKept = 256;

/**
 * Leakage of the worst record if costs depend on the values of one or several public columns (informed.proof.md, "Costs of one's
 * own"). Undefined if all costs are equal or the values are not known.
 */
export function slicedLeakage(route: Sliceable): (base: SlicedBase | TogetherBase) => number | undefined {
  const asked = new Map<Slicing, ReturnType<typeof sliced> | undefined>();
  return (base) => {
    const [slicing, costs] = isSlicedBase(base) ? [base.slicing, base.costs] : [base.together, base.costs];
    const columns = columnsIn(slicing);
    if (isLevelIn(costs, columns.length)) return undefined;
    return remembered(asked, slicing, () => {
      const places = placesOf(route, columns);
      return places && sliced(route, places);
    })?.(costs);
  };
}

/** The values of each record, numbered by their combinations. */
interface Places {
  readonly columns: number;
  readonly of: Float64Array;
  readonly at: (place: number) => readonly number[];
}

function placesOf({ values }: Sliceable, columns: readonly Slicing[]): Places | undefined {
  const each = columns.map((column) => values?.get(column));
  if (!each.every((list) => list !== undefined)) return undefined;
  if (each.length === 1) return { columns: 1, of: each[0]!, at: (value) => [value] };
  const [numbers, combinations] = [new Map<string, number>(), [] as number[][]];
  const of = Float64Array.from(each[0]!, (_, record) => {
    const combination = each.map((list) => list[record]!);
    return remembered(numbers, combination.join(), () => combinations.push(combination) - 1);
  });
  return { columns: each.length, of, at: (place) => combinations[place]! };
}

function sliced({ graph, used, adversary, reach, pull }: Sliceable, places: Places): (costs: Costs) => number {
  // Components of one shape whose records have the same values leak the same at any costs.
  const distinct = distinctComponents(graph, used, places.of);
  const own = distinct.values!;
  let made: Ties | undefined;
  const kept = new Map<string, number>();
  return (costs) =>
    keptIn(kept, textOf(costs, places.columns), () => {
      made ??= ties(distinct.graph, adversary, { reach, ...(pull && { pull }) });
      const price = new Map<number, number>();
      const profile = Float64Array.from({ length: distinct.graph.records }, (_, u) =>
        distinct.used && !distinct.used[u]
          ? 0
          : remembered(price, own[u]!, () => toNumberUp(costAtAll(costs, places.at(own[u]!)))),
      );
      return made.leakage(profile).worst.leakage;
    });
}

function keptIn(kept: Map<string, number>, key: string, make: () => number): number {
  if (kept.size >= mostKept) kept.clear();
  return remembered(kept, key, make);
}

const textOf = (costs: Costs, columns: number): string =>
  partsOf(costs, columns)
    .map(({ box, cost }) => `${box.map((ends) => (ends ? `${ends.from}..${ends.to}` : '*')).join(';')} ${toText(cost)}`)
    .join();
