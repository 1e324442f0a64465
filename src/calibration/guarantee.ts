import { isZero, toNumber } from '../exact/rational.js';
import type { Policy, SecretKind } from '../policy/policy.js';
import type { Account, Route } from './account.js';

/** What a release promises, under which assumption: plain data, printed by every plan, receipt and report. */
export interface Guarantee {
  readonly certified: boolean;
  readonly secret: SecretKind;
  readonly adversary: 'informed' | 'uninformed';
  readonly epsilon: number;
  readonly delta: number;
  readonly assumptions: readonly string[];
  /** The theorem the noise was chosen by. */
  readonly how: string;
  /** The promise in plain words, one sentence each. */
  readonly sentences: readonly string[];
}

const secretWords: Record<SecretKind, string> = {
  row: 'one row (one person)',
  person: 'everything one person contributed',
  answer: 'one answer of one person',
  step: 'one time step',
  edge: 'one tuple of a relation',
};

/** Odds may grow by at most e^epsilon: prior p becomes at most p e^epsilon / (1 - p + p e^epsilon). */
export const posterior = (prior: number, epsilon: number): number => prior / (prior + (1 - prior) * Math.exp(-epsilon));

export function guarantee(policy: Policy, account: Account, route: Route): Guarantee {
  const epsilon = toNumber(account.epsilon);
  const delta = toNumber(account.delta);
  const { secret, adversary } = policy.protect;
  const known =
    adversary === 'informed'
      ? 'knows the declared ties and may know the exact values of any other records'
      : 'knows the declared ties but no exact values of other records';
  const except = isZero(account.delta) ? '' : ` (except with probability ${delta})`;
  return {
    certified: true,
    secret,
    adversary,
    epsilon,
    delta,
    assumptions: route.amplifier.assumptions,
    how: route.amplifier.how,
    sentences: [
      `Protected: ${secretWords[secret]}, from an attacker who ${known} and who sees every release of this population.`,
      `Together, all releases within the budget move the odds between any two values of the secret by at most a factor of ${Math.exp(epsilon).toPrecision(3)} (epsilon ${epsilon})${except}.`,
      `An attacker who believes something with 10 % before may believe it with at most ${percent(posterior(0.1, epsilon))} after, one at 50 % with at most ${percent(posterior(0.5, epsilon))}${except}.`,
      'What can be learned about a person from other data, or from what is generally true of people like them, is not limited by this.',
    ],
  };
}
const percent = (p: number) => `${(100 * p).toPrecision(3)} %`;
