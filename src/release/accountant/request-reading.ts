import type { ConditionNeed, ReleaseCondition } from '../../privacy/dependence/condition.js';
import { coarseColumns } from '../../privacy/dependence/model/resolution.js';
import type { PrivacyCost } from '../../privacy/mechanism/privacy-cost.js';
import { isDataPart } from '../../privacy/mechanism/record-class.js';
import { isDistinct } from '../../query/count/groups.js';
import { dependsOnLevels } from '../../query/count/level-dependence.js';
import type { Measure } from '../../query/count/measure.js';

/** Properties of a request that conditions of routes depend on. Public facts of the request alone. */
export interface RequestReading {
  /** Absent where only the cost of a request is known: it then meets no condition on measures. */
  readonly measures?: readonly Measure[];
  /** For a request without measures: all its noise is on sums with one separate term per record, given earlier outputs. */
  readonly sums?: boolean;
  /** Proven for add-remove neighbours, too. */
  readonly addRemove?: boolean;
  /** Its cost covers all records that change together under known totals. */
  readonly knownTotals?: boolean;
  /** Reads more than the rows that releases may use (relations), so that records outside those rows pay for it too. */
  readonly allRows?: boolean;
}

const checks: {
  readonly [K in ConditionNeed['kind']]: (need: Extract<ConditionNeed, { kind: K }>, reading: RequestReading) => boolean;
} = {
  rows: (_, { allRows }) => allRows !== true,
  // Over rows every count is a sum, except a count of distinct values: a record's contribution depends on the others.
  // Over answers it is a sum only if it depends on a single answer: another answer's contribution to a cross table depends on the first.
  sums: (_, { measures, sums }) =>
    measures
      ? measures.every((m) => m.mechanism !== 'exponential' && !isDistinct(m.counting) && answersMoving(m) <= 1)
      : sums === true,
  // A route without coarse levels covers every reading: nothing is finer than the declared values.
  levels: ({ resolution }, { measures }) =>
    coarseColumns(resolution).length === 0 || measures?.every(({ counting }) => dependsOnLevels(counting, resolution)) === true,
};
const answersMoving = (m: Measure): number => [...m.sensitivity.keys()].filter(isDataPart).length;

const check = (need: ConditionNeed, reading: RequestReading): boolean =>
  (checks[need.kind] as (need: ConditionNeed, reading: RequestReading) => boolean)(need, reading);

/** Pure noise on anything is covered by a route for Gaussian noise on sums. */
export const binds = ({ need }: ReleaseCondition, noise: PrivacyCost['noise']): boolean =>
  need.kind !== 'sums' || noise === 'zcdp';

export const meets = (condition: ReleaseCondition, noise: PrivacyCost['noise'], reading: RequestReading): boolean =>
  !binds(condition, noise) || check(condition.need, reading);

/** True if a request with this kind of noise meets all conditions of a route. */
export const meetsAll = (
  { conditions }: { readonly conditions: readonly ReleaseCondition[] },
  noise: PrivacyCost['noise'],
  reading: RequestReading,
): boolean => conditions.every((condition) => meets(condition, noise, reading));
