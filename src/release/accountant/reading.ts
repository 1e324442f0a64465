import type { Condition, Need } from '../../privacy/dependence/condition.js';
import { coarseColumns } from '../../privacy/dependence/model/resolution.js';
import type { Profile } from '../../privacy/mechanism/profile.js';
import { isPart } from '../../privacy/mechanism/record-class.js';
import { isDistinct } from '../../query/count/groups.js';
import type { Measure } from '../../query/count/measure.js';
import { readsWithin } from '../../query/count/reads-within.js';

/** Properties of a request that conditions of routes depend on. Public facts of the request alone. */
export interface Reading {
  /** Absent where only the cost of a request is known: it then meets no condition on measures. */
  readonly measures?: readonly Measure[];
  /** For a request without measures: all its noise is on sums with one separate term per record, given earlier outputs. */
  readonly sums?: boolean;
  /** Proven for add-remove neighbours, too. */
  readonly comesAndGoes?: boolean;
  /** Its cost covers all records that change together under known totals. */
  readonly together?: boolean;
  /** Reads more than the rows that releases may use (relations), so that records outside those rows pay for it too. */
  readonly beyond?: boolean;
}

const checks: { readonly [K in Need['kind']]: (need: Extract<Need, { kind: K }>, reading: Reading) => boolean } = {
  rows: (_, { beyond }) => beyond !== true,
  // Over rows every count is a sum, except a count of distinct values: a record's contribution depends on the others.
  // Over answers it is a sum only if it depends on a single answer: another answer's contribution to a cross table depends on the first.
  sums: (_, { measures, sums }) =>
    measures
      ? measures.every((m) => m.mechanism !== 'exponential' && !isDistinct(m.counting) && answersMoving(m) <= 1)
      : sums === true,
  // A route without coarse levels covers every reading: nothing is finer than the declared values.
  levels: ({ resolution }, { measures }) =>
    coarseColumns(resolution).length === 0 || measures?.every(({ counting }) => readsWithin(counting, resolution)) === true,
};
const answersMoving = (m: Measure): number => [...m.effects.keys()].filter(isPart).length;

const check = (need: Need, reading: Reading): boolean =>
  (checks[need.kind] as (need: Need, reading: Reading) => boolean)(need, reading);

/** Pure noise on anything is covered by a route for Gaussian noise on sums. */
export const binds = ({ need }: Condition, noise: Profile['noise']): boolean => need.kind !== 'sums' || noise === 'zcdp';

export const meets = (condition: Condition, noise: Profile['noise'], reading: Reading): boolean =>
  !binds(condition, noise) || check(condition.need, reading);
