import { createHash } from 'node:crypto';
import type { Entry, Ledger } from '../ledger/ledger.js';

const prefix = 'entered:';

/** The key of what somebody else spent; no request has one like it. */
export const enteredKey = (named: string): string => `${prefix}${createHash('sha256').update(named).digest('hex')}`;
/** Everything that somebody else spent on these people. */
export const enteredIn = (ledger: Pick<Ledger, 'keyed'>, population: string): Promise<readonly Entry[]> =>
  ledger.keyed(population, prefix);
export const isEntered = ({ key }: Pick<Entry, 'key'>): boolean => key.startsWith(prefix);
