import type { NoisePlan } from '../accounting/choose.js';
import type { Guarantee } from '../accounting/guarantee.js';
import type { WhatIf } from '../dependence/amplifier.js';
import { type Law, lawText, lawWords } from '../mechanism/law.js';
import type { Mechanism, Told } from '../mechanism/mechanism.js';
import type { Foreseen } from '../query/bound.js';
import type { QuotaUse } from './quota.js';
import type { WayOut } from './ways-out.js';

/** What a release would cost and how wrong it would be. Plain data; made without reading the data or spending anything. */
export interface Plan {
  readonly label: string;
  /** Share of the whole budget this would use, in epsilon of the policy (ties included). */
  readonly epsilon: number;
  readonly budget: { readonly total: number; readonly spent: number; readonly remaining: number; readonly delta: number };
  /** What this analyst may spend and has spent, where the policy gives a quota. */
  readonly quota?: QuotaUse;
  /** The ledger entry it was booked under before and never answered: asked now it is completed, and nothing more is spent. */
  readonly completes?: number;
  /** Whether the ledger would take it, as things stand. */
  readonly fits: boolean;
  /** What a release would be refused with. */
  readonly refusal?: string;
  /** What should be known before anything is spent. */
  readonly warnings?: readonly string[];
  /** Where it does not fit, or is mostly noise: the best ways out, with the error each would leave. */
  readonly waysOut?: readonly WayOut[];
  readonly mechanism: string;
  /** Which proven route from noise to leakage was taken, and why this noise. */
  readonly route: string;
  readonly why: string;
  readonly measures: readonly PlannedMeasure[];
  readonly errors: readonly Foreseen[];
  readonly candidates: readonly {
    readonly mechanism: string;
    readonly route: string;
    readonly error: number;
    readonly fits: boolean;
  }[];
  readonly whatIf: readonly WhatIf[];
  /** How many records the answer is about when maxTies or maxUsed leaves some out; as public as the ties. */
  readonly records?: { readonly used: number; readonly leftOut: number };
  readonly guarantee: Guarantee;
}

/** A mechanism as plans and receipts tell it, its law in exact fractions. */
export interface PlannedMeasure extends Told {
  readonly noise: Law<string>;
}

export const planned = ({ told: { name, cells, ...more }, law }: Mechanism): PlannedMeasure => ({
  name,
  cells,
  noise: lawText(law),
  ...more,
});

export function explainChoice(plans: readonly NoisePlan[]): string {
  const [best, ...others] = plans;
  if (!best) return '';
  const next = others.find((p) => p.kind !== best.kind && p.fits);
  if (!next) return `${lawWords(best.kind)} noise is the only kind this budget allows.`;
  const ratio = Math.sqrt(next.error / best.error);
  return `${lawWords(best.kind)} noise: its expected error is ${Number(ratio.toPrecision(2))} times smaller than with ${lawWords(next.kind)} noise.`;
}
