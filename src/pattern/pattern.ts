import type { Engine } from '../engine/engine.js';
import { Fault } from '../errors.js';
import { isZero, parseRational, type Rational, rational } from '../exact/rational.js';
import { everyRecord, onceOnly, type Profile, pureProfile } from '../mechanism/profile.js';
import { drawAlgorithm21 } from '../papers/relationship-privacy/algorithm21.js';
import type { Foreseen } from '../query/bound.js';
import type { Plan } from '../release/plan.js';
import type { Receipt } from '../release/receipt.js';
import { type Relied, relation } from '../release/relied.js';
import type { Allowance, AskOptions, Session } from '../release/session.js';
import { adversarialPromise, refuseSecondBatch } from './adversarial-promise.js';
import {
  adversarialGuarantee,
  chooseCandidate,
  type PatternCandidate,
  type PatternMechanism,
  patternCandidates,
  publicDegree,
} from './candidates.js';
import { knownLadder, residualLadderOf } from './data-ladder.js';
import { clampAnswer, drawLadder, drawLaplace, drawSmooth } from './draw.js';
import { checkDomain, exactAnswer, refuseWide } from './exact-answer.js';
import { ownerSymbol, perOwner, personWays } from './owner.js';
import { contributions, raceToTheTop, truncated } from './person.js';
import { perPerson } from './person-candidates.js';
import { type AnalysisOptions, analysePattern, type PatternAnalysis } from './query/analyse.js';
import { coin, domainSize } from './query/lambda.js';
import { privateRelations } from './query/sensitivity.js';
import { shapeOf } from './query/shape.js';

export interface PatternOptions extends AskOptions, AnalysisOptions {
  /** Accept (epsilon, gamma)-adversarial privacy. */
  readonly gamma?: string;
  /** Public guess of the most ties anybody has (secret edge), or the number above which people are left out (secret person). */
  readonly degree?: number;
  /** Insist on one mechanism instead of the least expected error. */
  readonly mechanism?: PatternMechanism;
}

export interface PatternResult {
  readonly query: string;
  readonly unit: 'assignments' | 'occurrences';
  readonly value: string;
  readonly mechanism: PatternMechanism;
  readonly expectedError: number;
}

export interface PatternPlan extends Plan {
  readonly pattern: {
    readonly query: string;
    readonly unit: string;
    readonly stable: boolean;
    readonly witness: string | null;
    readonly globalSensitivity: number;
    readonly candidates: readonly PatternCandidate[];
    readonly chosen: PatternMechanism;
  };
}

export interface PreparedPattern {
  readonly analysis: PatternAnalysis;
  readonly allowance: Allowance;
  /** Two texts are two requests. */
  readonly canonical: readonly (string | number | null)[];
  readonly epsilon: Rational;
  readonly gamma: Rational | undefined;
  readonly degree: number;
  readonly person: boolean;
  readonly chosen: PatternCandidate;
  readonly profile: Profile;
  readonly relied: readonly Relied[];
  readonly plan: PatternPlan;
}

export async function planPattern(session: Session, text: string, options: PatternOptions = {}): Promise<PatternPlan> {
  return (await preparePattern(session, text, options)).plan;
}

export async function releasePattern(
  session: Session,
  text: string,
  options: PatternOptions = {},
): Promise<{ result: PatternResult; receipt: Receipt }> {
  const prepared = await preparePattern(session, text, options);
  const { allowance, canonical, chosen, profile, relied, plan } = prepared;
  if (isAdversarial(chosen)) await refuseSecondBatch(session, plan.label);
  return session.analyse<PatternResult>({
    kind: isAdversarial(chosen) ? 'adversarial' : 'pattern',
    allowance,
    canonical: JSON.stringify(canonical),
    plan,
    profile,
    relied,
    execute: (engine) => answerPattern(engine, session, prepared),
  });
}

export const isAdversarial = ({ guarantee }: PatternCandidate): boolean => guarantee === adversarialGuarantee;

export async function answerPattern(engine: Engine, session: Session, prepared: PreparedPattern): Promise<PatternResult> {
  const { analysis, chosen } = prepared;
  await checkDomain(engine, analysis);
  const value = await noisyAnswer(engine, session, prepared);
  return {
    query: analysis.text,
    unit: analysis.unit,
    value: `${value}`,
    mechanism: chosen.mechanism,
    expectedError: chosen.expectedError,
  };
}

/** The data enters here, and leaves with its noise. */
async function noisyAnswer(engine: Engine, session: Session, prepared: PreparedPattern): Promise<bigint> {
  const { analysis: a, epsilon, degree, chosen } = prepared;
  const within = (x: bigint) => clampAnswer(x, a.bounds.least, a.bounds.most);
  const exact = async () => (await exactAnswer(engine, a)).open();
  const draw: Record<PatternMechanism, () => Promise<bigint>> = {
    laplace: async () => {
      const noise = drawLaplace(prepared.person ? perPerson(a, domainSize(a.pattern) - 1) : a.bounds.globalSensitivity, epsilon);
      return within((await exact()) + noise);
    },
    ladder: async () => within((await exact()) + drawLadder((await knownLadder(engine, a)).open(), epsilon)),
    smooth: async () => within((await exact()) + drawSmooth((await knownLadder(engine, a)).open(), epsilon)),
    'residual-ladder': async () => within((await exact()) + drawLadder((await residualLadderOf(engine, a)).open(), epsilon)),
    'residual-smooth': async () => within((await exact()) + drawSmooth((await residualLadderOf(engine, a)).open(), epsilon)),
    'algorithm-2.1': async () => drawAlgorithm21(await exact(), terms21(prepared)),
    'truncation-ladder': async () => {
      const { count, ladder } = (await truncated(engine, a, degree)).open();
      return within(count + drawLadder(ladder, epsilon));
    },
    r2t: async () => {
      const person = ownerSymbol(session, a)!;
      return within(raceToTheTop((await contributions(engine, a, person)).open(), perOwner(a, person), epsilon));
    },
    elastic: () => {
      throw new Fault('QUERY_UNSUPPORTED', 'Elastic sensitivity is for comparison only.', 'Leave --mechanism out.');
    },
  };
  return draw[chosen.mechanism]();
}

function terms21({ analysis: a, epsilon, gamma }: PreparedPattern) {
  const plain = a.bounds.globalSensitivity <= a.lambda.used;
  return {
    epsilon,
    spread: plain ? a.bounds.globalSensitivity : a.lambda.used,
    coin: plain ? rational(0) : coin(a.pattern.goals.length, domainSize(a.pattern), gamma!),
    most: a.bounds.most,
  };
}

export async function preparePattern(session: Session, text: string, options: PatternOptions): Promise<PreparedPattern> {
  const { policy } = session;
  const { secret } = policy.protect;
  if (secret !== 'edge' && secret !== 'person')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Patterns are about relations, but the protected secret is not a tuple of a relation.',
      'Write protect: { secret: edge } to protect single ties, or { secret: person, unit: COLUMN } to protect all ties of a person.',
    );
  const analysis = analysePattern(text, { relations: policy.relations, columns: policy.columns }, options);
  const touched = privateRelations(analysis.pattern).map((r) => analysis.pattern.relations[r]!.name);
  const person = secret === 'person';
  const allowance = await session.allowance(options, person ? everyRecord : touched[0]!, { beyond: true });
  if (!allowance.pure || isZero(allowance.pure))
    throw new Fault('BUDGET_EXCEEDED', 'Nothing is left of the budget for this.', '"fugu ledger POLICY" lists what was spent.');
  const epsilon = allowance.pure;
  const gamma = options.gamma === undefined ? undefined : parseRational(options.gamma, 'gamma');
  const degree = publicDegree(analysis, options.degree);
  const candidates = person
    ? personWays(session, analysis, epsilon, degree)
    : patternCandidates(analysis, { epsilon, degree, ...(gamma && { gamma }) });
  const chosen = pick(candidates, analysis, options.mechanism);
  // Said before anything is booked: what execute throws is not told.
  if (chosen.mechanism !== 'r2t' && !shapeOf(analysis.pattern)) refuseWide(analysis);
  const adversarial = isAdversarial(chosen);
  const cost = person ? [[everyRecord, epsilon] as const] : touched.map((name) => [name, epsilon] as const);
  const profile = adversarial ? onceOnly('adversarial privacy') : pureProfile(cost);
  const framed = session.frame({
    label: `${adversarial ? 'adversarial privacy: ' : ''}pattern ${analysis.title}`.slice(0, 120),
    share: adversarial ? rational(0) : allowance.share,
    spent: allowance.spent,
    route: allowance.route,
    profile,
    reading: allowance.reading,
    mechanism: chosen.mechanism,
    why: why(chosen, candidates),
    measures: [],
    errors: [foreseen(analysis, chosen)],
    candidates: candidates.map((c) => ({ mechanism: c.mechanism, route: c.guarantee, error: c.expectedError, fits: c.meets })),
  });
  const plan: PatternPlan = {
    ...framed,
    ...(adversarial && { guarantee: adversarialPromise(framed, analysis, epsilon, options.gamma!) }),
    pattern: {
      query: analysis.text,
      unit: analysis.unit,
      stable: analysis.stability.stable,
      witness: analysis.stability.witness ?? null,
      globalSensitivity: Number(analysis.bounds.globalSensitivity),
      candidates,
      chosen: chosen.mechanism,
    },
  };
  return {
    analysis,
    allowance,
    canonical: [analysis.text, analysis.unit, chosen.mechanism, options.gamma ?? null, degree, options.log ?? 'safe'],
    epsilon,
    gamma,
    degree,
    person,
    chosen,
    plan,
    profile,
    relied: analysis.pattern.relations.filter((r) => !r.private).map((r) => relation(r.name)),
  };
}

function pick(candidates: readonly PatternCandidate[], a: PatternAnalysis, wanted?: PatternMechanism): PatternCandidate {
  if (wanted === undefined) return chooseCandidate(candidates);
  if (wanted === 'algorithm-2.1' && !a.stability.stable)
    throw new Fault(
      'PATTERN_UNSTABLE',
      `Algorithm 2.1 does not cover this query: ${a.stability.witness}.`,
      'Leave the mechanism out: other mechanisms answer it.',
    );
  const found = candidates.find((c) => c.mechanism === wanted && c.meets);
  if (!found)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `The mechanism ${wanted} is not available for this pattern.`,
      `Available: ${candidates
        .filter((c) => c.meets)
        .map((c) => c.mechanism)
        .join(', ')}.`,
    );
  return found;
}

/** As for Laplace noise of the same mean error; for noise that follows the data, on the imagined graph. */
const foreseen = (a: PatternAnalysis, { expectedError }: PatternCandidate): Foreseen => ({
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
