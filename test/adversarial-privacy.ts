/**
 * The theory of Rastogi et al. 2009 on small domains, by exhaustion: priors over instances (subsets of at most twelve tuples, as bit masks), mechanisms given as likelihoods of one
 * output, and what an output does to belief.
 */

/** Probability of each instance; index = bit mask of the tuples it holds. */
export type Prior = Float64Array;
/** Probability of one output given each instance, up to a common factor. */
export type Likelihood = Float64Array;

/** Equalities that rounding breaks must not count as violations, and absolute slack would let false ones through where probabilities are tiny. */
const slack = 1e-9;
const atLeast = (a: number, b: number): boolean => a >= b * (1 - slack);

const bits = (mask: number): number => {
  let many = 0;
  for (let m = mask; m; m &= m - 1) many++;
  return many;
};
const tuplesOf = (prior: Prior): number => Math.log2(prior.length);
const holds = (instance: number, tuple: number): boolean => (instance & (1 << tuple)) !== 0;

export function probability(prior: Prior, event: (instance: number) => boolean): number {
  let total = 0;
  for (let i = 0; i < prior.length; i++) if (event(i)) total += prior[i]!;
  return total;
}

/** The size of the database is known. */
export function isPlanar(prior: Prior): boolean {
  const sizes = new Set<number>();
  for (let i = 0; i < prior.length; i++) if (prior[i]! > 0) sizes.add(bits(i));
  return sizes.size <= 1;
}

/** P(I) P(J) >= P(I and J) P(I or J), for all I, J that each hold at least `k` tuples the other does not (Definition 4.5, its two slips mended; k = 1 is plain). */
export function isLogSubmodular(prior: Prior, k = 1): boolean {
  for (let i = 0; i < prior.length; i++)
    for (let j = i + 1; j < prior.length; j++)
      if (bits(i & ~j) >= k && bits(j & ~i) >= k && !atLeast(prior[i]! * prior[j]!, prior[i & j]! * prior[i | j]!)) return false;
  return true;
}

/** Every marginal is log-submodular. */
export function isTotallyLogSubmodular(prior: Prior, k = 1): boolean {
  for (let kept = 0; kept < prior.length; kept++) if (!isLogSubmodular(marginal(prior, kept), k)) return false;
  return true;
}

function marginal(prior: Prior, kept: number): Prior {
  const part = new Float64Array(prior.length);
  for (let i = 0; i < prior.length; i++) part[i & kept]! += prior[i]!;
  return part;
}

/** Monotone formulas over the tuples other than t, each as the set of instances (of those tuples) where it holds. Few tuples only: their number explodes. */
export function* monotoneFormulas(tuples: number, without: number): Generator<(instance: number) => boolean> {
  const others = [...Array(tuples).keys()].filter((t) => t !== without);
  const size = 1 << others.length;
  const project = (instance: number) => others.reduce((m, t, b) => (holds(instance, t) ? m | (1 << b) : m), 0);
  const walk = function* (at: number, chosen: readonly boolean[]): Generator<readonly boolean[]> {
    if (at === size) {
      yield chosen;
      return;
    }
    const forced = others.some((_, b) => at & (1 << b) && chosen[at & ~(1 << b)]);
    if (!forced) yield* walk(at + 1, [...chosen, false]);
    yield* walk(at + 1, [...chosen, true]);
  };
  for (const truth of walk(0, [])) yield (instance) => truth[project(instance)]!;
}

/** P(t and m) <= P(t) P(m) for every tuple t and monotone formula m that does not mention it. */
function isNegativelyAssociated(prior: Prior): boolean {
  const tuples = tuplesOf(prior);
  for (let t = 0; t < tuples; t++) {
    const p = probability(prior, (i) => holds(i, t));
    for (const m of monotoneFormulas(tuples, t))
      if (
        !atLeast(
          p * probability(prior, m),
          probability(prior, (i) => holds(i, t) && m(i)),
        )
      )
        return false;
  }
  return true;
}

/** Negatively associated, and still so after learning any tuples present or absent. */
export function isConditionallyNegative(prior: Prior): boolean {
  const tuples = tuplesOf(prior);
  for (let known = 0; known < 1 << tuples; known++)
    for (let value = known; ; value = (value - 1) & known) {
      const left = conditioned(prior, (i) => (i & known) === value);
      if (left && !isNegativelyAssociated(left)) return false;
      if (value === 0) break;
    }
  return true;
}

export function conditioned(prior: Prior, event: (instance: number) => boolean): Prior | undefined {
  const total = probability(prior, event);
  return total > 0 ? prior.map((p, i) => (event(i) ? p / total : 0)) : undefined;
}

/** Number of tuples to exchange to turn one instance into another of the same size. */
export const exchanges = (i: number, j: number): number => bits(i & ~j);

/** The output most in favour of `target` that an epsilon-indistinguishable mechanism can have. */
export const towards = (target: number, epsilon: number, tuples: number): Likelihood =>
  Float64Array.from({ length: 1 << tuples }, (_, i) => Math.exp(-epsilon * exchanges(i, target)));

/** Largest log ratio between instances of one size that differ in one exchanged tuple. */
export function indistinguishability(likelihood: Likelihood): number {
  let worst = 0;
  for (let i = 0; i < likelihood.length; i++)
    for (let j = 0; j < likelihood.length; j++)
      if (bits(i) === bits(j) && exchanges(i, j) === 1) worst = Math.max(worst, Math.log(likelihood[i]! / likelihood[j]!));
  return worst;
}

/** Belief in an event after the output. */
export function posteriorBelief(prior: Prior, likelihood: Likelihood, event: (instance: number) => boolean): number {
  let [with_, all] = [0, 0];
  for (let i = 0; i < prior.length; i++) {
    const joint = prior[i]! * likelihood[i]!;
    all += joint;
    if (event(i)) with_ += joint;
  }
  return with_ / all;
}

/** Largest growth of belief in any tuple: max log P(t | O) / P(t). */
export function beliefGain(prior: Prior, likelihood: Likelihood): number {
  let worst = Number.NEGATIVE_INFINITY;
  for (let t = 0; t < tuplesOf(prior); t++) {
    const p = probability(prior, (i) => holds(i, t));
    if (p > 0) worst = Math.max(worst, Math.log(posteriorBelief(prior, likelihood, (i) => holds(i, t)) / p));
  }
  return worst;
}

/**
 * Theorem 3.12 as a construction: f = [t] + [m] changes by at most 1 per exchange; e^(epsilon f) is epsilon-indistinguishable;
 * the posterior of t grows by more than epsilon, for small epsilon, when P(t and m) > P(t) P(m) + P(t)^2.
 */
export const breaking = (tuples: number, tuple: number, formula: (instance: number) => boolean, epsilon: number): Likelihood =>
  Float64Array.from({ length: 1 << tuples }, (_, i) => Math.exp(epsilon * (Number(holds(i, tuple)) + Number(formula(i)))));

/** Theorem 4.3: being (l, e^epsilonPrime)-relaxed indistinguishable protects against priors with marginals below delta. */
export function relaxedParams(delta: number, epsilon: number, r: number): { readonly l: number; readonly epsilonPrime: number } {
  if (!(r > 0 && r < 1 && r * Math.exp(epsilon) >= 1)) throw new RangeError('needs 0 < r < 1 and r e^epsilon >= 1');
  return { l: Math.floor(((1 - delta) / delta) * (1 - r) - 1), epsilonPrime: epsilon + Math.log(r) };
}

/** The most tuples t' any tuple t has for which exchanging t by t' somewhere makes the output e^epsilon times less likely (Definition 4.1). */
export function distinguishable(likelihood: Likelihood, epsilon: number): number {
  const tuples = tuplesOf(likelihood);
  let most = 0;
  for (let t = 0; t < tuples; t++) {
    let many = 0;
    for (let other = 0; other < tuples; other++) {
      if (other === t) continue;
      let found = false;
      for (let i = 0; i < likelihood.length && !found; i++)
        if (holds(i, t) && !holds(i, other)) {
          const exchanged = (i & ~(1 << t)) | (1 << other);
          found = likelihood[i]! >= Math.exp(epsilon) * likelihood[exchanged]! * (1 - slack);
        }
      if (found) many++;
    }
    most = Math.max(most, many);
  }
  return most;
}
