import * as z from 'zod';
import { chooseCandidate, type PatternMechanism, patternCandidates, publicDegree } from '../../analysis/pattern/candidates.js';
import { oneBatchFault } from '../../analysis/pattern/clustering.js';
import { analysePatternText as analyse, schemaFromText } from '../../analysis/pattern/query/analyse.js';
import { boundedAdversary, largestMarginal } from '../../analysis/pattern/query/lambda.js';
import { clusteringParts, isClusteringCoefficient } from '../../analysis/pattern/query/shortcut.js';
import { adversarialGuarantee, type PatternCandidate } from '../../analysis/pattern/strategies/strategy.js';
import { Fault } from '../../base/errors.js';
import { isPositive, parseRational, type Rational, toNumber } from '../../base/exact/rational.js';
import { amountShape, integerBetween, parseOptions, withFaults } from './input.js';
import { defineRequest, field } from './request.js';

const size = integerBetween(1, Number.MAX_SAFE_INTEGER);
const atLeast = (name: string, least: number) =>
  [`The ${name} must be a whole number of at least ${least}.`, `Write for example --${name} 10000.`] as const;
export const patternAnalysisOptions = defineRequest('PatternAnalysisOptions', {
  domain: field(integerBetween(2, Number.MAX_SAFE_INTEGER), 'Public size of the domain of the values.', {
    value: 'm',
    help: 'public size of the domain the values come from',
    needed: true,
    refusal: atLeast('domain', 2),
  }),
  epsilon: field(amountShape, 'Privacy cost of one tuple.', { value: 'e', help: 'what one tuple may cost', needed: true }),
  gamma: field(amountShape.optional(), 'Accepts (epsilon, gamma)-adversarial privacy.', {
    value: 'g',
    help: 'accept (epsilon, gamma)-adversarial privacy',
  }),
  delta: field(amountShape.optional(), 'Includes (epsilon, delta) mechanisms, for comparison.', {
    value: 'd',
    help: 'also show (epsilon, delta) mechanisms, for comparison',
  }),
  degree: field(size.optional(), 'Public guess of the largest number of ties; affects expected errors only.', {
    value: 'n',
    help: 'public guess of the most ties anybody has; affects expected errors only',
    refusal: atLeast('degree', 1),
  }),
  log: field(z.enum(['safe', 'natural']).default('safe'), 'Logarithm of lambda: safe (base 2, rounded up) or natural.', {
    value: 'reading',
    help: 'logarithm of lambda: safe (base 2, rounded up) or natural',
    showsDefault: true,
    refusal: ['The logarithm is "safe" or "natural".', 'Leave --log out for the safe reading.'],
  }),
  absence: field(z.boolean().optional(), 'Protects absent tuples as well.', {
    help: 'Algorithm 2.1: protect absent tuples, too',
  }),
  together: field(size.optional(), 'Tuples may be positively correlated with this many minus one others.', {
    value: 'k',
    help: 'Algorithm 2.1: tuples may be positively correlated with k - 1 others',
    refusal: atLeast('together', 1),
  }),
  symmetric: field(z.boolean().optional(), 'Declares the relations undirected.', { help: 'relations are undirected' }),
  occurrences: field(z.boolean().optional(), 'Counts each occurrence once, not once per symmetry.', {
    help: 'count each occurrence once, not once per symmetry',
  }),
});
export type PatternAnalysisOptions = z.input<typeof patternAnalysisOptions>;

/** Sensitivity of a count over relations, and every mechanism for it. */
export interface AnalysedPattern {
  readonly query: string;
  readonly stable: boolean;
  readonly dense: boolean;
  readonly witness: string | null;
  readonly density: number | null;
  readonly subgoals: number;
  readonly variables: number;
  readonly collapsed: readonly string[];
  readonly unit: 'assignments' | 'occurrences';
  readonly automorphisms: number;
  readonly lambda: number;
  readonly globalSensitivity: number;
  readonly largestAnswer: number;
  readonly adversary: ReturnType<typeof boundedAdversary> & { readonly largestMarginal: number };
  readonly assumedDegree: number;
  readonly candidates: readonly PatternCandidate[];
  readonly chosen: PatternMechanism;
}

/**
 * Analysis of a join or graph pattern: its stability, its sensitivity and its best mechanism. Reads no data. The clustering
 * coefficient is two counts that share epsilon, so two patterns are returned.
 *
 * @example
 * const [triangles] = await analysePattern('triangles', { domain: 10000, epsilon: 1, symmetric: true });
 * console.log(triangles.chosen);
 */
export async function analysePattern(query: string, given: PatternAnalysisOptions): Promise<readonly AnalysedPattern[]> {
  return withFaults(() => {
    if (typeof query !== 'string') throw new Fault('USAGE', 'The pattern is a text.', 'Write for example "triangles".');
    const request = parseOptions(patternAnalysisOptions, given);
    const texts = isClusteringCoefficient(query) ? clusteringParts : [query];
    const found = texts.map((text) => describe(text, request, texts.length));
    const isOneBatch = ({ candidates, chosen }: AnalysedPattern) =>
      candidates.some((c) => c.mechanism === chosen && c.guarantee === adversarialGuarantee);
    if (found.length > 1 && found.some(isOneBatch)) throw oneBatchFault();
    return found;
  });
}

function describe(text: string, options: PatternAnalysisOptions, shares: number): AnalysedPattern {
  const { domain } = options;
  const whole = positive(options.epsilon, 'epsilon');
  const epsilon = shares === 1 ? whole : { num: whole.num, den: whole.den * BigInt(shares) };
  const gamma = options.gamma === undefined ? undefined : positive(options.gamma, 'gamma');
  const delta = options.delta === undefined ? undefined : positive(options.delta, 'delta');
  const schema = schemaFromText(text, domain, { symmetric: options.symmetric === true });
  const a = analyse(text, schema, {
    log: options.log ?? 'safe',
    ...(options.occurrences && { occurrences: true }),
    ...(options.absence && { absence: true }),
  });
  const { degree } = options;
  const candidates = patternCandidates(a, {
    epsilon,
    ...(gamma && { gamma }),
    ...(delta && { delta }),
    ...(degree && { degree }),
    ...(options.absence && { absence: true }),
    ...(options.together && { together: options.together }),
  });
  return {
    query: a.text,
    stable: a.stability.stable,
    dense: a.stability.dense,
    witness: a.stability.witness ?? null,
    density: a.stability.density ? toNumber(a.stability.density) : null,
    subgoals: a.pattern.goals.length,
    variables: a.pattern.variables.length,
    collapsed: a.pattern.collapsed,
    unit: a.unit,
    automorphisms: a.automorphisms.count,
    lambda: a.lambda.shown,
    globalSensitivity: Number(a.bounds.globalSensitivity),
    largestAnswer: Number(a.bounds.most),
    adversary: { ...boundedAdversary(domain), largestMarginal: largestMarginal(domain, a.stability.density) },
    assumedDegree: publicDegree(a, degree),
    candidates,
    chosen: chooseCandidate(candidates).mechanism,
  };
}

const positive = (written: string | number, what: string): Rational => {
  const value = parseRational(`${written}`, what);
  if (!isPositive(value)) throw new Fault('BUDGET_INVALID', `The ${what} must be positive.`, 'Write for example 0.5.');
  return value;
};
