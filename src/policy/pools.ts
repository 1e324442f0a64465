import type { ColumnDeclaration, ColumnEntryOf } from './columns.js';
import { didYouMean } from './suggest.js';

/**
 * Levels of a column that are counted as one: those the policy lists, else those that are rare by the codebook's public shares.
 */
export function declarePools(
  { name, entry, book, wrong }: ColumnDeclaration<ColumnEntryOf<'category'>>,
  values: readonly string[],
  pool: number | undefined,
): readonly (readonly string[])[] {
  const shares = book?.shares;
  if (entry.pools) return listed(name, entry.pools, values, wrong);
  if (pool === undefined || !shares) return [];
  const unknown = values.find((code) => !shares.has(code));
  if (unknown !== undefined)
    throw wrong(
      ['pool'],
      `The codebook gives shares for some codes of "${name}" but not for "${unknown}".`,
      'Give every code a share, or none.',
    );
  const rare = rareTogether(values, (code) => shares.get(code)!, pool);
  return rare.length > 1 ? [rare] : [];
}

function listed(
  name: string,
  pools: readonly (readonly string[])[],
  values: readonly string[],
  wrong: ColumnDeclaration['wrong'],
) {
  const seen = new Set<string>();
  const place = new Map(values.map((code, at) => [code, at]));
  for (const [i, pool] of pools.entries()) {
    const path = ['pools', i];
    if (pool.length < 2) throw wrong(path, `A pool of "${name}" has fewer than two codes.`, 'List the codes that count as one.');
    for (const code of pool) {
      if (!place.has(code))
        throw wrong(
          path,
          `A pool of "${name}" has the code "${code}", which the column does not have.`,
          didYouMean(code, values, 'Its codes'),
        );
      if (seen.has(code)) throw wrong(path, `The code "${code}" of "${name}" is pooled twice.`, 'A code is in one pool at most.');
      seen.add(code);
    }
  }
  // in the order the values have, so that a pool's name does not depend on how it was typed
  return pools.map((pool) => pool.toSorted((a, b) => place.get(a)! - place.get(b)!));
}

/** Codes below the share, and the next rarest until they reach it together. */
function rareTogether(values: readonly string[], share: (code: string) => number, least: number): readonly string[] {
  const rare = new Set<string>();
  let together = 0;
  for (const code of [...values].sort((a, b) => share(a) - share(b)))
    if (share(code) < least || (rare.size > 0 && together < least)) {
      rare.add(code);
      together += share(code);
    }
  return values.filter((code) => rare.has(code));
}
