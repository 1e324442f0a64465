import { readFileSync } from 'node:fs';
import { Fault } from '../errors.js';
import type { Dependence, Policy } from '../policy/policy.js';
import type { Amplifier } from './amplifier.js';
import { pairwiseAmplifier } from './pairwise-amplifier.js';
import { type DeclaredSpread, readSpread } from './spread-file.js';

/** `kind: columns` may name a pairwise file instead of a network; undefined when it does not. Unreadable files are the network reader's to report. */
export function declaredSpread(dependence: Dependence): DeclaredSpread | undefined {
  if (dependence.kind !== 'columns') return undefined;
  try {
    return readSpread(readFileSync(dependence.network, 'utf8'), dependence.network);
  } catch (error) {
    if (error instanceof Fault) throw error;
    return undefined;
  }
}

/** The pairwise route of a policy: only for single answers and an attacker who knows no other answer, and only when the file covers every column. */
export function declaredPairwise(declared: DeclaredSpread, policy: Policy): Amplifier {
  const refuse = (message: string, hint: string): Fault =>
    new Fault('POLICY_INVALID', message, hint, { place: { file: policy.file } });
  if (policy.protect.secret !== 'answer' || policy.protect.adversary !== 'uninformed')
    throw refuse(
      'A pairwise file protects single answers from an attacker who knows no other answer; the policy declares something else.',
      'Write protect: { secret: answer, adversary: uninformed }, or leave the file out.',
    );
  const known = new Set(declared.spread.names);
  // a release about a column outside the file would say something about the others that nobody bounded
  const missing = [...policy.columns.values()].find(
    (c) => c.public !== true && c.name !== policy.protect.unit && !known.has(c.name),
  );
  if (missing)
    throw refuse(
      `The pairwise file does not cover the column "${missing.name}".`,
      'Learn it again, or mark the column public: true.',
    );
  return pairwiseAmplifier(declared.spread, declared.origin);
}
