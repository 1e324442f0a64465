import { sha256 } from '../../base/platform/hash.js';
import type { Ledger, SpendEntry } from '../ledger/ledger.js';

const prefix = 'entered:';

/** Key of another publisher's cost; no request has such a key. */
export const enteredKey = (named: string): string => `${prefix}${sha256(named)}`;
/** All costs of other publishers about these people. */
export const enteredIn = (ledger: Pick<Ledger, 'keyed'>, population: string): Promise<readonly SpendEntry[]> =>
  ledger.keyed(population, prefix);
export const isEntered = ({ key }: Pick<SpendEntry, 'key'>): boolean => key.startsWith(prefix);
