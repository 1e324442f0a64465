import { Fault } from '../errors.js';
import { divide, multiply, type Rational, rational, toNumber, toNumberUp } from '../exact/rational.js';
import { limits } from '../input/limits.js';
import type { PatternAnalysis } from './query/analyse.js';
import { choose, cliqueLadder, diamondLadder, type Ladder, residualLadder, starLadder, triangleLadder } from './query/ladders.js';
import { domainSize, lambda } from './query/lambda.js';
import { largestUnderDegree, residualParts, residualTerms } from './query/residual.js';
import { larger } from './query/sensitivity.js';
import { type Shape, shapeOf } from './query/shape.js';

/**
 * Ways to answer a pattern, each with the error to expect. Everything here follows from public declarations: the mechanisms whose noise follows the data are
 * judged on an imagined graph in which nobody has more ties than `degree`, never on the data, because a choice made on the data would tell about it. A wrong
 * `degree` costs accuracy, not privacy.
 */
export type PatternMechanism =
  | 'laplace'
  | 'ladder'
  | 'residual-ladder'
  | 'smooth'
  | 'residual-smooth'
  | 'elastic'
  | 'algorithm-2.1'
  | 'truncation-ladder'
  | 'r2t';

export interface PatternCandidate {
  readonly mechanism: PatternMechanism;
  /** Width of the noise: Laplace scale, or its equivalent at the imagined degree. */
  readonly scale: number;
  /** Mean absolute error. */
  readonly expectedError: number;
  readonly guarantee: string;
  /** Whether it meets the guarantee asked for; only then may it be chosen. */
  readonly meets: boolean;
  readonly note?: string;
  /** Paper 004's usefulness: the error reaches `sigma` with probability at most `gamma` / domain. */
  readonly usefulness?: { readonly sigma: number; readonly gamma: number };
}

export interface PatternTerms {
  /** What one tuple (secret `edge`) may cost, before ties. */
  readonly epsilon: Rational;
  /** Present when (epsilon, gamma)-adversarial privacy is enough. */
  readonly gamma?: Rational;
  /** Present when (epsilon, delta) is asked about; such mechanisms have no profile and are listed for comparison only. */
  readonly delta?: Rational;
  /** Public guess of the most ties anybody has. */
  readonly degree?: number;
  /** Adversarial privacy for absent tuples, too. */
  readonly absence?: boolean;
  /** Adversarial privacy when a tuple may be positively correlated with this many minus one others. */
  readonly together?: number;
}

export const pureGuarantee = 'epsilon-indistinguishable (pure)';
export const adversarialGuarantee = 'adversarial privacy (epsilon, gamma)';
export const approximateGuarantee = '(epsilon, delta), no profile';

/** Half the log-density budget goes to shifting, half to stretching (noise/quartic.proof.md). 2.2796 > 3^(3/4). */
export const quarticSlide: Rational = rational(22796, 10000);
export const quarticScale = (epsilon: Rational): Rational => divide(multiply(rational(2), quarticSlide), epsilon);
export const quarticBeta = (epsilon: Rational): Rational => divide(epsilon, rational(6));

export function publicDegree(a: PatternAnalysis, given?: number): number {
  if (given === undefined) return Math.max(8, Math.ceil(Math.sqrt(domainSize(a.pattern))));
  if (Number.isSafeInteger(given) && given >= 1) return given;
  throw new Fault('USAGE', 'The degree must be a whole number of at least 1.', 'Write for example --degree 100.');
}

export function patternCandidates(a: PatternAnalysis, terms: PatternTerms): readonly PatternCandidate[] {
  const epsilon = toNumber(terms.epsilon);
  const sensitivity = Number(a.bounds.globalSensitivity);
  const degree = publicDegree(a, terms.degree);
  const assumed = `if nobody has more than ${degree} ties`;
  const laplace: PatternCandidate = {
    mechanism: 'laplace',
    scale: sensitivity / epsilon,
    expectedError: sensitivity / epsilon,
    guarantee: pureGuarantee,
    meets: true,
    usefulness: { sigma: (sensitivity / epsilon) * Math.log(domainSize(a.pattern)), gamma: 1 },
  };
  const list: PatternCandidate[] = [laplace];
  const following = (ladder: Ladder, names: readonly [PatternMechanism, PatternMechanism]) => {
    const error = ladderError(ladder, epsilon / 2);
    list.push({
      mechanism: names[0],
      scale: (2 * Number(ladder.width(0))) / epsilon,
      expectedError: error,
      guarantee: pureGuarantee,
      meets: true,
      note: assumed,
    });
    const scale = toNumberUp(quarticScale(terms.epsilon)) * smoothBound(ladder, epsilon / 6);
    list.push({
      mechanism: names[1],
      scale,
      expectedError: scale * Math.SQRT1_2,
      guarantee: pureGuarantee,
      meets: true,
      note: assumed,
    });
  };
  const shape = shapeOf(a.pattern);
  const known = shape && shapeLadder(shape, a, degree);
  if (known) following(known, ['ladder', 'smooth']);
  // A shape that is known has its own ladder, however large it is.
  if (!known || a.pattern.goals.length <= limits.privateGoals.most)
    following(residualUnderDegree(a, degree), ['residual-ladder', 'residual-smooth']);
  if (terms.delta) list.push(elastic(a, epsilon, toNumber(terms.delta), degree));
  const paper = algorithm21(a, terms, epsilon);
  return paper ? [...list, paper] : list;
}

/** The least expected error among those that meet the guarantee; the first in the list wins a tie. */
export const chooseCandidate = (candidates: readonly PatternCandidate[]): PatternCandidate =>
  candidates.filter((c) => c.meets).reduce((best, c) => (c.expectedError < best.expectedError ? c : best));

/** Shapes whose ladder is known; others use the residual one. */
function shapeLadder(shape: Shape, a: PatternAnalysis, degree: number): Ladder | undefined {
  const n = domainSize(a.pattern);
  const d = Math.min(degree, n - 2);
  const ladder =
    shape.kind === 'clique' && shape.k === 3
      ? triangleLadder([{ common: d, single: 0 }], n)
      : shape.kind === 'clique'
        ? cliqueLadder(shape.k, choose(BigInt(d), shape.k - 2), d, n)
        : shape.kind === 'star'
          ? starLadder(shape.k, [[d, d]], n)
          : shape.kind === 'diamond'
            ? diamondLadder(choose(BigInt(d), 2) + 2n * BigInt(d) * BigInt(d), d, n)
            : undefined;
  return ladder && scaleLadder(ladder, BigInt(a.automorphisms.count) / a.divisor);
}

/** A ladder of occurrences, in assignments. */
export const scaleLadder = (ladder: Ladder, factor: bigint): Ladder =>
  factor === 1n ? ladder : { width: (t) => ladder.width(t) * factor, widest: ladder.widest * factor };

export const hasKnownLadder = (a: PatternAnalysis): boolean => {
  const shape = shapeOf(a.pattern);
  return shape !== undefined && shapeLadder(shape, a, 1) !== undefined;
};

function residualUnderDegree(a: PatternAnalysis, degree: number): Ladder {
  const parts = residualParts(a.pattern);
  const terms = residualTerms(parts, (part) => largestUnderDegree(a.pattern, part, () => BigInt(degree)));
  return residualOf(a, terms);
}

/** The residual ladder of a pattern from the coefficients of each private relation. */
export function residualOf(a: PatternAnalysis, terms: ReadonlyMap<number, readonly bigint[]>): Ladder {
  const factor = a.pattern.sum ? larger(magnitude(a.pattern.sum.bounds[0]), magnitude(a.pattern.sum.bounds[1])) : 1n;
  const ladders = [...terms].map(([relation, list]) =>
    residualLadder(
      list.map((t) => t * factor),
      a.pattern.relations[relation]!.symmetric ? 2 : directions(a),
      a.divisor,
      a.bounds.globalSensitivity,
    ),
  );
  return { width: (t) => ladders.map((l) => l.width(t)).reduce(larger), widest: a.bounds.globalSensitivity };
}
/** With one symmetric relation among several, every change is counted as two tuples. */
const directions = (a: PatternAnalysis): 1 | 2 => (a.pattern.relations.some((r) => r.symmetric && r.private) ? 2 : 1);
const mostSteps = 1_000_000;
const magnitude = (x: bigint): bigint => (x < 0n ? -x : x);

/** Mean distance from the centre under the ladder's law, in doubles: for plans only. */
export function ladderError(ladder: Ladder, decay: number): number {
  let [weight, total, distance] = [1, 0, 0];
  for (let u = 1; u < 100_000; u++) {
    const width = Math.max(1, Number(ladder.width(u - 1)));
    const mass = 2 * width * Math.exp(-decay * u);
    weight += mass;
    total += mass * (distance + (width + 1) / 2);
    distance += width;
    if (mass * distance < 1e-9 * total && u * decay > 40) break;
  }
  return total / weight;
}

/** For plans only; infinite where it takes too many steps to tell, since so little is then left of beta that no answer would be seen. */
export function smoothBound(ladder: Ladder, beta: number): number {
  let best = 0;
  const widest = Number(ladder.widest);
  for (let t = 0; widest * Math.exp(-beta * t) > best; t++) {
    if (t === mostSteps) return Number.POSITIVE_INFINITY;
    best = Math.max(best, Number(ladder.width(t)) * Math.exp(-beta * t));
  }
  return best;
}

/**
 * Elastic sensitivity (Johnson, Near, Song 2018) as a comparator: at distance k a join of g goals on columns of maximum frequency f moves by at most
 * g-1 joins each multiplying by f + k, summed over which goal changed.
 */
function elastic(a: PatternAnalysis, epsilon: number, delta: number, degree: number): PatternCandidate {
  const goals = a.pattern.goals.length;
  const beta = epsilon / (2 * Math.log(2 / delta));
  const change = directions(a);
  let stability = (_k: number): number => change;
  for (let joined = 1; joined < goals; joined++) {
    const before = stability;
    stability = (k) => (degree + k) ** joined * change + (degree + k) * before(k) + before(k) * change;
  }
  let best = 0;
  if (goals / beta > mostSteps) best = Number.POSITIVE_INFINITY;
  else for (let k = 0; k <= Math.ceil(goals / beta); k++) best = Math.max(best, Math.exp(-beta * k) * stability(k));
  const scale = (2 * best) / (epsilon * Number(a.divisor));
  return {
    mechanism: 'elastic',
    scale,
    expectedError: scale,
    guarantee: approximateGuarantee,
    meets: false,
    note: 'comparison only: ties cannot be accounted for',
  };
}

/**
 * Paper 004 with its corrections. When plain noise is no larger it takes over, and the answer is then indistinguishable outright. Protecting absence needs a dense
 * query and one power more; positive correlations are covered by the plain branch only, at a part of epsilon.
 */
function algorithm21(a: PatternAnalysis, terms: PatternTerms, epsilon: number): PatternCandidate | undefined {
  if (a.pattern.sum || !a.stability.stable || (terms.absence && !a.stability.dense)) return undefined;
  const m = domainSize(a.pattern);
  const goals = a.pattern.goals.length;
  const spread = terms.absence ? lambda(a.pattern, 'safe', { exponent: goals }).used : a.lambda.used;
  const plain = a.bounds.globalSensitivity <= spread;
  const part = epsilon / (terms.together ?? 1);
  const scale = Number(plain ? a.bounds.globalSensitivity : spread) / part;
  const offer = { mechanism: 'algorithm-2.1', scale, expectedError: scale } as const;
  const sigma = scale * Math.log(m);
  const not = (note: string): PatternCandidate => ({ ...offer, guarantee: adversarialGuarantee, meets: false, note });
  if (a.pattern.relations.some((r) => r.symmetric)) return not('stated for directed relations only');
  if (plain)
    return {
      ...offer,
      guarantee: pureGuarantee,
      meets: true,
      usefulness: { sigma, gamma: 1 },
      note: 'global sensitivity is below lambda: plain noise, no random branch',
    };
  if ((terms.together ?? 1) > 1) return not('nothing is known about positive correlations when gamma is above zero');
  if (!terms.gamma) return not('weaker than asked for: needs a gamma');
  const coin = goals / (m * toNumber(terms.gamma));
  if (coin >= 1) return not('the domain is too small for this gamma');
  return {
    ...offer,
    guarantee: adversarialGuarantee,
    meets: true,
    usefulness: { sigma, gamma: 1 + coin * m },
    note: `with probability ${coin.toPrecision(2)} the answer is meaningless`,
  };
}
