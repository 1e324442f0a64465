import { isPositive, type Rational } from '../../base/exact/rational.js';
import type { Policy } from '../../policy/policy.js';
import type { Amplifier, GaussianBound } from '../../privacy/dependence/amplifier.js';
import type { ReleaseCondition } from '../../privacy/dependence/condition.js';
import type { BudgetShare } from '../../privacy/mechanism/budget-share.js';
import {
  composeCosts,
  inZcdp,
  type PrivacyCost,
  type PureCost,
  pureCost,
  type SpentCosts,
  withoutZcdp,
  withZcdpCost,
  zcdpCost,
} from '../../privacy/mechanism/privacy-cost.js';
import { answersTo, everyRecord, type RecordClass, type Slicing } from '../../privacy/mechanism/record-class.js';
import type { SliceSelection } from './by-slice.js';
import { binds, meets, type RequestReading } from './request-reading.js';
import type { AccountSource } from './sources.js';

/**
 * The accountant's book of one population: its budget in base costs. A route is one proven way from costs to leakage; the account holds while one route admits
 * all costs together. Epsilons are never added: base costs are, and each route converts once.
 */
export interface Account {
  /** Recorded in the ledger when the account opens. */
  readonly terms: { readonly digest: string; readonly summary: string };
  readonly epsilon: Rational;
  readonly delta: Rational;
  readonly routes: readonly LeakageRoute[];
  /** Every single value of the public columns, if they are few: a plan looks at each (affected-accounts.ts). */
  readonly parts?: readonly SliceSelection[];
  /** Budget of every value of the ordering column, for an endless stream, under a budget per step. */
  readonly stepBudget?: StepBudget;
  /** Cost set aside for other publishers whose releases about these people are not specified (others.ts). */
  readonly others?: readonly PrivacyCost[];
  /** Data whose ties its routes depend on (sources.ts). */
  readonly source: AccountSource;
  /** True if analysts have quotas: no release may change the counted cost of other analysts' earlier ones. */
  readonly quotas?: true;
  /** A cost in the form the ledger needs: with an entry for every class and every condition that a route covers. */
  readonly reservedCost: (privacyCost: PrivacyCost, reading: RequestReading) => PrivacyCost;
}

export interface StepBudget {
  readonly slicing: Slicing;
  /** Base epsilon. */
  readonly each: Rational;
}

/** One proven way from costs to leakage. */
export interface LeakageRoute {
  readonly amplifier: Amplifier;
  /** Conditions that every cost must have met. */
  readonly conditions: readonly ReleaseCondition[];
  /** Epsilon that pure noise must stay within: the account's. */
  readonly epsilon: Rational;
  /** Largest total base epsilon per record when only pure noise is used and every record spends the same. */
  readonly pureCapacity: Rational;
  /** Absent for a pure budget, and where nothing is proven about Gaussian noise. */
  readonly gaussian?: GaussianRoute;
  /** Public columns by whose values it may read the costs (by-slice.ts). */
  readonly slicings: readonly Slicing[];
  /** Digest of the pairs along which it may read the costs (by-pairs.ts). */
  readonly pairs?: string;
  readonly how: string;
}

/**
 * True if pure draws count at their own zCDP cost next to Gaussian noise;
 * a bound with conditions of its own prices them differently (Amplifier.gaussian).
 */
export const countsPureInZcdp = ({ gaussian }: LeakageRoute): boolean =>
  gaussian === undefined || gaussian.bound.conditions.length === 0;

/** True if Gaussian noise can be offered under the route. */
export const isGaussian = ({ gaussian }: LeakageRoute): boolean => gaussian !== undefined && isPositive(gaussian.capacity);

/** True if no Gaussian noise was paid for: costs can then be read in pure epsilon. */
export const isPure = ({ zcdp }: SpentCosts): boolean => zcdp.perRecord.size === 0;

export interface GaussianRoute {
  readonly bound: GaussianBound;
  /** Largest total rho per record. */
  readonly capacity: Rational;
  /**
   * Each route keeps its part of the account's delta: the choice of route may depend on earlier releases,
   * so failures add up. `epsilon`: bound that the capacity guarantees, below the account's under a belief budget.
   */
  readonly delta: Rational;
  readonly epsilon: Rational;
  /** Probability that the odds move by more than e^epsilon of the account when the whole capacity is spent. */
  readonly failure: number;
}

/**
 * With secret `answer` each column is a record class; a cost known per row is recorded for every column.
 * A cost that meets a condition is recorded once more under the condition's mark.
 */
export function reservedCostOf(policy: Policy, routes: readonly LeakageRoute[], source: AccountSource): Account['reservedCost'] {
  const columns =
    policy.protect.secret === 'answer' ? [...policy.columns.values()].filter((c) => !c.public).map((c) => answersTo(c.name)) : [];
  const conditions = [...new Map(routes.flatMap((r) => r.conditions).map((c) => [c.mark, c])).values()];
  const priced = routes.some(isGaussian);
  return (privacyCost, reading) => {
    const whole = privacyCost.perRecord.get(everyRecord);
    const more = whole === undefined || privacyCost.perRecord.size > 1 ? [] : columns;
    const met =
      whole === undefined
        ? []
        : [
            ...conditions.filter((c) => binds(c, privacyCost.noise) && meets(c, privacyCost.noise, reading)).map((c) => c.mark),
            ...(source.isMarked ? [source.mark] : []),
          ];
    const entries = [...more, ...met].map((name): [RecordClass, Rational] => [name, whole!]);
    if (privacyCost.noise === 'zcdp') return entries.length === 0 ? privacyCost : composeCosts(privacyCost, zcdpCost(entries));
    const bare = withoutZcdp(privacyCost) as PureCost;
    const reserved =
      entries.length === 0 ? bare : composeCosts(bare, pureCost(entries, privacyCost.factored && more.length === 0));
    if (!priced || privacyCost.perRecord.size === 0) return reserved;
    // The zCDP cost of the whole record is also the cost of each of its answers.
    const cost = inZcdp(privacyCost);
    const each = cost.perRecord.get(everyRecord);
    const ofAnswers = each === undefined ? [] : more.map((name): [RecordClass, Rational] => [name, each]);
    return withZcdpCost(reserved, composeCosts(cost, zcdpCost(ofAnswers)));
  };
}

/** Cost of a budget share when one record of each of these classes spends all of it. */
export function costOfShare({ noise, amount }: BudgetShare, classes: readonly RecordClass[]): PrivacyCost {
  const entries = classes.map((record) => [record, amount] as const);
  return noise === 'pure' ? pureCost(entries) : zcdpCost(entries);
}
