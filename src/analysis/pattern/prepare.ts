import { Fault } from '../../base/errors.js';
import { isPositive, parseRational, type Rational } from '../../base/exact/rational.js';
import { nothingLeft } from '../../release/accountant/share.js';
import { relationFact } from '../../release/session/public-facts.js';
import type { PrivacySession, ReleaseOptions } from '../../release/session/session.js';
import { chooseCandidate, publicDegree } from './candidates.js';
import { countingWork } from './counting-time.js';
import { refuseWideJoin } from './exact-answer.js';
import { type AnalysisOptions, analysePatternText, type PatternAnalysis } from './query/analyse.js';
import { domainSize } from './query/lambda.js';
import { subgraphShape } from './query/shape.js';
import { patternSecret, refuseOtherSecrets } from './secret.js';
import { offersFor, type PatternMechanism } from './strategies/strategies.js';
import type { PatternOffer } from './strategies/strategy.js';

export interface PatternOptions extends ReleaseOptions, AnalysisOptions {
  /** Accept (epsilon, gamma)-adversarial privacy. */
  readonly gamma?: string;
  /** Public guess of the most ties of anybody (secret edge), or the number above which people are left out (secret person). */
  readonly degree?: number;
  /** Requires one mechanism instead of the least expected error. */
  readonly mechanism?: PatternMechanism;
}

/** An analysed pattern with its chosen noise, before any reading or spending; only the mechanisms in `drawn` are drawn from. */
export type PreparedPattern = Awaited<ReturnType<typeof preparePattern>>;

export async function preparePattern(session: PrivacySession, text: string, options: PatternOptions) {
  const { policy } = session;
  refuseOtherSecrets(policy);
  const analysis = analysePatternText(text, { relations: policy.relations, columns: policy.columns }, options);
  const hidden = patternSecret(policy, analysis);
  const allowance = await session.allowance(options, hidden.classes[0]!, { allRows: true });
  if (!allowance.pure) throw allowance.whyNoPure ?? nothingLeft();
  const gamma = options.gamma === undefined ? undefined : positiveGamma(options.gamma);
  const degree = publicDegree(analysis, options.degree);
  const offers = offersFor({ analysis, hidden, budgetShare: allowance.pure, degree, ...(gamma && { gamma }) });
  const { candidate, drawn } = chooseOffer(offers, analysis, options.mechanism);
  // Refused before anything is reserved, because what `execute` throws is not published.
  if (candidate.mechanism !== 'r2t' && !subgraphShape(analysis.pattern)) refuseWideJoin(analysis);
  return {
    analysis,
    allowance,
    candidates: offers.map((o) => o.candidate),
    chosen: candidate,
    drawn,
    /** At the public guess of the most ties, and in a complete graph. */
    work: {
      expected: countingWork(analysis, candidate.mechanism, degree),
      most: countingWork(analysis, candidate.mechanism, domainSize(analysis.pattern)),
    },
    gamma: options.gamma,
    /** Different texts are different requests. */
    canonical: [analysis.text, analysis.unit, candidate.mechanism, options.gamma ?? null, degree, options.log ?? 'safe'],
    relied: analysis.pattern.relations.filter((r) => !r.private).map((r) => relationFact(r.name)),
  };
}

function positiveGamma(text: string): Rational {
  const gamma = parseRational(text, 'gamma');
  if (!isPositive(gamma)) throw new Fault('BUDGET_INVALID', 'The gamma must be positive.', 'Write for example 0.01.');
  return gamma;
}

type AnswerableOffer = Required<PatternOffer<PatternMechanism>>;
const canAnswer = (offer: PatternOffer<PatternMechanism>): offer is AnswerableOffer => offer.drawn !== undefined;

function chooseOffer(
  offers: readonly PatternOffer<PatternMechanism>[],
  a: PatternAnalysis,
  wanted?: PatternMechanism,
): AnswerableOffer {
  if (wanted === 'algorithm-2.1' && !a.stability.stable)
    throw new Fault(
      'PATTERN_UNSTABLE',
      `Algorithm 2.1 does not cover this query: ${a.stability.witness}.`,
      'Leave the mechanism out: other mechanisms answer it.',
    );
  const able = offers.filter(canAnswer);
  const least = wanted ?? chooseCandidate(able.map((o) => o.candidate)).mechanism;
  const found = able.find((o) => o.candidate.mechanism === least);
  if (!found)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `The mechanism ${wanted} is not available for this pattern.`,
      `Available: ${able.map((o) => o.candidate.mechanism).join(', ')}.`,
    );
  return found;
}
