import { Fault } from '../../base/errors.js';
import { divUp } from '../../base/exact/outward.js';
import { isPositive, parseRational, type Rational, toNumber, toNumberDown, toNumberUp } from '../../base/exact/rational.js';
import { within } from '../../base/input/limits.js';
import type { Adversary } from '../../policy/policy.js';
import { hubs } from '../../privacy/dependence/hubs.js';
import { largestBase } from '../../privacy/dependence/largest-base.js';
import { leakageBounds as leakageOf } from '../../privacy/dependence/leakage.js';
import type { Model } from '../../privacy/dependence/model/model.js';
import { type WhatIfLeakage, whatIf } from '../../privacy/dependence/what-if.js';
import { type FileName, fileNamed } from './file-name.js';
import { readModelFile } from './model-file.js';

/** Leakage of each record to an attacker who knows the ties. */
export interface Leakage {
  readonly adversary: Adversary;
  /** The double that was verified, unrounded. */
  readonly base?: number;
  readonly amplification?: number;
  readonly epsilon?: number;
  readonly leakage: Readonly<Record<string, number>>;
  readonly worst: { readonly record: string; readonly leakage: number };
  readonly group: number;
  readonly certified: true;
  readonly how: string;
  readonly whatIf?: WhatIfLeakage;
  readonly hubs?: readonly { readonly record: string; readonly ties: number; readonly passesOn: number }[];
}

/** Request about a model in the texts that people write; its form was checked. */
export interface LeakageText {
  readonly base?: string | undefined;
  readonly profile?: readonly string[] | undefined;
  readonly epsilon?: string | undefined;
  readonly adversary: Adversary;
}

export const leakageInFile = async (model: FileName, request: LeakageText): Promise<Leakage> =>
  leakageIn(await readModelFile(fileNamed(model, 'The model')), request);

function leakageIn(model: Model, { base, profile, epsilon, adversary }: LeakageText): Leakage {
  if ([base, profile, epsilon].filter((x) => x !== undefined).length !== 1)
    throw new Fault('USAGE', 'Give exactly one of base, profile and epsilon.', 'For example { base: 0.1 }.');
  if (epsilon !== undefined) return withinEpsilon(model, positive(epsilon, 'epsilon'), adversary);
  if (base !== undefined) return leakageFor(model, toNumberUp(positive(base, 'base')), adversary);
  within('numbers', profile!.length);
  const entries = profile!.map((text) => {
    const e = parseRational(text, 'profile entry');
    if (e.num < 0n)
      throw new Fault('BUDGET_INVALID', 'A profile entry is negative.', 'Use 0 for a record that no release touches.');
    return toNumberUp(e);
  });
  if (entries.length !== model.ids.length)
    throw new Fault(
      'BUDGET_INVALID',
      `The profile has ${entries.length} entries for ${model.ids.length} records.`,
      'Give one base epsilon per record, in the order of the model file.',
      { details: { entries: entries.length, records: model.ids.length } },
    );
  return leakageFor(model, Float64Array.from(entries), adversary);
}

function withinEpsilon(model: Model, epsilon: Rational, adversary: Adversary): Leakage {
  const base = largestBase(model, epsilon, adversary);
  return {
    ...leakageFor(model, isPositive(base) ? toNumberUp(base) : 0, adversary),
    base: toNumberDown(base),
    epsilon: toNumber(epsilon),
    amplification: isPositive(base) ? divUp(toNumberUp(epsilon), toNumberDown(base)) : Number.POSITIVE_INFINITY,
  };
}

function leakageFor(model: Model, profile: Float64Array | number, adversary: Adversary): Leakage {
  const found = leakageOf(model, profile, adversary);
  const name = (record: number) => model.ids[record]!;
  const strong = hubs(model).filter((h) => h.passesOn >= 1);
  return {
    adversary,
    leakage: Object.fromEntries(model.ids.map((id, i) => [id, found.perRecord[i]!])),
    worst: { record: name(found.worst.record), leakage: found.worst.leakage },
    group: found.group,
    certified: found.certified,
    how: found.method,
    ...(typeof profile === 'number' && profile > 0 && { whatIf: whatIf(model, profile) }),
    ...(strong.length > 0 && { hubs: strong.map((h) => ({ ...h, record: name(h.record) })) }),
  };
}

function positive(text: string, what: string): Rational {
  const value = parseRational(text, what);
  if (!isPositive(value)) throw new Fault('BUDGET_INVALID', `The ${what} must be positive.`, 'Use a number such as 0.1.');
  return value;
}
