import { enumerate } from '../../privacy/dependence/model/joint.js';
import type { Model } from '../../privacy/dependence/model/model.js';
import { type Adversary, exactLoss, leastScale, nameWorst } from './exact-loss.js';
import { type ReadTable, readRecordQuery, stateAnswers } from './record-query.js';

/** Output of `fugu audit`: the exact worst case of one Laplace release on one declared distribution. */
export interface Audit {
  readonly adversary: Adversary;
  readonly query: string;
  readonly scale: number;
  readonly loss: number;
  /** The record whose values are distinguished best; null if nothing is learnt. */
  readonly record: string | null;
  readonly values: readonly number[];
  /** The adversary's knowledge in the worst case. */
  readonly known: Readonly<Record<string, number>>;
  readonly output: number | readonly number[] | null;
  /** Assumptions added if the model leaves a choice. */
  readonly assumptions: readonly string[];
}

export type Audited = ReturnType<typeof prepareAudit>;

export function prepareAudit(model: Model, query: string, readTable?: ReadTable) {
  const joint = enumerate(model);
  return { joint, answers: stateAnswers(joint, readRecordQuery(query, joint, readTable)), query };
}

export function audit({ joint, answers, query }: Audited, scale: number, adversary: Adversary): Audit {
  const { loss, worst } = exactLoss(joint, answers, scale, { adversary });
  const named = worst ? nameWorst(joint, worst) : nothingLearnt;
  return { adversary, query, scale, loss, ...named, assumptions: joint.assumptions };
}

export interface Calibrated extends Audit {
  readonly epsilon: number;
}
/** The least scale that keeps the loss at epsilon, and the audit at that scale (no audit is possible without noise). */
export function calibrate(audited: Audited, epsilon: number, adversary: Adversary): Calibrated {
  const scale = leastScale(audited.joint, audited.answers, epsilon, { adversary });
  if (scale > 0) return { epsilon, ...audit(audited, scale, adversary) };
  const { query, joint } = audited;
  return { epsilon, adversary, query, scale, loss: 0, ...nothingLearnt, assumptions: joint.assumptions };
}

const nothingLearnt = { record: null, values: [], known: {}, output: null };
