import { rational, toNumber } from '../../base/exact/rational.js';
import { defaultLimits } from '../../data/engine/limits.js';
import type { ExpectedError } from '../../query/bound.js';
import type { PlanInput } from '../../release/session/complete-plan.js';
import type { Plan } from '../../release/session/plan.js';
import type { PrivacySession } from '../../release/session/session.js';
import { type CountingWork, endlessFault, patternExecution, workText } from './counting-time.js';
import type { PreparedPattern } from './prepare.js';
import type { PatternAnalysis } from './query/analyse.js';
import { boundedAdversary, domainSize } from './query/lambda.js';
import type { PatternMechanism } from './strategies/strategies.js';
import { isAdversarial, type PatternCandidate } from './strategies/strategy.js';

export interface PatternPlan extends Plan {
  readonly pattern: {
    readonly query: string;
    readonly unit: string;
    readonly stable: boolean;
    readonly witness: string | null;
    readonly globalSensitivity: number;
    readonly candidates: readonly PatternCandidate<PatternMechanism>[];
    readonly chosen: PatternMechanism;
    /** Expected time of counting, from public facts. */
    readonly work: CountingWork;
  };
}

export function planOf(session: PrivacySession, prepared: PreparedPattern): PatternPlan {
  const { analysis: a, allowance, candidates, chosen, drawn, work, gamma } = prepared;
  const framed = session.completePlan(ownPlan(session, prepared));
  return {
    ...framed,
    ...refusedWhere(framed, [work.expected]),
    ...(isAdversarial(drawn) && {
      guarantee: adversarialPromise(framed, a, toNumber(allowance.pure!.amount), gamma!),
    }),
    pattern: {
      query: a.text,
      unit: a.unit,
      stable: a.stability.stable,
      witness: a.stability.witness ?? null,
      globalSensitivity: Number(a.bounds.globalSensitivity),
      candidates,
      chosen: chosen.mechanism,
      work: work.expected,
    },
  };
}

/** Refusal of a release whose counting would not end in time, where the budget allows it. */
export function refusedWhere({ refusal, completes }: Plan, works: readonly CountingWork[]): Pick<Plan, 'refusal'> {
  const endless = works.map((work) => endlessFault(work, defaultLimits())).find((fault) => fault !== undefined);
  return refusal === undefined && completes === undefined && endless ? { refusal: endless.message } : {};
}

/** Plan fields specific to patterns; the session adds cost, fit and promise. */
export function ownPlan(session: PrivacySession, prepared: PreparedPattern): PlanInput {
  const { analysis, allowance, candidates, chosen, drawn, work } = prepared;
  const adversarial = isAdversarial(drawn);
  return {
    label: `${adversarial ? 'adversarial privacy: ' : ''}pattern ${analysis.title}`.slice(0, 120),
    share: adversarial ? rational(0) : allowance.share,
    spent: allowance.spent,
    route: allowance.route,
    mechanisms: drawn.mechanisms,
    reading: allowance.reading,
    mechanism: chosen.mechanism,
    why: `${why(chosen, candidates)} ${workText(work.expected, work.most, defaultLimits())}`,
    counting: patternExecution(analysis, chosen.mechanism, session.memoryLimit),
    errors: [patternExpectedError(analysis, chosen)],
    candidates: candidates.map((c) => ({ mechanism: c.mechanism, route: c.guarantee, error: c.expectedError, fits: c.meets })),
  };
}

/** As for Laplace noise of the same mean error; for data-dependent noise, on the assumed graph. */
const patternExpectedError = (a: PatternAnalysis, { expectedError }: PatternCandidate): ExpectedError => ({
  name: a.title,
  query: { kind: 'count', name: a.title },
  cells: 1,
  error: 'exact',
  standardError: Math.SQRT2 * expectedError,
  halfWidth: Math.log(20) * expectedError,
  perRow: false,
});

const why = (chosen: PatternCandidate, all: readonly PatternCandidate[]): string => {
  const plain = all.find((c) => c.mechanism === 'laplace');
  if (!plain) return `${chosen.mechanism}: the only mechanism for this pattern${chosen.note ? ` (${chosen.note})` : ''}.`;
  const ratio = plain.expectedError / chosen.expectedError;
  return chosen === plain
    ? 'Plain noise at global sensitivity has the least expected error here.'
    : `${chosen.mechanism}: expected error ${Number(ratio.toPrecision(2))} times below plain noise at global sensitivity${chosen.note ? ` (${chosen.note})` : ''}.`;
};

function adversarialPromise(plan: Plan, a: PatternAnalysis, epsilon: number, gamma: string): Plan['guarantee'] {
  const m = domainSize(a.pattern);
  const { known, marginal } = boundedAdversary(m);
  return {
    ...plan.guarantee,
    certified: false,
    epsilon,
    assumptions: [
      `The attacker's belief about the tuples has only negative correlations, knows the sizes of the relations, is certain of at most ${known} tuples and gives every other one less than ${marginal.toPrecision(2)}.`,
    ],
    how: 'Algorithm 2.1 of Rastogi et al. 2009, corrected (privacy/mechanism/algorithm21.proof.md).',
    sentences: [
      `Protected: the presence of one tuple; belief in it grows at most to e^${epsilon} times what it was, plus ${gamma}.`,
      'This is (epsilon, gamma)-adversarial privacy, not differential privacy: it does not limit what is learned about absent tuples, and it does not compose.',
      'It is kept apart from the budget: one such query per population.',
    ],
  };
}
