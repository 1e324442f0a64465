import type { ReleaseContext } from './charge.js';
import type { RequestKeys } from './request-key.js';

/** The key that a request is answered or completed under: its own, unless only version 0.2 has recorded or reserved it. */
export async function keyOnRecord(
  { ledger, policy: { population } }: Pick<ReleaseContext, 'ledger' | 'policy'>,
  { key, former }: RequestKeys,
  fresh = false,
): Promise<string> {
  const isKnown = async (own: string): Promise<boolean> =>
    (!fresh && (await ledger.replay(population, own)) !== undefined) ||
    (await ledger.unanswered?.(population, own)) !== undefined;
  if (former.length === 0 || (await isKnown(key))) return key;
  for (const own of former) if (await isKnown(own)) return own;
  return key;
}
