import { toNumberUp, toText } from '../../base/exact/rational.js';
import { costBoxes, isConstantIn, type JointCosts, jointCostAt } from '../mechanism/joint-costs.js';
import { columnsIn, type Slicing } from '../mechanism/record-class.js';
import { isSlicedBaseCost, type JointBaseCost, type SlicedBaseCost } from './base-cost.js';
import { getOrMake } from './bounds-cache.js';
import { distinctComponents } from './graph/distinct.js';
import type { GraphRoute } from './graph-amplifier.js';
import { type LeakageCalculator, leakageCalculator } from './leakage.js';

type Sliceable = Pick<GraphRoute, 'graph' | 'used' | 'values' | 'adversary' | 'reach' | 'pull'>;

/** Limit on recorded results, since an account requests the same costs repeatedly. */
const mostKept = 256;

/**
 * Leakage of the worst record if costs depend on the values of one or several public columns (informed.proof.md, "Costs of one's
 * own"). Undefined if all costs are equal or the values are not known.
 */
export function slicedLeakage(route: Sliceable): (base: SlicedBaseCost | JointBaseCost) => number | undefined {
  const solvers = new Map<Slicing, ReturnType<typeof sliced> | undefined>();
  return (base) => {
    const [slicing, costs] = isSlicedBaseCost(base) ? [base.slicing, base.costs] : [base.together, base.costs];
    const columns = columnsIn(slicing);
    if (isConstantIn(costs, columns.length)) return undefined;
    return getOrMake(solvers, slicing, () => {
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
    return getOrMake(numbers, combination.join(), () => combinations.push(combination) - 1);
  });
  return { columns: each.length, of, at: (place) => combinations[place]! };
}

function sliced({ graph, used, adversary, reach, pull }: Sliceable, places: Places): (costs: JointCosts) => number {
  // Components of one shape whose records have the same values leak the same at any costs.
  const distinct = distinctComponents(graph, used, places.of);
  const own = distinct.values!;
  let made: LeakageCalculator | undefined;
  const answers = new Map<string, number>();
  return (costs) =>
    cachedIn(answers, textOf(costs, places.columns), () => {
      made ??= leakageCalculator(distinct.graph, adversary, { reach, pull });
      const price = new Map<number, number>();
      const recordCosts = Float64Array.from({ length: distinct.graph.records }, (_, u) =>
        distinct.used && !distinct.used[u]
          ? 0
          : getOrMake(price, own[u]!, () => toNumberUp(jointCostAt(costs, places.at(own[u]!)))),
      );
      return made.leakage(recordCosts).worst.leakage;
    });
}

function cachedIn(answers: Map<string, number>, key: string, make: () => number): number {
  if (answers.size >= mostKept) answers.clear();
  return getOrMake(answers, key, make);
}

const textOf = (costs: JointCosts, columns: number): string =>
  costBoxes(costs, columns)
    .map(({ box, cost }) => `${box.map((ends) => (ends ? `${ends.from}..${ends.to}` : '*')).join(';')} ${toText(cost)}`)
    .join();
