import type * as z from 'zod';
import { toNumber } from '../base/exact/rational.js';
import { codesOf, codeText } from './code.js';
import type { Column, Design } from './policy.js';
import { invalid } from './problems.js';
import type { designShape } from './schema.js';
import { didYouMean } from './suggest.js';
import type { YamlFile } from './yaml-file.js';

/** Sample design as the policy declares it; nothing of it is read from the data. */
export function declareDesign(
  { effect, clusters, population, weights, strata }: z.output<typeof designShape>,
  columns: ReadonlyMap<string, Column>,
  yaml: YamlFile,
): Design {
  const clustered = clusters ? 1 + (toNumber(clusters.size) - 1) * toNumber(clusters.alike) : 1;
  const mixed = clusters?.mixed;
  if (mixed) refuseUnknown(mixed, columns, yaml);
  return {
    effect: (effect ? toNumber(effect) : 1) * clustered,
    ...(mixed && { clusters: { effect: clustered, mixed } }),
    ...(population && { population: toNumber(population) }),
    ...(weights && { weights: weightsOf(weights, columns, yaml) }),
    ...(strata && { strata: strataOf(strata, columns, yaml) }),
  };
}

function refuseUnknown(mixed: readonly string[], columns: ReadonlyMap<string, Column>, yaml: YamlFile): void {
  const unknown = mixed.find((name) => !columns.has(name));
  if (unknown !== undefined)
    throw invalid(
      yaml,
      ['design', 'clusters', 'mixed'],
      `Clusters are said to be mixed by "${unknown}", which is no declared column.`,
      didYouMean(unknown, [...columns.keys()], 'Columns'),
    );
}

type Weights = NonNullable<z.output<typeof designShape>['weights']>;
function weightsOf({ column, mean, effect }: Weights, columns: ReadonlyMap<string, Column>, yaml: YamlFile) {
  if (columns.get(column)?.type === 'weight') return { column, mean: toNumber(mean), effect: toNumber(effect) };
  throw invalid(
    yaml,
    ['design', 'weights', 'column'],
    `The weights of the design are "${column}", which is no declared weight.`,
    `Declare it: ${column}: {type: weight, bounds: [0, 5], step: 0.01}.`,
  );
}

type Strata = NonNullable<z.output<typeof designShape>['strata']>;
function strataOf({ column: name, sizes }: Strata, columns: ReadonlyMap<string, Column>, yaml: YamlFile) {
  const column = columns.get(name);
  if (column?.type !== 'category')
    throw invalid(
      yaml,
      ['design', 'strata', 'column'],
      `The strata are given by "${name}", which is no declared category.`,
      didYouMean(
        name,
        [...columns.values()].filter(({ type }) => type === 'category').map((c) => c.name),
        'Categories',
      ),
    );
  const declared = new Map(Object.entries(sizes).map(([code, size]) => [codeText(code), toNumber(size)]));
  const codes = codesOf(column);
  const odd = [...declared.keys()].find((code) => !codes.includes(code)) ?? codes.find((code) => !declared.has(code));
  if (odd !== undefined)
    throw invalid(
      yaml,
      ['design', 'strata', 'sizes'],
      `The sizes of the strata and the values of "${name}" differ ("${odd}").`,
      `Give a size to each of ${codes.join(', ')}, and to no other.`,
    );
  return { column: name, sizes: declared };
}
