import { reachOf } from '../../../policy/pairs/reach.js';
import type { Policy } from '../../../policy/policy.js';
import type { Allowance } from '../../../release/session/allowance.js';
import type { Box } from './points.js';
import type { Near } from './variant.js';

/** What a policy's pairs say about points. Ties move others by their full range, so noise is fitted to pairs among strangers only (privacy/mechanism/pairs.proof.md). */
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
