import { Fault } from '../../../base/errors.js';
import { add, multiply, type Rational, rational, toNumber } from '../../../base/exact/rational.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import { gridOf, type NumberGrid } from '../../../policy/grid.js';
import type { NumberColumn, Policy } from '../../../policy/policy.js';
import { sumSensitivity } from '../../../query/count/sensitivity.js';
import { streamIndices } from '../../../query/count/stream.js';
import { joinBlocks } from '../network/coded.js';

/**
 * Rows as integer points in the public box. Coordinate c of a row at grid position p is 2p - last, so it lies in [-last, last]:
 * centred, whole, and at most `last` in size. Rows with a missing coordinate are left out.
 */
export interface Points {
  readonly dimensions: number;
  readonly count: number;
  /** Row by row. */
  readonly coordinates: Int32Array;
}

export interface PointBox {
  readonly names: readonly string[];
  readonly grids: readonly NumberGrid[];
}

/** Last position of every column's grid. */
export const lastPositions = ({ grids }: PointBox): readonly number[] => grids.map(({ last }) => last);

export function pointBox(policy: Policy, names: readonly string[]): PointBox {
  if (names.length === 0)
    throw new Fault('QUERY_INVALID', 'No columns were given.', 'List number columns, for example {"columns": ["x", "y"]}.');
  const grids = names.map((name) => {
    const column = policy.columns.get(name);
    if (!column)
      throw new Fault(
        'COLUMN_UNKNOWN',
        `There is no declared column "${name}".`,
        `Declared: ${[...policy.columns.keys()].slice(0, 12).join(', ')}.`,
      );
    if (column.type !== 'number' && column.type !== 'integer')
      throw new Fault(
        'QUERY_INVALID',
        `Column "${name}" is not a number.`,
        'Use integer or number columns with declared bounds.',
      );
    const grid = gridOf(column as NumberColumn);
    if (grid.last < 1)
      throw new Fault(
        'QUERY_INVALID',
        `The box is empty: column "${name}" has only one value.`,
        'Declare bounds with the low one below the high one.',
      );
    if (grid.last >= 2 ** 30)
      throw new Fault('QUERY_INVALID', `The grid of column "${name}" is too fine.`, 'Declare a coarser step.');
    return grid;
  });
  // Requests that a sum would be refused for are refused here, before anything is spent.
  for (const column of names)
    sumSensitivity(policy, { filter: [], keys: [], value: { kind: 'number', column, power: 1, origin: 0n, shift: 0n } });
  return { names, grids };
}

export async function readPoints(engine: Snapshot, policy: Policy, box: PointBox): Promise<Exact<Points>> {
  const d = box.names.length;
  const blocks: Int32Array[] = [];
  let count = 0;
  for await (const part of streamIndices(engine, policy, box.names)) {
    const { rows, columns: positions } = part.open();
    const block = new Int32Array(rows * d);
    let kept = 0;
    for (let r = 0; r < rows; r++) {
      if (positions.some((p) => p[r]! < 0)) continue;
      for (let c = 0; c < d; c++) block[kept * d + c] = 2 * positions[c]![r]! - box.grids[c]!.last;
      kept++;
    }
    blocks.push(block.subarray(0, kept * d));
    count += kept;
  }
  return new Exact({ dimensions: d, count, coordinates: joinBlocks(blocks, new Int32Array(count * d)) });
}

/** A centred coordinate back in the column's own unit: low + step (v + last) / 2. */
export const fromCentred = (grid: NumberGrid, value: number): number => {
  const half: Rational = multiply(grid.step, rational(1, 2));
  return toNumber(add(grid.low, multiply(grid.step, rational(grid.last, 2)))) + value * toNumber(half);
};
