import { Fault } from '../../base/errors.js';
import { one, parseRational, type Rational, rational, toNumber } from '../../base/exact/rational.js';
import { posteriorAtMost } from '../../policy/belief.js';
import { betweenValues, neighboursOf } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import type { Amplifier } from '../../privacy/dependence/amplifier.js';
import { inDoubles } from '../../privacy/mechanism/distribution.js';
import { normalQuantile } from '../../privacy/mechanism/half-width.js';
import { nothingSpent } from '../../privacy/mechanism/privacy-cost.js';
import type { BoundBatch, ExpectedError } from '../../query/bound.js';
import { percentText } from './belief-words.js';
import { chooseNoise } from './choose.js';
import { openAccount } from './open-account.js';

/** A workload under an open budget: finds the accuracy that a total epsilon would give if the workload took all of it. */
export interface AccuracyTask {
  readonly policy: Policy;
  readonly amplifiers: readonly Amplifier[];
  readonly bound: BoundBatch;
}
export interface AccuracyTarget {
  /** Half width of the confidence interval that every number of the answer must reach, in the answer's own unit. */
  readonly error: number;
  readonly confidence: number;
  /** About how many rows the smallest cell of a mean or share has: public knowledge, never counted in the data. */
  readonly rows?: number;
}

/** Largest epsilon considered: beyond it an attacker can go from 1 in 1,000 to near certainty. */
const mostEpsilon: Rational = rational(16);

export function checkTarget({ error, confidence, rows }: AccuracyTarget): void {
  const refuse = (message: string, hint: string) => new Fault('BUDGET_INVALID', message, hint);
  if (!(error > 0 && Number.isFinite(error)))
    throw refuse(
      'The error to reach must be above 0.',
      'Noise is never zero: give the half width you can live with, for example --error 50 people or --error 0.02 of a share.',
    );
  if (!(confidence > 0 && confidence < 1))
    throw refuse('The confidence must lie strictly between 0 and 1.', 'Usual is --confidence 0.95.');
  if (rows !== undefined && !(rows >= 1 && Number.isFinite(rows)))
    throw refuse(
      'The number of rows must be at least 1.',
      'Give about how many rows the smallest group has, from public knowledge.',
    );
}

/** From the 95 % half width to another confidence. Exact for single numbers; for composed answers never too small. */
function widen({ error }: ExpectedError, kind: 'laplace' | 'gaussian', confidence: number): number {
  const alpha = 1 - confidence;
  const ratio = kind === 'laplace' ? Math.log(alpha) / Math.log(0.05) : normalQuantile(1 - alpha / 2) / normalQuantile(0.975);
  return error === 'exact' ? ratio : Math.max(1, ratio);
}

/** Largest error over all answers when the workload takes all of `epsilon`. */
export function errorWith(
  { policy, amplifiers, bound }: AccuracyTask,
  epsilon: Rational,
  { confidence, rows }: Omit<AccuracyTarget, 'error'>,
): number {
  const account = openAccount({ ...policy, budget: { epsilon, delta: policy.budget.delta } }, amplifiers);
  const best = chooseNoise(bound.measures, account, one, nothingSpent)[0];
  if (!best) throw new Fault('QUERY_UNSUPPORTED', 'No proven route covers this query.', 'Ask for fewer columns at once.');
  const errors = bound.expectedErrors(best.mechanisms.map(({ distribution }) => inDoubles(distribution))).map((f) => {
    if (f.perRow && rows === undefined)
      throw new Fault(
        'USAGE',
        `The error of "${f.name}" depends on how many rows it is over.`,
        'Add --rows N: about how many rows the smallest group has, from public knowledge (the data is not looked at).',
      );
    return (f.halfWidth * widen(f, best.kind, confidence)) / (f.perRow ? rows! : 1);
  });
  return Math.max(...errors);
}

/** Three digits, rounded up: what a person would write into a policy. */
function roundedUp(x: number): Rational {
  const power = Math.floor(Math.log10(x)) - 2;
  return parseRational(`${Math.ceil(x / 10 ** power - 1e-9)}e${power}`);
}

/** Least total epsilon whose error is within the target. */
export function leastEpsilonFor(task: AccuracyTask, target: AccuracyTarget): Rational {
  checkTarget(target);
  const reaches = (epsilon: Rational) => errorOrNone(task, epsilon, target) <= target.error;
  if (!reaches(mostEpsilon)) throw unreachable(task, target);
  let low = Math.log(1e-6);
  let high = Math.log(toNumber(mostEpsilon));
  while (high - low > 0.002) {
    const middle = (low + high) / 2;
    if (reaches(parseRational(Math.exp(middle).toPrecision(8)))) high = middle;
    else low = middle;
  }
  let found = roundedUp(Math.exp(high));
  // Whole units of noise make the error a staircase; a step may lie inside the last digits.
  for (let k = 0; k < 5 && !reaches(found); k++) found = roundedUp(toNumber(found) * 1.01);
  return found;
}

/** A budget too small for any noise under the declared ties reaches no target. */
function errorOrNone(task: AccuracyTask, epsilon: Rational, target: AccuracyTarget): number {
  try {
    return errorWith(task, epsilon, target);
  } catch (error) {
    if (error instanceof Fault && error.code === 'BUDGET_INVALID') return Number.POSITIVE_INFINITY;
    throw error;
  }
}

function unreachable(task: AccuracyTask, target: AccuracyTarget): Fault {
  const best = errorOrNone(task, mostEpsilon, target);
  const own = errorOrNone(task, task.policy.budget.epsilon, target);
  const tenth = parseRational('0.1');
  return new Fault(
    'BUDGET_INVALID',
    `No usable epsilon reaches an error of ${target.error}: even epsilon ${toNumber(mostEpsilon)} (10 % becomes ${percentText(posteriorAtMost(tenth, mostEpsilon), 'up')}) only reaches ${best.toPrecision(3)}.`,
    `The policy's own epsilon ${toNumber(task.policy.budget.epsilon)} reaches ${own.toPrecision(3)}. Ask for that, for fewer or coarser answers, or for fewer groups.`,
    { details: { reachable: best, atPolicyEpsilon: own } },
  );
}

export interface TradeOff {
  readonly epsilon: number;
  readonly error: number;
  readonly posterior: number;
}
const usualEpsilons: readonly Rational[] = ['0.05', '0.1', '0.2', '0.5', '1', '2', '3', '5', '8'].map((e) => parseRational(e));

/** A menu for choosing a budget: errors of the answers against the highest posterior of an attacker. */
export const tradeOff = (
  task: AccuracyTask,
  target: Omit<AccuracyTarget, 'error'>,
  prior: Rational,
  epsilons: readonly Rational[] = usualEpsilons,
): readonly TradeOff[] =>
  epsilons.map((epsilon) => ({
    epsilon: toNumber(epsilon),
    error: errorOrNone(task, epsilon, { ...target, error: 1 }),
    posterior: posteriorAtMost(prior, betweenValues(neighboursOf(task.policy), epsilon)),
  }));
