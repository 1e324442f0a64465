import { Fault } from '../../../base/errors.js';
import type { MechanismInput } from '../compare/mechanism.js';

/** Queries that add up one number of every record, each between 0 and 1, answered one after the other from a histogram that is corrected where noise shows it wrong. */
export interface WeightRounds {
  readonly records: number;
  /** By query and value. */
  readonly queries: readonly Float64Array[];
  /** Of the Laplace noise on the exact answer to every query. */
  readonly scale: number;
  /** A noisy answer this near to that of the histogram leaves it as it is. */
  readonly threshold: number;
  /** Change of the log weight by one correction. */
  readonly rate: number;
  /** Corrections after which nothing more is answered. */
  readonly most: number;
}

type Weights = Float64Array;
const uniform = ({ queries }: WeightRounds): Weights => {
  const values = queries[0]?.length ?? 0;
  return new Float64Array(values).fill(1 / values);
};
const guess = ({ records, queries }: WeightRounds, t: number, weights: Weights): number =>
  records * queries[t]!.reduce((sum, f, r) => sum + f * weights[r]!, 0);
function corrected({ queries, rate }: WeightRounds, t: number, weights: Weights, up: boolean): Weights {
  const raised = weights.map((w, r) => w * Math.exp((up ? rate : -rate) * queries[t]![r]!));
  const all = raised.reduce((sum, w) => sum + w, 0);
  return raised.map((w) => w / all);
}

/**
 * Released answers, from the noisy answers to all queries: undefined after the last correction.
 * The noise of a round is independent of earlier rounds, so it may be added beforehand.
 */
export function releasedAnswers(rounds: WeightRounds, noisy: readonly number[]): readonly (number | undefined)[] {
  let [weights, corrections] = [uniform(rounds), 0];
  return noisy.map((answer, t) => {
    if (corrections >= rounds.most) return undefined;
    const own = guess(rounds, t, weights);
    if (Math.abs(answer - own) <= rounds.threshold) return own;
    weights = corrected(rounds, t, weights, answer > own);
    corrections++;
    return answer;
  });
}

/** One round as the audit sees it: the histogram is kept, or a number above or below it is released. */
export interface RoundOutcome {
  readonly kind: 'kept' | 'above' | 'below';
  readonly guess: number;
}
/** Possible outcomes of round t given the earlier ones; the histogram depends on these alone, never on the released numbers. */
export function* histories(rounds: WeightRounds): Generator<readonly RoundOutcome[]> {
  function* from(
    t: number,
    weights: Weights,
    corrections: number,
    past: readonly RoundOutcome[],
  ): Generator<readonly RoundOutcome[]> {
    if (t === rounds.queries.length || corrections >= rounds.most) {
      yield past;
      return;
    }
    const own = guess(rounds, t, weights);
    yield* from(t + 1, weights, corrections, [...past, { kind: 'kept', guess: own }]);
    for (const kind of ['above', 'below'] as const)
      yield* from(t + 1, corrected(rounds, t, weights, kind === 'above'), corrections + 1, [...past, { kind, guess: own }]);
  }
  yield* from(0, uniform(rounds), 0, []);
}

/** The coordinates of an answer as such queries: what one value adds, found from the states in which all records have it. */
export function queriesOf({ joint, answers }: MechanismInput): {
  readonly queries: readonly Float64Array[];
  /** By query and state, in units in which one record moves it by at most 1. */
  readonly exact: readonly Float64Array[];
  /** Largest sensitivity of a coordinate to one record. */
  readonly unit: number;
} {
  const [values] = joint.values;
  const records = joint.sizes.length;
  if (!values || !joint.values.every((own) => own.length === values.length && own.every((v, k) => v === values[k])))
    throw notLinear();
  const place = (state: number, j: number) => Math.floor(state / joint.strides[j]!) % joint.sizes[j]!;
  const step = joint.strides.reduce((a, b) => a + b, 0);
  const kept: { readonly query: Float64Array; readonly exact: Float64Array; readonly unit: number }[] = [];
  for (let k = 0; k < answers.width; k++) {
    const at = (state: number) => answers.points[state * answers.width + k]!;
    const adds = values.map((_, v) => at(v * step) / records);
    for (let state = 0; state < joint.probabilities.length; state++) {
      let sum = 0;
      for (let j = 0; j < records; j++) sum += adds[place(state, j)]!;
      if (Math.abs(sum - at(state)) > 1e-9 * Math.max(1, Math.abs(sum))) throw notLinear();
    }
    const low = Math.min(...adds);
    const unit = Math.max(...adds) - low;
    if (unit === 0) continue;
    kept.push({
      query: Float64Array.from(adds, (a) => (a - low) / unit),
      exact: Float64Array.from(joint.probabilities, (_, state) => (at(state) - records * low) / unit),
      unit,
    });
  }
  if (kept.length === 0) throw notLinear();
  return { queries: kept.map((k) => k.query), exact: kept.map((k) => k.exact), unit: Math.max(...kept.map((k) => k.unit)) };
}

const notLinear = () =>
  new Fault(
    'QUERY_UNSUPPORTED',
    'Multiplicative weights and the correlated iteration answer queries that add up the same number of every record.',
    'Ask sum, atLeast or histogram over records that have the same values.',
  );
