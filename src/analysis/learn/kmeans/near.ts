import { reachOf } from '../../../policy/pairs/reach.js';
import type { Policy } from '../../../policy/policy.js';
import type { Allowance } from '../../../release/session/allowance.js';
import type { Box } from './points.js';
import type { Near } from './variant.js';

/**
 * Distances of a policy's pairs of values in points. Ties move others by their full range, so such noise is used without ties only
 * (privacy/mechanism/pairs.proof.md).
 */
export function nearIn({ protect }: Policy, box: Box, { route }: Pick<Allowance, 'route'>): Near | undefined {
  const { pairs, secret } = protect;
  if (!pairs || (secret !== 'row' && secret !== 'step') || !route.amplifier.strangers || route.pairs !== pairs.digest)
    return undefined;
  const own = box.names.map((name) => pairs.columns.get(name));
  return {
    digest: pairs.digest,
    reach: own.map((column, c) => reachOf(column, box.grids[c]!.last)),
    leads: own.some((column) => column === undefined || column.missing === 'any'),
  };
}
