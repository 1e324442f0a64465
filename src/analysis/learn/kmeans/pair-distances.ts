import { largestPairSpan } from '../../../policy/pairs/pair-span.js';
import type { Policy } from '../../../policy/policy.js';
import type { Allowance } from '../../../release/session/allowance.js';
import type { PointBox } from './points.js';
import type { PairDistances } from './variant.js';

/**
 * Distances of a policy's pairs of values in points. Ties move others by their full range, so such noise is used without ties only
 * (privacy/mechanism/pairs.proof.md).
 */
export function pairDistancesIn(
  { protect }: Policy,
  box: PointBox,
  { route }: Pick<Allowance, 'route'>,
): PairDistances | undefined {
  const { pairs, secret } = protect;
  if (!pairs || (secret !== 'row' && secret !== 'step') || !route.amplifier.strangers || route.pairs !== pairs.digest)
    return undefined;
  const own = box.names.map((name) => pairs.columns.get(name));
  return {
    digest: pairs.digest,
    reach: own.map((column, c) => largestPairSpan(column, box.grids[c]!.last)),
    leads: own.some((column) => column === undefined || column.missing === 'any'),
  };
}
