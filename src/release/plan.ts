import type { NoisePlan } from '../accounting/choose.js';
import type { Guarantee } from '../accounting/guarantee.js';
import type { Measure } from '../count/measure.js';
import type { WhatIf } from '../dependence/amplifier.js';
import { toNumber, toText } from '../exact/rational.js';
import { lawOf, type Noise } from '../mechanism/law.js';
import { halfWidth } from '../mechanism/law-width.js';
import { miss } from '../query/answer.js';
import type { AdditiveNoise, Foreseen } from '../query/bound.js';
import type { QuotaUse } from './quota.js';

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
  /** How many records the answer is about when maxTies leaves some out; as public as the ties. */
  readonly records?: { readonly used: number; readonly leftOut: number };
  readonly guarantee: Guarantee;
}

export interface PlannedMeasure {
  readonly name: string;
  readonly cells: number;
  readonly noise: StoredNoise;
  /** Half width of the 95 % interval of one cell, in the answer's own unit; absent for selections. */
  readonly error95?: number;
  /** How many tables are read off it, when more than one. */
  readonly tables?: number;
}

/** Noise as text fractions: exact, for receipts. */
export type StoredNoise =
  | { readonly kind: 'laplace'; readonly scale: string }
  | { readonly kind: 'gaussian'; readonly variance: string }
  | { readonly kind: 'selection'; readonly sharpness: string }
  | { readonly kind: 'none' };

export function storeNoise(noise: Noise): StoredNoise {
  if (noise.kind === 'laplace') return { kind: 'laplace', scale: toText(noise.scale) };
  if (noise.kind === 'gaussian') return { kind: 'gaussian', variance: toText(noise.variance) };
  return noise.kind === 'selection' ? { kind: 'selection', sharpness: toText(noise.sharpness) } : { kind: 'none' };
}

export function planMeasure(measure: Measure, noise: Noise): PlannedMeasure {
  const planned = { name: measure.name, cells: measure.cells.length, noise: storeNoise(noise) };
  if (measure.mechanism === 'exponential' || noise.kind === 'selection') return planned;
  const units = halfWidth(lawOf(noise) as AdditiveNoise, miss);
  return { ...planned, error95: units * toNumber(measure.grid), ...(measure.tables !== undefined && { tables: measure.tables }) };
}

export function explainChoice(plans: readonly NoisePlan[]): string {
  const [best, ...others] = plans;
  if (!best) return '';
  const next = others.find((p) => p.kind !== best.kind && p.fits);
  if (!next) return `${best.kind === 'laplace' ? 'Laplace' : 'Gaussian'} noise is the only kind this budget allows.`;
  const ratio = Math.sqrt(next.error / best.error);
  return `${best.kind === 'laplace' ? 'Laplace' : 'Gaussian'} noise: its expected error is ${Number(ratio.toPrecision(2))} times smaller than with ${next.kind === 'laplace' ? 'Laplace' : 'Gaussian'} noise.`;
}
