import type { Snapshot } from '../../data/engine/engine.js';
import type { Policy } from '../../policy/policy.js';
import { countCells } from './count.js';
import { totalMeasure } from './margin-cells.js';

/** Agreement of the data with published totals. As private as the rows: it is one more answer about them. */
export interface KnownAgreement {
  readonly total: string;
  /** Number of cells that differ from the published ones; absent where no numbers are declared. */
  readonly different?: number;
}

export async function compareKnown(data: Snapshot, policy: Policy): Promise<readonly KnownAgreement[]> {
  const { totals = [], descriptions = [] } = policy.known ?? {};
  const counted = await countCells(
    data,
    policy,
    totals.map((total) => totalMeasure(policy, total)),
  );
  return totals.map(({ values }, k) => {
    const found = counted[k]!.open();
    return {
      total: descriptions[k]!,
      ...(values && { different: values.filter((value, cell) => value !== found[cell]).length }),
    };
  });
}
