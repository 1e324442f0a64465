import type { RecordClass } from './record-class.js';

/** Sensitivity of a vector of whole numbers: the largest change by replacing one record, for any old and new value. */
export interface Effect {
  readonly l1: bigint;
  readonly l2squared: bigint;
}
/** Sensitivity per record class; absent classes have none. */
export type Effects = ReadonlyMap<RecordClass, Effect>;
export type Scope = (record: RecordClass) => boolean;

export const effectOn = (classes: Iterable<RecordClass>, effect: Effect): Effects =>
  new Map([...classes].map((name) => [name, effect] as const));

export const largest = (effects: Effects, size: keyof Effect, scope: Scope = () => true): bigint => {
  let most = 0n;
  for (const [name, effect] of effects) if (scope(name) && effect[size] > most) most = effect[size];
  return most;
};
