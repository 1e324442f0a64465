import { informed } from '../dependence/informed.js';
import type { Model } from '../dependence/model.js';
import { graphsOf } from '../dependence/model-graph.js';
import { Fault } from '../errors.js';
import { type Adversary, exactLoss, lossWithoutNoise } from '../published/exact-loss.js';
import { leastRoot } from '../published/least-root.js';
import type { Calibration, Setting } from '../published/mechanism.js';
import { largest, total } from '../published/mechanism.js';
import { mechanisms } from '../published/mechanisms.js';
import type { ReadTable } from '../published/workload.js';
import { prepareAudit } from './audit.js';

/** One mechanism beside the others: what it adds and what is then truly lost. */
export interface Compared extends Calibration {
  readonly lossUninformed: number;
  readonly lossInformed: number;
  /** Loss over the promised epsilon, against the adversary the promise is about: above one the promise is broken. */
  readonly ratio: number;
  readonly holds: boolean;
}

export interface Comparison {
  readonly query: string;
  readonly epsilon: number;
  readonly mechanisms: readonly Compared[];
  /** Mechanisms that cannot be computed on this model, and why. */
  readonly left: readonly { readonly name: string; readonly reason: string }[];
  readonly assumptions: readonly string[];
}

/** Slack for "holds": rounding of a loss that meets epsilon exactly. */
const rounding = 1e-9;

export function compareMechanisms(model: Model, query: string, epsilon: number, readTable?: ReadTable): Comparison {
  const { joint, answers } = prepareAudit(model, query, readTable);
  const setting: Setting = { model, joint, answers, epsilon };
  const left: { name: string; reason: string }[] = [];
  const found: Compared[] = [];
  for (const calibrate of [...mechanisms, calculus]) {
    try {
      found.push(judge(setting, calibrate(setting)));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      left.push({ name: calibrate.name || 'mechanism', reason: error.message });
    }
  }
  return { query, epsilon, mechanisms: found, left, assumptions: joint.assumptions };
}

function judge({ joint, answers, epsilon }: Setting, calibration: Calibration): Compared {
  const loss = (adversary: Adversary) => {
    if (calibration.scale === 0) return lossWithoutNoise(joint, answers, { adversary });
    return calibration.scale === Number.POSITIVE_INFINITY ? 0 : exactLoss(joint, answers, calibration.scale, { adversary }).loss;
  };
  const [lossUninformed, lossInformed] = [loss('uninformed'), loss('informed')];
  // A published mechanism is held to the weaker adversary, the one its paper names at least.
  const ratio = (calibration.against === 'informed' ? lossInformed : lossUninformed) / epsilon;
  return { ...calibration, lossUninformed, lossInformed, ratio, holds: ratio <= 1 + rounding };
}

/** The dependence calculus: the least scale whose profile (effect over scale, record by record) leaks at most epsilon. */
function calculus({ model, answers, epsilon }: Setting): Calibration {
  const graphs = graphsOf(model);
  const worst = (scale: number) => {
    const profile = Float64Array.from(answers.effects, (effect) => effect / scale);
    const bounds = graphs.map((graph) => informed(graph, profile).leaks);
    return largest(model.ids.map((_, j) => Math.min(...bounds.map((b) => b[j]!))));
  };
  const whole = total(answers.effects);
  return {
    name: 'calculus',
    scale: whole === 0 ? 0 : leastRoot((scale) => Math.log(worst(scale) / epsilon), (whole / epsilon) * (1 + 1e-9)),
    certified: true,
    against: 'informed',
    composes: true,
    assumption: 'No dependence is missing from the declared graph, and no odds ratio is larger than declared.',
  };
}
