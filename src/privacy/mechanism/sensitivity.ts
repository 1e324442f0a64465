import type { RecordClass } from './record-class.js';

/**
 * Sensitivity of a vector of whole numbers: the largest change between neighbours of the policy (one record replaced, or added or
 * removed), for any values of the record.
 */
export interface Sensitivity {
  readonly l1: bigint;
  readonly l2squared: bigint;
}
/** Sensitivity per record class; absent classes have none. */
export type RecordSensitivity = ReadonlyMap<RecordClass, Sensitivity>;
export type ClassScope = (record: RecordClass) => boolean;

export const sensitivityOn = (classes: Iterable<RecordClass>, sensitivity: Sensitivity): RecordSensitivity =>
  new Map([...classes].map((name) => [name, sensitivity] as const));

export const largestSensitivity = (
  sensitivities: RecordSensitivity,
  size: keyof Sensitivity,
  scope: ClassScope = () => true,
): bigint => {
  let most = 0n;
  for (const [name, sensitivity] of sensitivities) if (scope(name) && sensitivity[size] > most) most = sensitivity[size];
  return most;
};
