import { createHash } from 'node:crypto';
import type { Entry } from '../ledger/ledger.js';

const prefix = 'entered:';

/** The key of what somebody else spent; no request has one like it. */
export const enteredKey = (named: string): string => `${prefix}${createHash('sha256').update(named).digest('hex')}`;
export const isEntered = ({ key }: Pick<Entry, 'key'>): boolean => key.startsWith(prefix);
