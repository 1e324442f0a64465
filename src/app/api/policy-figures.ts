import { Fault } from '../../base/errors.js';
import { compare, maximum, parseRational, type Rational, toNumber, zero } from '../../base/exact/rational.js';
import { posteriorAtMost } from '../../policy/belief.js';
import { betweenValues, neighboursOf } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import type { Amplifier, WhatIf } from '../../privacy/dependence/amplifier.js';
import { bindBatch } from '../../query/bind.js';
import { parseBatch } from '../../query/parse.js';
import { type AccuracyTask, errorWith } from '../../release/accountant/accuracy.js';
import { beliefBudget, readEpsilon, readProbability } from '../../release/accountant/belief.js';
import { openAccount } from '../../release/accountant/open-account.js';
import type { PrivacySession } from '../../release/session/session.js';
import { askable } from './kinds/askable.js';
import { tiesOf } from './open-handles.js';

const confidence = 0.95;
const priors = ['0.01', '0.1', '0.5'] as const;
const menu = '0.05 0.06 0.08 0.1 0.12 0.15 0.2 0.25 0.3 0.4 0.5 0.6 0.8 1 1.2 1.5 2 2.5 3 4 5 6 8'
  .split(' ')
  .map((text) => parseRational(text));

/** Expected error of a count compared with the highest posterior of an attacker. */
export interface BeliefPoint {
  readonly epsilon: number;
  /** Highest posterior after all releases together, by prior. */
  readonly posterior: Readonly<Record<string, number>>;
  /** Half width of a count by a column if the whole budget were spent on it; null where nothing can be counted. */
  readonly error: number | null;
}

/** Accuracy and posterior under the policy's budget and others around it. Reads nothing and spends nothing. */
export function beliefPoints({ policy, account }: PrivacySession): {
  readonly column?: string;
  readonly points: readonly BeliefPoint[];
} {
  const amplifiers = account.routes.map(({ amplifier }) => amplifier);
  const own = policy.budget.epsilon;
  const epsilons = [...menu.filter((e) => compare(e, own) !== 0), own].sort((a, b) => compare(a, b));
  const column = countedBy(policy);
  return {
    ...(column !== undefined && { column }),
    points: epsilons.map((epsilon) => ({
      epsilon: toNumber(epsilon),
      posterior: posteriors(policy, epsilon),
      error: errorOf(policy, amplifiers, epsilon),
    })),
  };
}

const posteriors = (policy: Policy, epsilon: Rational): Record<string, number> =>
  Object.fromEntries(
    priors.map((prior) => [prior, posteriorAtMost(parseRational(prior), betweenValues(neighboursOf(policy), epsilon))]),
  );

/** Column whose counts give the expected errors; the total number of records is public and has none. */
const countedBy = (policy: Policy): string | undefined =>
  (askable(policy).find((c) => c.type === 'category') ?? askable(policy)[0])?.name;

function errorOf(policy: Policy, amplifiers: readonly Amplifier[], epsilon: Rational): number | null {
  const column = countedBy(policy);
  if (column === undefined) return null;
  try {
    const bound = bindBatch(parseBatch({ kind: 'count', by: [column] }), policy);
    const bench: AccuracyTask = { policy, amplifiers, bound };
    return errorWith(bench, epsilon, { confidence });
  } catch (error) {
    if (error instanceof Fault && (error.code === 'QUERY_UNSUPPORTED' || error.code === 'BUDGET_INVALID')) return null;
    throw error;
  }
}

/** Other odds ratios of the declared ties, by their place in the policy, and another limit. */
export interface WhatIfRequest {
  readonly epsilon?: string | undefined;
  readonly belief?: { readonly prior: string; readonly posterior: string } | undefined;
  readonly ties?: readonly { readonly index: number; readonly oddsRatio: number | 'inf' }[] | undefined;
}

export interface WhatIfFigures {
  readonly epsilon: number;
  readonly delta: number;
  /** Largest spending of one record before ties, by the best proven route. */
  readonly base: number;
  /** Factor between the leakage to an attacker who knows the ties and that spending. */
  readonly amplification: number;
  readonly column?: string;
  readonly error: number | null;
  readonly posterior: Readonly<Record<string, number>>;
  readonly whatIf: readonly WhatIf[];
}

/**
 * Effect of other odds ratios or another limit; the policy's own ties may be passed in. Reads the ties, which are declared as
 * known, and spends nothing.
 */
export async function whatIfFigures(
  policy: Policy,
  request: WhatIfRequest,
  known?: readonly Amplifier[],
): Promise<WhatIfFigures> {
  const epsilon = limitOf(policy, request);
  const changed = { ...policy, dependence: strengthened(policy, request.ties ?? []) };
  const amplifiers = request.ties?.length || !known ? await tiesOf(policy, changed) : known;
  const { routes } = openAccount({ ...changed, budget: { epsilon, delta: policy.budget.delta } }, amplifiers);
  const base = routes.map(({ pureCapacity }) => pureCapacity).reduce(maximum, zero);
  const best = routes.find(({ pureCapacity }) => compare(pureCapacity, base) === 0);
  const column = countedBy(policy);
  return {
    epsilon: toNumber(epsilon),
    delta: toNumber(policy.budget.delta),
    base: toNumber(base),
    amplification: toNumber(base) > 0 ? toNumber(epsilon) / toNumber(base) : Number.POSITIVE_INFINITY,
    ...(column !== undefined && { column }),
    error: errorOf(changed, amplifiers, epsilon),
    posterior: posteriors(policy, epsilon),
    whatIf: best && toNumber(base) > 0 ? best.amplifier.whatIf(base) : [],
  };
}

function limitOf(policy: Policy, { epsilon, belief }: WhatIfRequest): Rational {
  if (epsilon !== undefined && belief !== undefined)
    throw new Fault('USAGE', 'Say the limit in one way.', 'Give an epsilon or a belief.');
  if (epsilon !== undefined) return readEpsilon(epsilon);
  if (belief === undefined) return policy.budget.epsilon;
  return beliefBudget(readProbability(belief.prior, 'prior'), readProbability(belief.posterior, 'posterior')).epsilon;
}

function strengthened({ dependence }: Policy, ties: NonNullable<WhatIfRequest['ties']>): Policy['dependence'] {
  const changed = [...dependence];
  for (const { index, oddsRatio } of ties) {
    const tie = changed[index];
    if (!tie || !('oddsRatio' in tie))
      throw new Fault(
        'USAGE',
        `Tie ${index} is not declared, or has no odds ratio.`,
        'Ties are counted from 0, in the order of the policy.',
      );
    const { oddsColumn: _own, ...declared } = tie as typeof tie & { readonly oddsColumn?: string };
    changed[index] = { ...declared, oddsRatio: oddsRatio === 'inf' ? Number.POSITIVE_INFINITY : oddsRatio } as typeof tie;
  }
  return changed;
}
