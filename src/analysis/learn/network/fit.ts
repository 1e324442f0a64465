import {
  makeNetwork,
  type Network,
  type NetworkOrigin,
  type NetworkVariable,
} from '../../../privacy/dependence/model/network.js';

/** A network before its tables: the values and the parents of every variable. */
export interface NetworkShape {
  readonly name: string;
  readonly names: readonly string[];
  readonly values: readonly (readonly string[])[];
  readonly parents: readonly (readonly number[])[];
  readonly origin: NetworkOrigin;
}

/** Conditional tables from counts of each family: row-major over the parents, then the child. */
export function fitNetwork(shape: NetworkShape, familyCounts: (child: number) => ArrayLike<number>): Network {
  const { name, names, values, parents, origin } = shape;
  const variables = names.map(
    (column, x): NetworkVariable => ({
      name: column,
      values: values[x]!,
      parents: parents[x]!,
      table: conditionalTable(familyCounts(x), values[x]!.length),
    }),
  );
  return makeNetwork(name, variables, origin);
}

/** Rows of counts to rows of probabilities. Negative counts (noise) are clamped to zero; a row without any is uniform. */
function conditionalTable(counts: ArrayLike<number>, width: number): Float64Array {
  const table = Float64Array.from(counts, (n) => Math.max(0, n));
  for (let row = 0; row < table.length; row += width) {
    const own = table.subarray(row, row + width);
    const total = own.reduce((a, b) => a + b, 0);
    for (let v = 0; v < width; v++) own[v] = total > 0 ? own[v]! / total : 1 / width;
  }
  return table;
}
