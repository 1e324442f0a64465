import { enumerationTooLarge, type JointDistribution } from '../../../privacy/dependence/model/joint.js';
import { type Adversary, possibleStates } from '../../audit/exact-loss.js';
import { cellsFor, logArithmetic } from '../../audit/known-cells.js';
import { histories, type RoundOutcome, type WeightRounds } from './rounds.js';

const largestAudit = 2e7;

/** Worst-case loss about one record over all rounds, exact (rounds-loss.proof.md). `exact` is the answer to every query by state. */
export function roundsLoss(
  joint: JointDistribution,
  exact: readonly Float64Array[],
  rounds: WeightRounds,
  adversary: Adversary,
): number {
  const possible = possibleStates(joint);
  const cells = cellsFor(joint, possible, adversary);
  const prior = possible.map((state) => Math.log(joint.probabilities[state]!));
  const base = cells.sums(prior, logArithmetic);
  const centres = exact.map((answers) => [...new Set(possible.map((state) => answers[state]!))].sort((a, b) => a - b));
  // Each round has at most its centres, the two thresholds, and the outcome in which the histogram is kept.
  const steps = centres.reduce((n, list) => n * (list.length + 3), 1) * (cells.total + possible.length);
  if (!(steps <= largestAudit)) throw enumerationTooLarge('steps', steps, largestAudit);
  let worst = logArithmetic.none;
  const look = (history: readonly RoundOutcome[], t: number, logs: Float64Array): void => {
    if (t === history.length) {
      const likelihood = prior.map((log, p) => log + logs[p]!);
      worst = cells.widest(cells.sums(likelihood, logArithmetic), base, logArithmetic, worst)?.gap ?? worst;
      return;
    }
    const { kind, guess } = history[t]!;
    const [low, high] = [guess - rounds.threshold, guess + rounds.threshold];
    const after = (of: (centre: number) => number) =>
      look(
        history,
        t + 1,
        logs.map((log, p) => log + of(exact[t]![possible[p]!]!)),
      );
    if (kind === 'kept') {
      if (rounds.threshold > 0) after((centre) => logMass(centre, low, high, rounds.scale));
      return;
    }
    const edge = kind === 'above' ? high : low;
    const beyond = centres[t]!.filter((c) => (kind === 'above' ? c > edge : c < edge));
    for (const released of [edge, ...beyond]) after((centre) => -Math.abs(released - centre) / rounds.scale);
  };
  for (const history of histories(rounds)) look(history, 0, new Float64Array(possible.length));
  return logArithmetic.loss(worst);
}

/** Logarithm of the mass of Laplace noise around a centre between two numbers. */
function logMass(centre: number, low: number, high: number, scale: number): number {
  const [a, b] = [(low - centre) / scale, (high - centre) / scale];
  if (a >= 0) return -a + Math.log(-Math.expm1(a - b) / 2);
  if (b <= 0) return b + Math.log(-Math.expm1(a - b) / 2);
  return Math.log1p(-(Math.exp(a) + Math.exp(-b)) / 2);
}
