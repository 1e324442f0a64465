import { Fault } from '../../base/errors.js';
import { enumerate, type JointDistribution } from '../../privacy/dependence/model/joint.js';
import type { Model } from '../../privacy/dependence/model/model.js';
import type { AdditiveDistribution } from '../../privacy/mechanism/distribution.js';
import { noiseScale } from '../../privacy/mechanism/half-width.js';
import { type ReadTable, readRecordQuery, stateAnswers } from '../audit/record-query.js';
import { gainOf, logNoise } from './gain.js';

/** The noise an attacker knows was added, independently to every number of the answer. Constants cancel, so the discrete laws give the same beliefs. */
type KnownNoise = AdditiveDistribution<number>;

/** One value the attacker considers, and what the answer makes of it. */
export interface PosteriorRow {
  readonly value: number | string;
  readonly prior: number;
  /** The exact answer if this were the value. */
  readonly expected: readonly number[];
  /** Noise that this value implies. */
  readonly noise: readonly number[];
  readonly density: number;
  readonly posterior: number;
}

/** One unknown value among a universe, everything else known to the attacker. */
export interface PosteriorQuestion {
  readonly universe: readonly (number | string)[];
  /** Uniform when absent. */
  readonly prior?: readonly number[];
  readonly answerIf: (value: number | string) => readonly number[];
  readonly answer: readonly number[];
  readonly noise: KnownNoise;
}

const invalid = (message: string, hint: string) => new Fault('QUERY_INVALID', message, hint);

/** Bayes' rule, value by value. */
export function posteriorTable({ universe, prior, answerIf, answer, noise }: PosteriorQuestion): readonly PosteriorRow[] {
  if (universe.length < 2)
    throw invalid('A guess needs at least two possible values.', 'List every value the attacker considers.');
  const before = checkedPrior(prior ?? universe.map(() => 1 / universe.length), universe.length);
  const density = logDensity(noise, answer);
  const rows = universe.map((value, k) => {
    const expected = answerIf(value);
    const logs = density(expected);
    return { value, prior: before[k]!, expected, noise: answer.map((r, c) => r - expected[c]!), logs };
  });
  const after = normalise(rows.map((r) => Math.log(r.prior) + r.logs));
  return rows.map(({ logs, ...row }, k) => ({ ...row, density: Math.exp(logs), posterior: after[k]! }));
}

function checkedPrior(prior: readonly number[], length: number): readonly number[] {
  if (prior.length !== length)
    throw invalid(`There are ${length} values but ${prior.length} prior probabilities.`, 'Give one probability per value.');
  const total = prior.reduce((s, p) => s + p, 0);
  if (!prior.every((p) => p >= 0 && p <= 1) || !(Math.abs(total - 1) < 1e-6))
    throw invalid('The prior is not a distribution.', 'Its probabilities must lie between 0 and 1 and add up to 1.');
  return prior;
}

function logDensity(noise: KnownNoise, answer: readonly number[]): (expected: readonly number[]) => number {
  const spread = noiseScale(noise);
  if (!(spread > 0 && Number.isFinite(spread)))
    throw invalid('The noise scale is not a positive number.', 'Take it from the plan or the receipt of the release.');
  if (answer.length === 0 || !answer.every(Number.isFinite))
    throw invalid('The answer is not a number.', 'Give the released answer, for example 5.041.');
  const log = logNoise(noise);
  const width = spread * (noise.kind === 'laplace' ? 2 : Math.sqrt(2 * Math.PI));
  return (expected) => {
    if (expected.length !== answer.length)
      throw invalid(
        `The query has ${expected.length} numbers but the answer ${answer.length}.`,
        'Give every number of the answer, separated by commas.',
      );
    return answer.reduce((sum, r, c) => sum + log(r - expected[c]!) - Math.log(width), 0);
  };
}

function normalise(logs: readonly number[]): number[] {
  const top = Math.max(...logs);
  if (top === Number.NEGATIVE_INFINITY)
    throw invalid('Nothing the attacker considers is possible.', 'Check the prior and the known values.');
  const weights = logs.map((l) => Math.exp(l - top));
  const total = weights.reduce((s, w) => s + w, 0);
  return weights.map((w) => w / total);
}

export interface ModelPosteriorQuestion {
  readonly about: string;
  readonly query: string;
  readonly answer: readonly number[];
  readonly noise: KnownNoise;
  /** Exact values the attacker knows, by record. */
  readonly known?: Readonly<Record<string, number>>;
  readonly readTable?: ReadTable;
}
export interface ValueBelief {
  readonly value: number;
  readonly prior: number;
  readonly posterior: number;
}
/** Posterior about one record: of an attacker who knows the ties, and of one who assumes independent records with the same marginals. */
export interface ModelPosterior {
  readonly about: string;
  readonly withTies: readonly ValueBelief[];
  readonly withoutTies: readonly ValueBelief[];
  /** Largest change of log-odds between two values that the answer caused. */
  readonly gain: { readonly withTies: number; readonly withoutTies: number };
  readonly assumptions: readonly string[];
}

export function modelPosterior(model: Model, suspicion: ModelPosteriorQuestion): ModelPosterior {
  const joint = enumerate(model);
  const target = recordNamed(joint, suspicion.about);
  const fixed = Object.entries(suspicion.known ?? {}).map(([id, value]) => {
    const record = recordNamed(joint, id);
    const at = joint.values[record]!.indexOf(value);
    if (at < 0)
      throw invalid(
        `Record "${id}" cannot take the value it is said to have.`,
        `Its values are ${joint.values[record]!.join(', ')}.`,
      );
    if (record === target) throw invalid('The record in question is itself listed as known.', 'Leave it out of the known ones.');
    return [record, at] as const;
  });
  const answers = stateAnswers(joint, readRecordQuery(suspicion.query, joint, suspicion.readTable));
  const density = logDensity(suspicion.noise, suspicion.answer);
  const likelihood = (state: number) => density([...answers.points.subarray(state * answers.width, (state + 1) * answers.width)]);
  const withTies = believe(joint, joint.probabilities, { target, fixed, likelihood });
  const withoutTies = believe(joint, strangers(joint), { target, fixed, likelihood });
  return {
    about: suspicion.about,
    withTies,
    withoutTies,
    gain: { withTies: gain(withTies), withoutTies: gain(withoutTies) },
    assumptions: joint.assumptions,
  };
}

function recordNamed(joint: JointDistribution, id: string): number {
  const record = joint.ids.indexOf(id);
  if (record < 0) throw invalid(`The model has no record "${id}".`, `Its records are ${joint.ids.slice(0, 20).join(', ')}.`);
  return record;
}

const at = (joint: JointDistribution, state: number, record: number): number =>
  Math.floor(state / joint.strides[record]!) % joint.sizes[record]!;

/** The product of the marginals. */
function strangers(joint: JointDistribution): Float64Array {
  const marginals = joint.sizes.map((size) => new Float64Array(size));
  for (const [state, p] of joint.probabilities.entries()) for (const [j, m] of marginals.entries()) m[at(joint, state, j)]! += p;
  return joint.probabilities.map((_, state) => marginals.reduce((p, m, j) => p * m[at(joint, state, j)]!, 1));
}

interface Evidence {
  readonly target: number;
  /** Known records with the positions of their values. */
  readonly fixed: readonly (readonly [record: number, value: number])[];
  readonly likelihood: (state: number) => number;
}
function believe(
  joint: JointDistribution,
  probabilities: Float64Array,
  { target, fixed, likelihood }: Evidence,
): readonly ValueBelief[] {
  const possible: { value: number; p: number; logs: number }[] = [];
  for (const [state, p] of probabilities.entries())
    if (p > 0 && fixed.every(([record, value]) => at(joint, state, record) === value))
      possible.push({ value: at(joint, state, target), p, logs: likelihood(state) });
  if (possible.length === 0)
    throw invalid('The known values cannot occur together in this model.', 'Check them against the model.');
  const weighted = normalise(possible.map(({ p, logs }) => Math.log(p) + logs));
  const total = possible.reduce((s, { p }) => s + p, 0);
  const beliefs = joint.values[target]!.map((value) => ({ value, prior: 0, posterior: 0 }));
  for (const [k, { value, p }] of possible.entries()) {
    beliefs[value]!.prior += p / total;
    beliefs[value]!.posterior += weighted[k]!;
  }
  return beliefs;
}

const gain = (beliefs: readonly ValueBelief[]): number =>
  gainOf(
    beliefs.map(({ prior }) => prior),
    beliefs.map(({ posterior }) => posterior),
  );
