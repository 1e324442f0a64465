/** In profiles and in the ledger, stands for every record. */
export const everyRecord = '*';

/** Notes on how a cost was paid stand beside the classes of records: `used:…`, `levels:…`, `sums:…` (condition.ts); `once:…` may be paid one time only. */
export const isMark = (name: string): boolean => /^(used|once|levels|sums):/.test(name);
