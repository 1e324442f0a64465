import { version } from '../../base/version.js';
import type { Policy } from '../../policy/policy.js';
import { publicName } from '../../policy/population.js';
import type { WhatIf } from '../../privacy/dependence/amplifier.js';
import type { StoredCost } from '../../privacy/mechanism/privacy-cost.js';
import type { AnswerTable } from '../../query/bound.js';
import type { Guarantee } from '../accountant/guarantee.js';
import type { SpendEntry } from '../ledger/ledger.js';
import type { Plan, PlannedMeasure } from './plan.js';
import { type PrivacyUnit, privacyUnitOf } from './privacy-unit.js';

/** The noisy answer and the evidence of its promise. */
export interface Release {
  readonly tables: readonly AnswerTable[];
  readonly receipt: Receipt;
}

/** Plain data, safe to publish: nothing in it depends on the data except through the noisy answer. */
export interface Receipt {
  readonly fugu: string;
  readonly label: string;
  /** Public name of the data: never a path (policy/population.ts). */
  readonly population: string;
  /** Time of the answer; a recorded answer keeps its own date, however the data has changed since. */
  readonly at: string;
  readonly guarantee: Guarantee;
  /** The record that the cost protects; absent in receipts of version 0.2. */
  readonly privacyUnit: PrivacyUnit;
  /** epsilon of the policy's budget used by this release, and what is left after it. */
  readonly epsilon: number;
  readonly mechanism: string;
  readonly why: string;
  readonly measures: readonly PlannedMeasure[];
  readonly profile: StoredCost;
  readonly whatIf: readonly WhatIf[];
  /** Warnings that were shown before it was paid. */
  readonly warnings?: readonly string[];
  /** Number of records in the answer when maxTies or maxUsed leaves some out. */
  readonly records?: { readonly used: number; readonly leftOut: number };
  readonly ledger: {
    readonly entry: number;
    readonly hash: string;
    /** True if answered from the record of an earlier release, with its date; nothing was spent. */
    readonly replayed: boolean;
    /** Completes an entry that was reserved earlier and never answered; nothing more was spent. */
    readonly resumed?: true;
    /** Present when the answer could not be recorded: the same request then pays again. */
    readonly recorded?: false;
  };
}

/** What a receipt states about one release. */
export interface ReceiptParts {
  readonly plan: Plan;
  readonly profile: StoredCost;
  readonly entry: SpendEntry;
  readonly replayed: boolean;
  readonly recorded: boolean;
  /** Time when the data was read; time of the reservation, where that is not known. */
  readonly at?: string;
}

/** Receipts of the releases under a policy. */
export function receiptsFor(policy: Policy): (parts: ReceiptParts) => Receipt {
  const population = publicName(policy);
  return ({ plan, entry, replayed, recorded, profile, at }) => ({
    fugu: version,
    label: plan.label,
    population,
    at: at ?? new Date(entry.at).toISOString(),
    guarantee: plan.guarantee,
    privacyUnit: privacyUnitOf(policy, entry.relied),
    epsilon: plan.epsilon,
    mechanism: plan.mechanism,
    why: plan.why,
    measures: plan.measures,
    profile,
    whatIf: plan.whatIf,
    ...(plan.warnings && { warnings: plan.warnings }),
    ...(plan.records && { records: plan.records }),
    ledger: {
      entry: entry.sequence,
      hash: entry.hash,
      replayed,
      ...(entry.resumed && !replayed && { resumed: true }),
      ...(!recorded && { recorded }),
    },
  });
}

/** A recorded answer for a request: its entry, its date and the plan it was made under. */
export interface Replayed {
  readonly entry: number;
  readonly at: string;
  readonly plan: Plan;
}

/** What a reader of the record finds. */
export type OnRecord = Replayed | typeof notOnRecord;
export const notOnRecord = 'not on record';

export const replayedOf = (plan: Plan, { at, ledger: { entry } }: Receipt): Replayed => ({ entry, at, plan });
